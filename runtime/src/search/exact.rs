//! The last resort: a node with every phase fixed, decided in rational arithmetic.
//!
//! Under fixed phases the network is affine, so the node's counterexamples are a polyhedron of inputs. Its rows are the
//! phases of the neurons that the box alone leaves open, and the property's; all coefficients are dyadic or decimal, so
//! nothing is rounded.

use super::peregrinn::Task;
use super::{End, Search};
use crate::bounds::Domain;
use crate::lp::exact::{Bounds, Outcome, Relation, System, exact, solve};
use crate::property::{Disjunct, Side};
use crate::verdict::StopReason;
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};

/// The most coefficients of the affine forms: beyond, rational arithmetic takes too long.
const MOST_COEFFICIENTS: usize = 1 << 16;

/// An affine function of the input, the constant last.
type Form = Vec<BigRational>;

impl Search<'_> {
    /// Closes the node, or ends the search with its counterexample or with the reason why neither is possible.
    pub fn decide_exactly(&mut self, task: &Task, domain: &Domain) -> Result<(), End> {
        let disjunct = task.disjunct;
        let give_up = |why: &str| Err(End::Stopped(StopReason::GaveUp(why.into())));
        let neurons: usize = self.network.widths()[1..].iter().sum();
        if (0..self.layers.0.len()).any(|k| self.network.layer_error(k).is_some()) {
            return give_up("a node is too close to call, and the network's folded weights are not exact");
        }
        if neurons * self.network.inputs() > MOST_COEFFICIENTS || !disjunct.quadratics.is_empty() {
            return give_up("a node is too close to call, and the network is too large for rational arithmetic");
        }
        self.counters.exact_calls += 1;
        let system = self.system(task, domain);
        let control = self.control;
        match solve(&system, None, &mut || control.stop().is_none()).map(|answer| answer.outcome) {
            Ok(Outcome::Infeasible(_)) => Ok(()),
            Ok(Outcome::Feasible(point)) => {
                self.try_neighbours(disjunct, &point)?;
                give_up("a counterexample exists in real numbers, but no float32 input near it is one")
            }
            Ok(Outcome::Stopped) => self.go_on(),
            Err(_) => give_up("the rational method failed its own check"),
        }
    }

    /// The disjunct's exact box, cut down to the task's: a cut lies inside, so it is exact as it stands.
    fn system(&self, task: &Task, domain: &Domain) -> System {
        let (disjunct, root) = (task.disjunct, &task.root);
        let inputs = self.network.inputs();
        let side_bounds = |(i, side): (usize, &Side)| {
            let number = |v: f64| exact(v).expect("a box is finite");
            let (lower, upper) = (side.lower().value.to_rational(), side.upper().value.to_rational());
            Bounds { lower: Some(lower.max(number(task.lower[i]))), upper: Some(upper.min(number(task.upper[i]))) }
        };
        let columns = disjunct.region.sides().enumerate().map(side_bounds);
        let mut system = System { columns: columns.collect(), rows: vec![] };
        for (i, side) in disjunct.region.sides().enumerate() {
            let unit = |sign: i32| -> Form {
                (0..inputs).map(|j| BigRational::from_integer(if i == j { sign } else { 0 }.into())).collect()
            };
            if side.upper().strict {
                system.dense_row(&unit(1), Relation::Below, side.upper().value.to_rational());
            }
            if side.lower().strict {
                system.dense_row(&unit(-1), Relation::Below, -side.lower().value.to_rational());
            }
        }
        let outputs = self.forms(domain, root, &mut system);
        for row in &disjunct.rows {
            let mut form: Form = vec![BigRational::zero(); inputs + 1];
            form[inputs] = row.affine.constant.exact.to_rational();
            for term in &row.affine.x {
                form[term.index] += term.coefficient.exact.to_rational();
            }
            for term in &row.affine.y {
                add(&mut form, &outputs[term.index], &term.coefficient.exact.to_rational());
            }
            at_most_zero(&mut system, form, if row.strict { Relation::Below } else { Relation::AtMost });
        }
        system
    }

    /// The outputs as functions of the input; adds a row for every neuron whose phase the box leaves open.
    fn forms(&self, domain: &Domain, root: &Domain, system: &mut System) -> Vec<Form> {
        let inputs = self.network.inputs();
        let number = |v: f32| exact(f64::from(v)).expect("weights are finite");
        let unit =
            |i: usize| (0..=inputs).map(|j| BigRational::from_integer(i32::from(i == j).into())).collect::<Form>();
        let mut forms: Vec<Form> = (0..inputs).map(unit).collect();
        for (k, layer) in self.layers.0.iter().enumerate() {
            let mut next = Vec::with_capacity(layer.outputs);
            for j in 0..layer.outputs {
                let mut form: Form = vec![BigRational::zero(); inputs + 1];
                form[inputs] = number(layer.bias[j]);
                for (w, h) in layer.row(j).iter().zip(&forms).filter(|(w, _)| **w != 0.0) {
                    add(&mut form, h, &number(*w));
                }
                if k < self.layers.hidden() {
                    let off = domain.upper[k][j] <= 0.0;
                    if root.is_undecided(k, j) {
                        let row = if off { form.clone() } else { form.iter().map(|v| -v).collect() };
                        at_most_zero(system, row, Relation::AtMost);
                    }
                    if off {
                        form.iter_mut().for_each(|v| v.set_zero());
                    }
                }
                next.push(form);
            }
            forms = next;
        }
        forms
    }

    /// The floats around a rational point: nearest, and both neighbours in every coordinate together.
    fn try_neighbours(&mut self, disjunct: &Disjunct, point: &[BigRational]) -> Result<(), End> {
        let nearest: Vec<f32> = point.iter().map(|v| v.to_f64().unwrap_or(0.0) as f32).collect();
        let shifts: [fn(f32) -> f32; 3] = [|v| v, f32::next_up, f32::next_down];
        for shift in shifts {
            let shifted = nearest.iter().map(|&v| shift(v));
            if let Some(input) = disjunct.region.nearest_floats(shifted) {
                self.try_witness(&input)?;
            }
        }
        Ok(())
    }
}

fn add(form: &mut Form, other: &Form, factor: &BigRational) {
    form.iter_mut().zip(other).filter(|(_, b)| !b.is_zero()).for_each(|(a, b)| *a += b * factor);
}

/// `form ≤ 0`, or `< 0`.
fn at_most_zero(system: &mut System, mut form: Form, relation: Relation) {
    let constant = form.pop().expect("the constant is last");
    system.dense_row(&form, relation, -constant);
}
