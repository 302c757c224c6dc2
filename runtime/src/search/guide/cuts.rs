//! Convex quadratic constraints in the linear program: tangents, added where its point violates them (Kelley, 1960).
//!
//! A tangent holds wherever its constraint does, so it is a row like those of the property: the program's multipliers weigh
//! it and the rigorous bound certifies with it. Which points the tangents are taken at is a matter of speed alone. Where
//! the constraint has an inside, they are taken on its border, between the inside and the program's point: there they touch.

use super::body::reach;
use crate::bounds::{Bounds, Objective};
use crate::lp::{Point, Relaxed};
use crate::property::{Affine, Disjunct, Quadratic, Row, Variable};
use crate::search::Search;
use crate::search::peregrinn::{GoalTree, Phases};
use std::collections::BTreeMap;

impl<'a> Search<'a> {
    /// Solves the node's relaxation, adding tangents until its point nearly meets the quadratics or none may be added.
    pub fn relax_and_cut(&mut self, tree: &mut GoalTree<'a, '_>, node: &Phases) -> Relaxed {
        for _ in 0..self.tuning.cuts.rounds {
            match self.relax(tree, node) {
                Relaxed::Feasible(point) if self.cut(tree, &point) => {}
                other => return other,
            }
        }
        self.relax(tree, node)
    }

    /// Adds the tangents that the point calls for; whether there are any.
    fn cut(&self, tree: &mut GoalTree, point: &Point) -> bool {
        let tuning = self.tuning.cuts;
        let bounded = tree.goal.bounded;
        if tree.goal.rows.len() > bounded + tuning.most {
            tree.goal.rows.drain(bounded..bounded + tuning.most / 2);
            tree.relaxed = None;
        }
        let before = tree.goal.rows.len();
        let disjunct = tree.goal.disjunct;
        for quadratic in &disjunct.quadratics {
            let (x, y) = (&point.input, &point.outputs);
            let (by_x, by_y) = quadratic.gradient(x, y);
            let slope = by_x.iter().chain(&by_y).fold(0.0, |m: f64, g| m.max(g.abs()));
            if quadratic.value(x, y) <= tuning.violated * slope {
                continue;
            }
            let (inside_x, inside_y) = least(quadratic, tree.region.input(), &tree.region.bounds, tuning.sweeps);
            let t = border(quadratic, (&inside_x, &inside_y), (x, y)).unwrap_or(1.0);
            let between = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + t * (b - a)).collect::<Vec<_>>();
            add_cut(tree, quadratic, &between(&inside_x, x), &between(&inside_y, y));
        }
        tree.goal.rows.len() > before
    }
}

/// Adds the tangent at a point to the goal's rows and to its program.
pub fn add_cut(tree: &mut GoalTree, quadratic: &Quadratic, x: &[f64], y: &[f64]) {
    let Some(row) = quadratic.tangent(x, y) else { return };
    let objective = Objective::of_row(&row, x.len(), y.len());
    tree.relaxed.iter_mut().for_each(|relaxed| relaxed.add_property_row(&objective));
    tree.goal.rows.push(objective);
}

/// The tangents to begin with: each where its quadratic is least in the box, so that it excludes the box if the quadratic
/// does.
pub fn first_cuts(disjunct: &Disjunct, input: (&[f64], &[f64]), root: &Bounds, sweeps: usize) -> Vec<Row> {
    let cut = |quadratic: &Quadratic| {
        let (x, y) = least(quadratic, input, root, sweeps);
        quadratic.tangent(&x, &y)
    };
    disjunct.quadratics.iter().filter_map(|quadratic| cut(quadratic)).collect()
}

/// About the point where a quadratic is least, within the boxes of inputs and outputs: one coordinate after the other.
fn least(quadratic: &Quadratic, input: (&[f64], &[f64]), root: &Bounds, sweeps: usize) -> (Vec<f64>, Vec<f64>) {
    let outputs = root.outputs();
    let middle = |(l, u): (&f64, &f64)| l + (u - l) / 2.0;
    let mut x: Vec<f64> = input.0.iter().zip(input.1).map(middle).collect();
    let mut y: Vec<f64> = outputs.0.iter().zip(outputs.1).map(middle).collect();
    let ends = |variable: Variable| match variable {
        Variable::Input(i) => (input.0[i], input.1[i]),
        Variable::Output(j) => (outputs.0[j], outputs.1[j]),
    };
    let lines = lines(quadratic);
    for _ in 0..sweeps {
        let mut moved = false;
        for (variable, (constant, terms)) in &lines {
            let value = |v: &Variable| match *v {
                Variable::Input(i) => x[i],
                Variable::Output(j) => y[j],
            };
            let slope = constant + terms.iter().map(|(other, a)| a * value(other)).sum::<f64>();
            let curvature: f64 = terms.iter().filter(|(other, _)| other == variable).map(|(_, a)| a).sum();
            let (now, (l, u)) = (value(variable), ends(*variable));
            let best = if curvature > 0.0 { now - slope / curvature } else { -slope * f64::INFINITY };
            let best = if best.is_nan() { now } else { best.max(l).min(u) };
            moved |= (best - now).abs() > f64::EPSILON * now.abs();
            match *variable {
                Variable::Input(i) => x[i] = best,
                Variable::Output(j) => y[j] = best,
            }
        }
        if !moved {
            break;
        }
    }
    (x, y)
}

/// The partial derivative by each variable: a constant, and its coefficients.
fn lines(quadratic: &Quadratic) -> BTreeMap<Variable, (f64, Vec<(Variable, f64)>)> {
    let mut lines: BTreeMap<Variable, (f64, Vec<(Variable, f64)>)> = BTreeMap::new();
    for product in quadratic.products() {
        lines.entry(product.a).or_default().1.push((product.b, product.coefficient.low));
        lines.entry(product.b).or_default().1.push((product.a, product.coefficient.low));
    }
    let Affine { x, y, .. } = quadratic.affine();
    x.iter().for_each(|term| lines.entry(Variable::Input(term.index)).or_default().0 = term.coefficient.low);
    y.iter().for_each(|term| lines.entry(Variable::Output(term.index)).or_default().0 = term.coefficient.low);
    lines
}

/// Where the border lies on the way from a point inside to one outside, as a share of it; `None` if the first is not inside.
fn border(quadratic: &Quadratic, inside: (&[f64], &[f64]), outside: (&[f64], &[f64])) -> Option<f64> {
    let way = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| b - a).collect::<Vec<f64>>();
    let (way_x, way_y) = (way(inside.0, outside.0), way(inside.1, outside.1));
    let (by_x, by_y) = quadratic.gradient(inside.0, inside.1);
    let value = quadratic.value(inside.0, inside.1);
    let slopes = by_x.iter().zip(&way_x).chain(by_y.iter().zip(&way_y));
    let slope: f64 = slopes.map(|(g, d)| g * d).sum();
    let t = reach(quadratic.curvature(&way_x, &way_y), slope, value);
    (value < 0.0 && t.is_finite()).then_some(t.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property::Property;
    use pg_core::kernel::ZERO;
    use pg_core::map::{Dense, Map};
    use pg_core::{Edge, Shape, Source, Stage};

    /// Two inputs and an output between −4 and 4.
    const BOX: (&[f64], &[f64]) = (&[-4.0, -4.0], &[4.0, 4.0]);

    /// Bounds of a network of one output.
    fn outputs(lower: f64, upper: f64) -> Bounds {
        let map = Map::Dense(Dense::new(1, 2, &[ZERO; 2], &[ZERO]));
        let edges = [Edge { from: Source::Input, map }];
        let stages = [Stage::exact(&edges, &[0.0])];
        let mut bounds = Bounds::unknown(&Shape { inputs: 2, stages: &stages });
        bounds.tighten(0, 0, lower, upper).expect("not empty");
        bounds
    }

    fn disjunct(left: &str, limit: &str) -> Disjunct {
        let names = ["X_0", "X_1", "Y_0"].map(|name| format!("(declare-const {name} Real)")).concat();
        let bounds = ["X_0", "X_1"].map(|name| format!("(assert (and (>= {name} -4) (<= {name} 4)))")).concat();
        let text = format!("{names}{bounds}(assert (<= {left} {limit}))");
        Property::parse(&text, "a test").unwrap().disjuncts.remove(0)
    }

    #[test]
    fn the_least_point_of_coupled_variables() {
        let form = "(+ X_0 (- X_1) Y_0 -1)";
        let disjunct = disjunct(&format!("(+ (* {form} {form}) (* Y_0 Y_0) X_1)"), "0");
        let (x, y) = least(&disjunct.quadratics[0], BOX, &outputs(1.0, 2.0), 20);
        assert!((x[1] + 4.0).abs() < 1e-6 && (y[0] - 1.0).abs() < 1e-6, "{x:?} {y:?}");
        assert!((x[0] + 4.0).abs() < 1e-6, "X_0 = 1 + X_1 − Y_0: {x:?}");
    }

    #[test]
    fn the_first_tangent_excludes_a_box_that_the_constraint_excludes() {
        let disjunct = disjunct("(+ (* (- X_0 6) (- X_0 6)) (* (- Y_0 1) (- Y_0 1)))", "4.99");
        let cuts = first_cuts(&disjunct, BOX, &outputs(2.0, 3.0), 20);
        for (x, y) in [(-4.0, 2.0), (4.0, 2.0), (-4.0, 3.0), (4.0, 3.0)] {
            assert!(cuts[0].affine.value_near(&[x, 0.0], &[y]) > 0.0, "{x} {y}");
        }
    }

    #[test]
    fn the_border_lies_between_inside_and_outside() {
        let disjunct = disjunct("(+ (* X_0 X_0) (* Y_0 Y_0))", "4");
        let quadratic = &disjunct.quadratics[0];
        let t = border(quadratic, (&[0.0, 0.0], &[0.0]), (&[8.0, 1.0], &[0.0])).unwrap();
        assert!((t - 0.25).abs() < 1e-12, "{t}");
        assert_eq!(border(quadratic, (&[3.0, 0.0], &[0.0]), (&[8.0, 1.0], &[0.0])), None);
    }
}
