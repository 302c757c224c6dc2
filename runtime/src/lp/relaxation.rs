//! The convex program of the paper: the network relaxed, the property, and a penalty on slack.
//!
//! Each live hidden neuron has its activation y ≥ 0 and its slack s = y − z ≥ 0, tied by y − s = W·y′ + b; a ReLU is
//! y·s = 0. An undecided neuron has the chord y/u + s/(−l) ≤ 1; fixing it on is s = 0, off is y = 0, both column bounds.
//! Neurons that the root's bounds show off are left out. The outputs are columns of their own; the property's rows read
//! them and the inputs. The objective is Σ q_k Σ s.
//!
//! Nothing here is rigorous or needs to be: the program proposes points and multipliers, others judge them.

use super::{Lp, LpStatus, Program};
use crate::bounds::{Bounds, Objective};
use crate::options::Penalty;
use crate::report::Control;
use crate::tuning::PeregrinnTuning;
use pg_core::{Shape, Source};

/// A hidden neuron's columns and rows; the slack and the chord only if the root leaves it undecided.
struct Neuron {
    activation: usize,
    slack: Option<usize>,
    equation: usize,
    chord: Option<usize>,
    /// What the program has now.
    lower: f64,
    upper: f64,
    chord_lower: f64,
    chord_upper: f64,
}

pub struct RelaxedNetwork {
    lp: Lp,
    /// By hidden stage; `None` for a neuron that is off at the root.
    neurons: Vec<Vec<Option<Neuron>>>,
    inputs: usize,
    /// The rows of the property.
    property: Vec<usize>,
    outputs: Vec<usize>,
    penalties: Vec<f64>,
    tuning: PeregrinnTuning,
}

/// A feasible point of the relaxation.
pub struct Point {
    pub input: Vec<f64>,
    /// Activation and slack of each neuron, by stage; zeros where it has no slack.
    pub neurons: Vec<Vec<(f64, f64)>>,
    pub outputs: Vec<f64>,
}

/// Multipliers that should prove the node empty: of the property's rows, and of each hidden neuron's equation.
#[derive(Debug)]
pub struct Ray {
    pub rows: Vec<f64>,
    pub neurons: Vec<Vec<f64>>,
}

pub enum Relaxed {
    Feasible(Point),
    /// With the multipliers that say so, if the solver has them.
    Infeasible(Option<Ray>),
    Stopped,
    Trouble(&'static str),
}

impl RelaxedNetwork {
    pub fn new(
        shape: &Shape,
        input: (&[f64], &[f64]),
        root: &Bounds,
        rows: &[Objective],
        penalty: Penalty,
        tuning: PeregrinnTuning,
    ) -> RelaxedNetwork {
        let penalties = penalties(penalty, shape.last(), tuning);
        let Draft { mut program, neurons, outputs, .. } = Draft::new(shape, input, root, &penalties);
        let add_row =
            |row: &Objective| program.add_row(f64::NEG_INFINITY, -row.constant, property_terms(&outputs, row));
        let property = rows.iter().map(add_row).collect();
        let (lp, inputs) = (Lp::of(&program), input.0.len());
        RelaxedNetwork { lp, neurons, inputs, property, outputs, penalties, tuning }
    }

    /// `row ≤ 0`.
    pub fn add_property_row(&mut self, row: &Objective) {
        let terms: Vec<(usize, f64)> = property_terms(&self.outputs, row).collect();
        self.property.push(self.lp.add_row(f64::NEG_INFINITY, -row.constant, &terms));
    }

    pub fn iterations(&self) -> u64 {
        self.lp.iterations()
    }

    /// Brings bounds, chords and penalties to the node's bounds, and solves from the last basis.
    pub fn solve(&mut self, bounds: &Bounds, control: &Control) -> Relaxed {
        self.condition(bounds);
        match self.lp.solve(control.remaining(), control.interrupt_flag()) {
            LpStatus::Optimal => Relaxed::Feasible(self.point()),
            LpStatus::Infeasible => Relaxed::Infeasible(self.ray()),
            LpStatus::Stopped => Relaxed::Stopped,
            LpStatus::Trouble(why) => Relaxed::Trouble(why),
        }
    }

    /// Only what differs from the last node is changed.
    fn condition(&mut self, bounds: &Bounds) {
        let RelaxedNetwork { lp, neurons, penalties, tuning, .. } = self;
        for (stage, neurons) in neurons.iter_mut().enumerate() {
            for (j, neuron) in neurons.iter_mut().enumerate() {
                let Some(neuron) = neuron else { continue };
                let (l, u) = bounds.of(stage, j);
                if (l, u) != (neuron.lower, neuron.upper) {
                    neuron.change(lp, l, u, penalties[stage], tuning.chord_gain);
                }
            }
        }
    }

    fn point(&self) -> Point {
        let (value, _) = self.lp.solution();
        let neuron = |n: &Option<Neuron>| {
            n.as_ref().map_or((0.0, 0.0), |n| (value[n.activation], n.slack.map_or(0.0, |s| value[s])))
        };
        Point {
            input: value[..self.inputs].to_vec(),
            neurons: self.neurons.iter().map(|stage| stage.iter().map(neuron).collect()).collect(),
            outputs: self.outputs.iter().map(|&col| value[col]).collect(),
        }
    }

    /// HiGHS gives rows with an upper limit multipliers of the opposite sign to ours.
    fn ray(&self) -> Option<Ray> {
        let ray = self.lp.dual_ray()?;
        let rows: Vec<f64> = self.property.iter().map(|&row| (-ray[row]).max(0.0)).collect();
        let scale = rows.iter().copied().fold(0.0, f64::max);
        let scale = if scale > 0.0 { scale } else { ray.iter().fold(0.0, |m: f64, v| m.max(v.abs())) };
        if !(scale > 0.0 && scale.is_finite()) {
            return None;
        }
        let neuron = |n: &Option<Neuron>| n.as_ref().map_or(0.0, |n| ray[n.equation] / scale);
        Some(Ray {
            rows: rows.iter().map(|v| v / scale).collect(),
            neurons: self.neurons.iter().map(|stage| stage.iter().map(neuron).collect()).collect(),
        })
    }
}

/// The program of a network over a region, as far as it is written.
struct Draft {
    program: Program,
    neurons: Vec<Vec<Option<Neuron>>>,
    outputs: Vec<usize>,
    /// The column of each input, then of each activation by stage; [`NO_COLUMN`] for a neuron that is off.
    columns: Vec<Vec<usize>>,
}

const NO_COLUMN: usize = usize::MAX;

impl Draft {
    fn new(shape: &Shape, input: (&[f64], &[f64]), root: &Bounds, penalties: &[f64]) -> Draft {
        let mut program = Program::default();
        let columns = vec![input.0.iter().zip(input.1).map(|(&l, &u)| program.add_col(0.0, l, u)).collect()];
        let mut draft = Draft { program, neurons: vec![], outputs: vec![], columns };
        for (stage, &penalty) in penalties.iter().enumerate() {
            let width = shape.stages[stage].width();
            let neurons: Vec<_> = (0..width).map(|j| draft.add_neuron(shape, root, (stage, j), penalty)).collect();
            draft.columns.push(neurons.iter().map(|n| n.as_ref().map_or(NO_COLUMN, |n| n.activation)).collect());
            draft.neurons.push(neurons);
        }
        draft.add_outputs(shape);
        draft
    }

    /// Adds z − W·y′ = b, where z is the sum of the given terms, and returns the row's index.
    fn add_equation(
        &mut self,
        shape: &Shape,
        (stage, j): (usize, usize),
        z: impl Iterator<Item = (usize, f64)>,
    ) -> usize {
        let columns = |source| match source {
            Source::Input => &self.columns[0],
            Source::Stage(s) => &self.columns[s + 1],
        };
        let stage = &shape.stages[stage];
        let terms = stage.terms(j).map(|(source, i, w)| (columns(source)[i], -f64::from(w)));
        let bias = f64::from(stage.bias[j]);
        self.program.add_row(bias, bias, terms.filter(|(column, _)| *column != NO_COLUMN).chain(z))
    }

    fn add_neuron(&mut self, shape: &Shape, root: &Bounds, (stage, j): (usize, usize), penalty: f64) -> Option<Neuron> {
        let (l, u) = root.of(stage, j);
        if u <= 0.0 {
            return None;
        }
        let activation = self.program.add_col(0.0, l.max(0.0), u);
        let slack = (l < 0.0).then(|| self.program.add_col(penalty, 0.0, -l));
        let z = [(activation, 1.0)].into_iter().chain(slack.map(|slack| (slack, -1.0)));
        let equation = self.add_equation(shape, (stage, j), z);
        let chord = slack.filter(|_| (u - l).is_finite()).map(|slack| {
            let (activation_factor, slack_factor, limit) = chord(l, u);
            let terms = [(activation, activation_factor), (slack, slack_factor)];
            self.program.add_row(f64::NEG_INFINITY, limit, terms)
        });
        Some(Neuron { activation, slack, equation, chord, lower: l, upper: u, chord_lower: l, chord_upper: u })
    }

    fn add_outputs(&mut self, shape: &Shape) {
        for j in 0..shape.outputs() {
            let column = self.program.add_col(0.0, f64::NEG_INFINITY, f64::INFINITY);
            self.add_equation(shape, (shape.last(), j), [(column, 1.0)].into_iter());
            self.outputs.push(column);
        }
    }
}

impl Neuron {
    fn change(&mut self, lp: &mut Lp, l: f64, u: f64, penalty: f64, chord_gain: f64) {
        lp.set_col_bounds(self.activation, l.max(0.0), u.max(0.0));
        if let Some(slack) = self.slack {
            lp.set_col_bounds(slack, (-u).max(0.0), (-l).max(0.0));
            if (u <= 0.0) != (self.upper <= 0.0) {
                lp.set_cost(slack, if u <= 0.0 { 0.0 } else { penalty });
            }
            if let Some(chord) = self.chord {
                self.move_chord(lp, slack, chord, (l, u), chord_gain);
            }
        }
        (self.lower, self.upper) = (l, u);
    }

    /// A chord for tighter bounds than the node's would cut off points of it; one for much looser bounds is weak.
    fn move_chord(&mut self, lp: &mut Lp, slack: usize, chord: usize, (l, u): (f64, f64), chord_gain: f64) {
        let stale = |new: f64, old: f64| new.abs() > old.abs() || new.abs() < (1.0 - chord_gain) * old.abs();
        let (moves_upper, moves_lower) = (u > 0.0 && stale(u, self.chord_upper), l < 0.0 && stale(l, self.chord_lower));
        if moves_upper {
            self.chord_upper = u;
        }
        if moves_lower {
            self.chord_lower = l;
        }
        if moves_upper || moves_lower {
            let (activation_factor, slack_factor, limit) = self::chord(self.chord_lower, self.chord_upper);
            lp.set_coefficient(chord, self.activation, activation_factor);
            lp.set_coefficient(chord, slack, slack_factor);
            lp.set_row_bounds(chord, f64::NEG_INFINITY, limit);
        }
    }
}

/// What a row of the property multiplies: inputs and outputs, whose columns are given.
fn property_terms<'a>(outputs: &'a [usize], row: &'a Objective) -> impl Iterator<Item = (usize, f64)> + 'a {
    let x = row.x.iter().copied().enumerate();
    let y = outputs.iter().copied().zip(row.y.iter().copied());
    x.chain(y).filter(|&(_, a)| a != 0.0)
}

/// y/u + s/(−l) ≤ 1, scaled so that the larger coefficient is 1: factors of y and s, and the limit.
fn chord(l: f64, u: f64) -> (f64, f64, f64) {
    let scale = u.max(-l);
    (-l / scale, u / scale, u.min(-l))
}

/// The weight of each stage's slack: neighbouring stages differ by a constant factor, mild enough that the weights of a
/// deep network stay well inside the solver's tolerances.
fn penalties(penalty: Penalty, stages: usize, tuning: PeregrinnTuning) -> Vec<f64> {
    let weight = |depth: usize| tuning.penalty_factor.powi(depth as i32).min(tuning.most_penalty);
    (0..stages)
        .map(|k| match penalty {
            Penalty::Weighted => weight(k),
            Penalty::Uniform => 1.0,
            Penalty::Feasibility => 0.0,
            Penalty::Inverted => weight(stages - 1 - k),
        })
        .collect()
}
