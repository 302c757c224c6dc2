//! Rows over many boxes of inputs at once: what the box kernels bound, as forms in float64.
//!
//! A form is a lower bound of a row on a box x = m + r·t, affine in t ∈ [−1, 1]: a constant and a slope for each input. The
//! kernels give coefficients of x in their own precision; all that follows is in float64, with what rounding costs taken from
//! the constant.

use super::Objective;
use pg_core::boxes::{LANES, Places, Room, Rounding, Task};
use pg_core::kernel::Lanes;
use pg_core::rounding::{EPSILON, TINY};
use pg_core::{Network, Shape};
use std::collections::HashMap;

/// Rows that may be asked of boxes: each is a direction of the outputs, coefficients of the inputs, and a constant.
#[derive(Default)]
pub struct Directions {
    /// Coefficients of outputs that are not 0.
    list: Vec<Vec<(usize, f64)>>,
    numbers: HashMap<Vec<u64>, usize>,
}

/// A row, by its direction; `None` if it does not speak of outputs.
#[derive(Clone, Debug)]
pub struct BoxRow {
    pub direction: Option<usize>,
    /// What the outputs' coefficients may be off by, and the inputs' coefficients with what these may be.
    pub y_error: Vec<(usize, f64)>,
    pub x: Vec<(usize, f64, f64)>,
    pub constant: f64,
    pub constant_error: f64,
}

impl Directions {
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// A direction's value at outputs, about.
    pub fn value(&self, number: usize, y: impl Fn(usize) -> f64) -> f64 {
        self.list[number].iter().map(|&(o, c)| c * y(o)).sum()
    }

    pub fn row(&mut self, objective: &Objective) -> BoxRow {
        let y: Vec<(usize, f64)> = objective.y.iter().copied().enumerate().filter(|(_, c)| *c != 0.0).collect();
        let key = y.iter().flat_map(|(o, c)| [*o as u64, c.to_bits()]).collect();
        let direction = (!y.is_empty()).then(|| {
            *self.numbers.entry(key).or_insert_with(|| {
                self.list.push(y);
                self.list.len() - 1
            })
        });
        let y_error = objective.y_error.iter().copied().enumerate().filter(|(_, e)| *e != 0.0).collect();
        let x = objective.x.iter().zip(&objective.x_error).enumerate().map(|(i, (&a, &e))| (i, a, e));
        let x = x.filter(|(_, a, e)| (*a, *e) != (0.0, 0.0)).collect();
        let (constant, constant_error) = (objective.constant, objective.constant_error);
        BoxRow { direction, y_error, x, constant, constant_error }
    }
}

/// The kernels' numbers.
pub trait BoxNumber: Rounding + Send + Sync {
    fn nearest(value: f64) -> Self;
    fn run(network: &dyn Network, room: &mut Room<Self>, task: Task<Self>);
}

impl BoxNumber for f32 {
    fn nearest(value: f64) -> f32 {
        value as f32
    }

    fn run(network: &dyn Network, room: &mut Room<f32>, task: Task<f32>) {
        network.bound_boxes(room, task);
    }
}

impl BoxNumber for f64 {
    fn nearest(value: f64) -> f64 {
        value
    }

    fn run(network: &dyn Network, room: &mut Room<f64>, task: Task<f64>) {
        pg_core::boxes::run_64(&network.shape(), room, task);
    }
}

/// What rows of a network are bounded with: the directions in the kernels' numbers, and memory for a batch.
pub struct BoxKernel<'n, T> {
    given: Given<'n, T>,
    lanes: Vec<Lanes<T>>,
    indices: Vec<u32>,
    bits: Vec<u16>,
    /// How much work may go into bounds of undecided neurons, as a multiple of the way forward.
    refined: f64,
}

struct Given<'n, T> {
    network: &'n dyn Network,
    shape: Shape<'n>,
    directions: Vec<Vec<(usize, T)>>,
    /// What the directions differ from the rows' own by.
    errors: Vec<Vec<(usize, f64)>>,
}

/// A batch of boxes under way.
pub struct BoxBatch<'b, 'n, T> {
    given: &'b Given<'n, T>,
    pub room: Room<'b, T>,
}

impl<'n, T: BoxNumber> BoxKernel<'n, T> {
    pub fn new(network: &'n dyn Network, directions: &Directions, refined: f64) -> BoxKernel<'n, T> {
        let shape = network.shape();
        let places = Places::of(&shape);
        let list = &directions.list;
        let rounded = |&(o, c): &(usize, f64)| (o, T::nearest(c));
        let error = |&(o, c): &(usize, f64)| (o, (c - T::nearest(c).to_f64()).abs().next_up());
        let is_off = |&(_, c): &&(usize, f64)| T::nearest(*c).to_f64() != *c;
        let given = Given {
            network,
            shape,
            directions: list.iter().map(|y| y.iter().map(rounded).collect()).collect(),
            errors: list.iter().map(|y| y.iter().filter(is_off).map(error).collect()).collect(),
        };
        BoxKernel {
            given,
            lanes: vec![Lanes([T::default(); LANES]); places.lanes],
            indices: vec![0; places.indices],
            bits: vec![0; places.bits],
            refined,
        }
    }

    pub fn batch(&mut self) -> BoxBatch<'_, 'n, T> {
        let room = Room::new(&self.given.shape, &mut self.lanes, &mut self.indices, &mut self.bits, self.refined);
        BoxBatch { given: &self.given, room }
    }
}

impl<T: BoxNumber> BoxBatch<'_, '_, T> {
    /// Sets the box of a lane: the kernels' numbers enclose it.
    pub fn load(&mut self, lane: usize, lower: &[f64], upper: &[f64]) {
        for (i, (&l, &u)) in lower.iter().zip(upper).enumerate() {
            let middle = T::nearest(l + (u - l) / 2.0);
            let half = (u - middle.to_f64()).max(middle.to_f64() - l).next_up();
            self.room.middle[i].0[lane] = middle;
            self.room.half[i].0[lane] = T::above(half);
        }
    }

    /// Sets the point of a lane.
    pub fn set_point(&mut self, lane: usize, x: &[f64]) {
        x.iter().enumerate().for_each(|(i, &x)| self.room.value[i].0[lane] = T::nearest(x));
    }

    /// The box of a lane, as the kernels have it.
    pub fn middle(&self, lane: usize, input: usize) -> f64 {
        self.room.middle[input].0[lane].to_f64()
    }

    pub fn half(&self, lane: usize, input: usize) -> f64 {
        self.room.half[input].0[lane].to_f64()
    }

    /// An input of the point that was evaluated in a lane.
    pub fn x(&self, lane: usize, input: usize) -> f64 {
        self.room.value[input].0[lane].to_f64()
    }

    /// An output there.
    pub fn y(&self, lane: usize, output: usize) -> f64 {
        let start = self.room.value.len() - self.given.shape.outputs();
        self.room.value[start + output].0[lane].to_f64()
    }

    fn run(&mut self, task: Task<T>) {
        T::run(self.given.network, &mut self.room, task);
    }

    /// Bounds every hidden neuron, and the outputs by their forms.
    pub fn hidden(&mut self) {
        self.run(Task::Hidden);
    }

    /// The same by forms alone.
    pub fn forms(&mut self) {
        let refined = std::mem::take(&mut self.room.refined);
        self.hidden();
        self.room.refined = refined;
    }

    /// Bounds directions, one after the other: for each a constant, then the inputs' coefficients.
    pub fn rows(&mut self, numbers: &[usize]) -> Vec<Lanes<T>> {
        let rows: Vec<&[(usize, T)]> = numbers.iter().map(|&n| self.given.directions[n].as_slice()).collect();
        let mut reached = vec![Lanes([T::default(); LANES]); numbers.len() * (self.given.shape.inputs + 1)];
        self.run(Task::Rows { rows: &rows, reached: &mut reached });
        reached
    }

    /// Evaluates a point of each lane, and fits slopes to what is on there.
    pub fn points(&mut self) {
        self.run(Task::Points);
    }

    /// Which input moves the relaxation most: a number for each and each lane.
    pub fn smear(&mut self) -> Vec<Lanes<T>> {
        let mut scores = vec![Lanes([T::default(); LANES]); self.given.shape.inputs];
        self.run(Task::Smear(&mut scores));
        scores
    }

    /// The form of a row in a lane, from what its direction has reached: the constant, then a slope for each input. Without
    /// finite bounds it is −∞.
    ///
    /// Sound: with s the direction's constant and μ its coefficients, the row is at least s + Σ(μ_i + x_i)·(m_i + r_i·t_i) plus
    /// its own constant, but for errors: what underflow costs the kernel, stated ones of coefficients at the sizes of what they
    /// multiply, and a few roundings of each term here.
    pub fn form(&self, lane: usize, row: &BoxRow, reached: Option<&[Lanes<T>]>, into: &mut [f64]) {
        let (middle, half) = (|i: usize| self.middle(lane, i), |i: usize| self.half(lane, i));
        let of = |n: usize| reached.map_or(0.0, |reached| reached[n].0[lane].to_f64());
        for (i, slope) in into[1..].iter_mut().enumerate() {
            *slope = of(1 + i);
        }
        let mut charge = row.constant_error;
        for &(i, a, error) in &row.x {
            into[1 + i] += a;
            charge += (error + (a.abs() + of(1 + i).abs()) * EPSILON) * (middle(i).abs() + half(i));
        }
        let mut constant = row.constant + of(0);
        let mut size = row.constant.abs() + of(0).abs();
        for (i, to) in into[1..].iter_mut().enumerate() {
            let slope = *to;
            constant += slope * middle(i);
            *to = slope * half(i);
            size += slope.abs() * (middle(i).abs() + half(i));
        }
        if reached.is_some() {
            charge += self.room.underflow.0[lane].to_f64();
        }
        into[0] = constant;
        self.charge(lane, row, size, charge, into);
    }

    /// The form of a row in a lane, from the forms of the outputs.
    ///
    /// Sound: an output is at least its lower form and at most its upper form, which are functions of t, and so is an input; the
    /// sums here are off by a few roundings of each term, as |t| is at most 1.
    pub fn form_of_outputs(&self, lane: usize, row: &BoxRow, into: &mut [f64]) {
        let shape = &self.given.shape;
        let (terms, start) = (shape.inputs + 1, shape.start(shape.last()));
        into.fill(0.0);
        into[0] = row.constant;
        let (mut size, mut charge) = (row.constant.abs(), row.constant_error);
        for &(output, coefficient) in row.direction.map_or(&[][..], |number| &self.given.directions[number]) {
            let c = coefficient.to_f64();
            let at = terms * (2 * (start + output) + usize::from(c < 0.0));
            for (to, from) in into.iter_mut().zip(&self.room.forms[at..at + terms]) {
                let term = c * from.0[lane].to_f64();
                *to += term;
                size += term.abs();
            }
        }
        for &(i, a, error) in &row.x {
            let (middle, half) = (self.middle(lane, i), self.half(lane, i));
            into[0] += a * middle;
            into[1 + i] += a * half;
            size += a.abs() * (middle.abs() + half);
            charge += error * (middle.abs() + half);
        }
        self.charge(lane, row, size, charge, into);
    }

    /// Takes from a form's constant what its coefficients of outputs may be off by, and what its sums may: with what their terms
    /// add up to in magnitude, and what else they cost.
    fn charge(&self, lane: usize, row: &BoxRow, size: f64, mut charge: f64, into: &mut [f64]) {
        let inputs = self.given.shape.inputs;
        let sizes = &self.room.size[self.room.size.len() - self.given.shape.outputs()..];
        let rounded = row.direction.map_or(&[][..], |number| self.given.errors[number].as_slice());
        for &(output, error) in row.y_error.iter().chain(rounded) {
            charge += error * sizes[output].0[lane].to_f64();
        }
        let terms = row.direction.map_or(0, |number| self.given.directions[number].len());
        let roundings = (4 * inputs + terms + row.x.len() + row.y_error.len() + 32) as f64;
        let error = size * roundings * EPSILON + charge * (1.0 + roundings * EPSILON) + roundings * TINY;
        into[0] = (into[0] - error).next_down();
        if !into.iter().all(|v| v.is_finite()) {
            into.fill(0.0);
            into[0] = f64::NEG_INFINITY;
        }
    }
}
