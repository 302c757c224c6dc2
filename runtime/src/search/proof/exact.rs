//! The last resort: a node with every phase fixed, decided in rational arithmetic.
//!
//! Under fixed phases the network is affine, so the node's counterexamples are a polyhedron of inputs. Its rows are the
//! phases of the neurons that the box alone leaves open, and the property's; all coefficients are dyadic or decimal, so
//! nothing is rounded. Convex quadratics enter by tangents, exact rows as well: at the points where the floating search for
//! a deepest counterexample found no room, and at exact points that violate them. An empty polyhedron decides; a point that
//! only the quadratics themselves could judge does not.

use super::reason::Reason;
use super::region::Region;
use crate::bounds::{Bounds, Multipliers, Objective};
use crate::lp::exact::{self as lp, Farkas, Outcome, Relation, System, exact, solve};
use crate::lp::{Ray, Relaxed};
use crate::property::{Disjunct, Row, Scope};
use crate::report::Activity;
use crate::search::guide::body::Body;
use crate::search::guide::cuts::add_cut;
use crate::search::peregrinn::{GoalTree, Phases};
use crate::search::{End, Search};
use crate::verdict::StopReason;
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};
use pg_core::Source;

/// An affine function of the input, the constant last.
type Form = Vec<BigRational>;

impl<'a> Search<'a> {
    /// Closes the node, or ends the search with its counterexample or with the reason why neither is possible.
    pub fn decide_exactly(&mut self, tree: &mut GoalTree<'a, '_>, node: &Phases) -> Result<Reason, End> {
        let disjunct = tree.goal.disjunct;
        let give_up = |why: &str| Err(End::Stopped(StopReason::GaveUp(why.into())));
        if self.program.is_some() {
            return give_up("a node is too close to call, within what the program's rounding may come to");
        }
        if !self.shape.is_exact() {
            return give_up("a node is too close to call, and the network's folded weights are not exact");
        }
        if self.shape.neurons() * self.shape.inputs > self.tuning.exact.most_coefficients {
            return give_up("a node is too close to call, and the network is too large for rational arithmetic");
        }
        self.counters.exact_calls += 1;
        self.control.enter(Activity::Exact);
        let (mut system, outputs) = self.system(tree.region, disjunct, &node.bounds);
        match Body::new(&system, disjunct.quadratics.clone(), &outputs, self.control, self.tuning.body) {
            Ok(body) => self.try_floats(disjunct, body.centre.iter().map(|&v| v as f32))?,
            Err(shallow) => {
                let certified = if shallow.is_empty() { None } else { self.certify_at(tree, node, &shallow, &outputs) };
                if let Some(reason) = certified {
                    return Ok(reason);
                }
                for x in shallow.iter().filter_map(|x| rationals(x)) {
                    add_tangents(&mut system, disjunct, &outputs, &x, f64::NEG_INFINITY);
                }
            }
        }
        let control = self.control;
        for _ in 0..self.tuning.exact.rounds {
            match solve(&system, None, &mut || control.stop().is_none()).map(|answer| answer.outcome) {
                Ok(Outcome::Infeasible(farkas)) => {
                    let told = if self.proves() { self.in_floats(tree, node, &farkas) } else { None };
                    return Ok(told.unwrap_or(Reason::Infeasible(farkas)));
                }
                Ok(Outcome::Feasible(point)) => {
                    self.try_neighbours(disjunct, &point)?;
                    if !add_tangents(&mut system, disjunct, &outputs, &point, 0.0) {
                        break;
                    }
                }
                Ok(Outcome::Stopped) => return Err(self.stopped()),
                Err(_) => return give_up("the rational method failed its own check"),
            }
        }
        match disjunct.quadratics.is_empty() {
            true => give_up("a counterexample exists in real numbers, but no float32 input near it is one"),
            false => give_up("a node comes too close to a quadratic constraint to call"),
        }
    }

    /// The reason, if the linear program with tangents at the given inputs has multipliers that exclude the node.
    fn certify_at(
        &mut self,
        tree: &mut GoalTree<'a, '_>,
        node: &Phases,
        inputs: &[Vec<f64>],
        outputs: &[Form],
    ) -> Option<Reason> {
        let disjunct = tree.goal.disjunct;
        for (quadratic, x) in disjunct.quadratics.iter().flat_map(|q| inputs.iter().map(move |x| (q, x))) {
            let Some(y) = rationals(x).map(|x| values(outputs, &x)) else { continue };
            add_cut(tree, quadratic, x, &y);
        }
        match self.relax(tree, node) {
            Relaxed::Infeasible(Some(ray)) => self.certify(tree, node, ray),
            _ => None,
        }
    }

    /// For a certificate: the multipliers as floats, if they still show it. Those of phases are β, so that a neuron's multiplier is
    /// β where it is off and μ − β where it is on.
    fn in_floats(&mut self, tree: &GoalTree<'a, '_>, node: &Phases, farkas: &Farkas) -> Option<Reason> {
        let (region, rows) = (tree.region, tree.goal.disjunct.rows.len());
        let mut found = farkas.rows[box_of(tree.goal.disjunct).rows.len()..].iter();
        let hidden = (0..self.shape.last()).flat_map(|k| (0..self.shape.stages[k].width()).map(move |j| (k, j)));
        let is_split = hidden.map(|(k, j)| region.bounds.is_undecided(k, j));
        let nothing = BigRational::zero();
        let beta = is_split.map(|split| if split { found.next() } else { Some(&nothing) });
        let beta = beta.collect::<Option<Vec<_>>>()?;
        let weights = (0..rows).map(|_| found.next()).collect::<Option<Vec<_>>>()?;
        // They count up to a factor. Where none is above 0 it is the box that is empty, and what is too long is not told.
        let unit = [&weights, &beta].into_iter().filter_map(|all| all.iter().max()).find(|most| !most.is_zero())?;
        let in_floats = |exact: &[&BigRational]| -> Option<Vec<f64>> {
            exact.iter().map(|value| (*value / *unit).to_f64().filter(|value| value.is_finite())).collect()
        };
        let (weights, beta) = (in_floats(&weights)?, in_floats(&beta)?);
        let terms: Vec<(f64, &Objective)> = weights.iter().copied().zip(&tree.goal.rows).collect();
        let objective = Objective::combination(&terms, self.shape.inputs, self.shape.outputs());
        let by = Multipliers::Phases(&beta);
        let multipliers = region.bounder.multipliers(&node.bounds, &objective, by);
        let of_stage = |k: usize| &multipliers[self.shape.start(k)..self.shape.start(k + 1)];
        let neurons = (0..self.shape.last()).map(|k| of_stage(k).iter().map(|(_, nu)| *nu).collect()).collect();
        self.certify(tree, node, Ray { rows: weights, neurons })
    }

    /// The disjunct's exact box, cut down to the region's (a cut lies inside, so it is exact as it stands), the phases, and
    /// the rows; and the outputs as functions of the input.
    fn system(&self, region: &Region, disjunct: &Disjunct, bounds: &Bounds) -> (System, Vec<Form>) {
        let mut system = box_of(disjunct);
        let (lower, upper) = region.input();
        for (i, column) in system.columns.iter_mut().enumerate() {
            // An end that float64 cannot hold is the disjunct's own.
            let tighter = |now: Option<BigRational>, end: f64, pick: fn(BigRational, BigRational) -> BigRational| {
                now.map(|now| exact(end).map_or(now.clone(), |end| pick(now, end)))
            };
            column.lower = tighter(column.lower.take(), lower[i], BigRational::max);
            column.upper = tighter(column.upper.take(), upper[i], BigRational::min);
        }
        let outputs = self.forms(bounds, &region.bounds, &mut system);
        disjunct.rows.iter().for_each(|row| add_row(&mut system, row, &outputs));
        (system, outputs)
    }

    /// The outputs as functions of the input; adds a row for every neuron whose phase the region leaves open.
    fn forms(&self, bounds: &Bounds, region: &Bounds, system: &mut System) -> Vec<Form> {
        let inputs = self.shape.inputs;
        let number = |v: f32| exact(f64::from(v)).expect("weights are finite");
        let unit =
            |i: usize| (0..=inputs).map(|j| BigRational::from_integer(i32::from(i == j).into())).collect::<Form>();
        // Of the inputs, then of each stage.
        let mut forms: Vec<Vec<Form>> = vec![(0..inputs).map(unit).collect()];
        for (k, stage) in self.shape.stages.iter().enumerate() {
            let mut next = Vec::with_capacity(stage.width());
            for j in 0..stage.width() {
                let mut form: Form = vec![BigRational::zero(); inputs + 1];
                form[inputs] = number(stage.bias[j]);
                for (source, i, w) in stage.terms(j) {
                    let read = if let Source::Stage(s) = source { s + 1 } else { 0 };
                    add(&mut form, &forms[read][i], &number(w));
                }
                if k < self.shape.last() {
                    let off = bounds.upper(k)[j] <= 0.0;
                    if region.is_undecided(k, j) {
                        let row = if off { form.clone() } else { form.iter().map(|v| -v).collect() };
                        at_most_zero(system, row, Relation::AtMost);
                    }
                    if off {
                        form.iter_mut().for_each(|v| v.set_zero());
                    }
                }
                next.push(form);
            }
            forms.push(next);
        }
        forms.pop().expect("the outputs")
    }

    /// The floats around a rational point: nearest, and both neighbours in every coordinate together.
    fn try_neighbours(&mut self, disjunct: &Disjunct, point: &[BigRational]) -> Result<(), End> {
        let nearest: Vec<f32> = point.iter().map(|v| v.to_f64().unwrap_or(0.0) as f32).collect();
        let shifts: [fn(f32) -> f32; 3] = [|v| v, f32::next_up, f32::next_down];
        for shift in shifts {
            self.try_floats(disjunct, nearest.iter().map(|&v| shift(v)))?;
        }
        Ok(())
    }

    fn try_floats(&mut self, disjunct: &Disjunct, x: impl Iterator<Item = f32>) -> Result<(), End> {
        disjunct.region.nearest_floats(x).map_or(Ok(()), |input| self.try_witness(&input))
    }
}

/// The disjunct's inputs, but for its quadratics.
pub fn input_set(disjunct: &Disjunct) -> System {
    let mut system = box_of(disjunct);
    disjunct.rows_of(Scope::Input).for_each(|row| add_row(&mut system, row, &[]));
    system
}

/// The exact box; its strict ends are rows.
fn box_of(disjunct: &Disjunct) -> System {
    let sides = || disjunct.region.sides();
    let bounds = |side: &crate::property::Side| lp::Bounds {
        lower: Some(side.lower().value.to_rational()),
        upper: Some(side.upper().value.to_rational()),
    };
    let mut system = System { columns: sides().map(bounds).collect(), rows: vec![] };
    for (i, side) in sides().enumerate() {
        let mut strict = |sign: i32, limit: BigRational| {
            let terms = vec![(i, BigRational::from_integer(sign.into()))];
            system.rows.push(lp::Row { terms, relation: Relation::Below, rhs: limit });
        };
        if side.upper().strict {
            strict(1, side.upper().value.to_rational());
        }
        if side.lower().strict {
            strict(-1, -side.lower().value.to_rational());
        }
    }
    system
}

/// The tangents at a point of the quadratics that are above a value there; whether there are any.
fn add_tangents(system: &mut System, disjunct: &Disjunct, outputs: &[Form], point: &[BigRational], above: f64) -> bool {
    let number = |v: &BigRational| v.to_f64().unwrap_or(f64::NAN);
    let x: Vec<f64> = point.iter().map(number).collect();
    let at =
        |form: &Form| number(&(form.iter().zip(point).map(|(a, x)| a * x).sum::<BigRational>() + &form[point.len()]));
    let y: Vec<f64> = outputs.iter().map(at).collect();
    let shallow = disjunct.quadratics.iter().filter(|quadratic| quadratic.value(&x, &y) > above);
    let tangents: Vec<Row> = shallow.filter_map(|quadratic| quadratic.tangent(&x, &y)).collect();
    tangents.iter().for_each(|row| add_row(system, row, outputs));
    !tangents.is_empty()
}

fn rationals(x: &[f64]) -> Option<Vec<BigRational>> {
    x.iter().map(|&v| exact(v)).collect()
}

/// The forms at a point, rounded.
fn values(forms: &[Form], point: &[BigRational]) -> Vec<f64> {
    let at = |form: &Form| form.iter().zip(point).map(|(a, x)| a * x).sum::<BigRational>() + &form[point.len()];
    forms.iter().map(|form| at(form).to_f64().unwrap_or(f64::NAN)).collect()
}

/// The row as a condition on the inputs.
fn add_row(system: &mut System, row: &Row, outputs: &[Form]) {
    let inputs = system.columns.len();
    let mut form: Form = vec![BigRational::zero(); inputs + 1];
    form[inputs] = row.affine.constant.exact.to_rational();
    for term in &row.affine.x {
        form[term.index] += term.coefficient.exact.to_rational();
    }
    for term in &row.affine.y {
        add(&mut form, &outputs[term.index], &term.coefficient.exact.to_rational());
    }
    at_most_zero(system, form, if row.strict { Relation::Below } else { Relation::AtMost });
}

fn add(form: &mut Form, other: &Form, factor: &BigRational) {
    form.iter_mut().zip(other).filter(|(_, b)| !b.is_zero()).for_each(|(a, b)| *a += b * factor);
}

/// `form ≤ 0`, or `< 0`.
fn at_most_zero(system: &mut System, mut form: Form, relation: Relation) {
    let constant = form.pop().expect("the constant is last");
    system.dense_row(&form, relation, -constant);
}
