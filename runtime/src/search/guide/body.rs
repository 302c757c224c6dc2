//! A convex set of inputs: a box cut by linear rows and convex quadratics. Its deepest point is where walks start and
//! what points outside are pulled towards.
//!
//! Depth is measured in half-sides of the box: a point is as deep as the largest ball around it, in these units, that every
//! constraint leaves room for. The deepest point is found by central cutting planes (Elzinga and Moore, 1975): a linear
//! program maximises the depth under the rows and under tangents of the quadratics, which are added where its point is
//! too shallow for them. Nothing here needs to be sound: what comes of it is replayed.

use crate::lp::exact::{Relation, Row, System};
use crate::lp::{Lp, LpStatus};
use crate::property::{Disjunct, Quadratic, Scope};
use crate::report::Control;
use crate::search::Search;
use crate::search::proof::exact::input_set;
use crate::tuning::BodyTuning;
use num_rational::BigRational;
use num_traits::ToPrimitive;
use std::sync::Arc;

/// `terms·x ≤ limit`.
struct Linear {
    terms: Vec<(usize, f64)>,
    limit: f64,
}

pub struct Body {
    pub(super) tuning: BodyTuning,
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// Half the sides: 0 for an input that cannot move.
    half: Vec<f64>,
    rows: Vec<Linear>,
    equations: Vec<Linear>,
    /// An orthonormal basis of the directions that leave the equations.
    normals: Vec<Vec<f64>>,
    quadratics: Vec<Arc<Quadratic>>,
    /// The outputs as affine functions of the inputs, the constant last; none where no quadratic reads them.
    outputs: Vec<Vec<f64>>,
    pub centre: Vec<f64>,
}

impl Search<'_> {
    /// The inputs that a disjunct allows; `None` if that is its whole box, or if no point inside is found.
    pub fn body(&mut self, disjunct: &Disjunct) -> Option<Arc<Body>> {
        if disjunct.is_box() {
            return None;
        }
        let key = disjunct.input_set_id();
        if let Some(known) = self.bodies.get(&key) {
            return known.clone();
        }
        if self.bodies.len() == self.tuning.body.most_bodies {
            return None;
        }
        let quadratics = disjunct.quadratics.iter().filter(|q| q.scope() == Scope::Input).cloned();
        let system = input_set(disjunct);
        let body = Body::new(&system, quadratics.collect(), &[], self.control, self.tuning.body).ok().map(Arc::new);
        self.bodies.insert(key, body.clone());
        body
    }
}

impl Body {
    /// Where no point is found that all inequalities leave room around: the points whose tangents leave none.
    pub fn new(
        system: &System,
        quadratics: Vec<Arc<Quadratic>>,
        outputs: &[Vec<BigRational>],
        control: &Control,
        tuning: BodyTuning,
    ) -> Result<Body, Vec<Vec<f64>>> {
        let number = |v: &BigRational| v.to_f64().unwrap_or(f64::NAN);
        let end = |bound: &Option<BigRational>| bound.as_ref().map_or(f64::NAN, number);
        let lower: Vec<f64> = system.columns.iter().map(|column| end(&column.lower)).collect();
        let upper: Vec<f64> = system.columns.iter().map(|column| end(&column.upper)).collect();
        let half = lower.iter().zip(&upper).map(|(l, u)| ((u - l) / 2.0).max(0.0)).collect();
        let outputs = outputs.iter().map(|form| form.iter().map(number).collect()).collect();
        let linear = |row: &Row| Linear {
            terms: row.terms.iter().map(|(column, a)| (*column, number(a))).collect(),
            limit: number(&row.rhs),
        };
        let (mut rows, mut equations) = (vec![], vec![]);
        for (k, row) in system.rows.iter().enumerate() {
            match system.rows.iter().position(|other| is_opposite(row, other)) {
                Some(other) if other < k => {}
                Some(_) => equations.push(linear(row)),
                None if row.relation == Relation::Equal => equations.push(linear(row)),
                None => rows.push(linear(row)),
            }
        }
        let normals = orthonormal(&equations, lower.len(), tuning.tolerance);
        let centre = vec![];
        let mut body = Body { tuning, lower, upper, half, rows, equations, normals, quadratics, outputs, centre };
        body.centre = body.deepest(control)?;
        Ok(body)
    }

    fn deepest(&self, control: &Control) -> Result<Vec<f64>, Vec<Vec<f64>>> {
        let mut lp = Lp::new();
        lp.set_tolerance(self.tuning.tolerance);
        for (&l, &u) in self.lower.iter().zip(&self.upper) {
            lp.add_col(0.0, l, u);
        }
        let depth = lp.add_col(-1.0, 0.0, 1.0);
        for (i, &half) in self.half.iter().enumerate().filter(|(_, half)| **half > 0.0) {
            lp.add_row(f64::NEG_INFINITY, self.upper[i], &[(i, 1.0), (depth, half)]);
            lp.add_row(f64::NEG_INFINITY, -self.lower[i], &[(i, -1.0), (depth, half)]);
        }
        let at_most = |lp: &mut Lp, terms: &[(usize, f64)], limit: f64| {
            let size = self.size(terms);
            let terms = terms.iter().map(|&(i, a)| (i, a / size));
            if size > 0.0 {
                lp.add_row(f64::NEG_INFINITY, limit / size, &terms.chain([(depth, 1.0)]).collect::<Vec<_>>());
            }
        };
        self.rows.iter().for_each(|row| at_most(&mut lp, &row.terms, row.limit));
        self.equations.iter().for_each(|row| _ = lp.add_row(row.limit, row.limit, &row.terms));
        let mut best: Option<(f64, Vec<f64>)> = None;
        let mut shallow = Vec::new();
        let insides: Vec<Option<Vec<f64>>> = self.quadratics.iter().map(|quadratic| self.inside(quadratic)).collect();
        for _ in 0..=self.tuning.rounds {
            if lp.solve(control.remaining(), control.interrupt_flag()) != LpStatus::Optimal {
                break;
            }
            let mut x = lp.solution().0;
            let goal = x.pop().expect("the depth is the last column");
            let targets: Vec<Vec<f64>> = insides.iter().flatten().cloned().chain(best.take().map(|(_, x)| x)).collect();
            best = Some(self.deepest_between(&x, &targets));
            if best
                .as_ref()
                .is_some_and(|(depth, _)| self.quadratics.is_empty() || *depth >= self.tuning.deep_enough * goal)
            {
                break;
            }
            for (quadratic, inside) in self.quadratics.iter().zip(&insides) {
                let (value, slopes) = self.at(quadratic, &x);
                if value > -self.tuning.deep_enough * goal * self.size(&sparse(&slopes)) {
                    let touched =
                        inside.as_ref().filter(|_| value > 0.0).map(|inside| self.border(quadratic, inside, &x));
                    let at = touched.unwrap_or_else(|| x.clone());
                    let (value, slopes) = self.at(quadratic, &at);
                    let limit = slopes.iter().zip(&at).map(|(g, x)| g * x).sum::<f64>() - value;
                    at_most(&mut lp, &sparse(&slopes), limit);
                    shallow.push(at);
                }
            }
        }
        best.filter(|(depth, _)| *depth > 0.0).map(|(_, x)| x).ok_or(shallow)
    }

    /// The deepest of some points on the ways from a point to others, and its depth: the program's point is a corner of
    /// what the tangents leave, and often far from where the quadratics are met.
    fn deepest_between(&self, x: &[f64], targets: &[Vec<f64>]) -> (f64, Vec<f64>) {
        let way = |target: &Vec<f64>| {
            let mut way: Vec<f64> = target.iter().zip(x).map(|(b, a)| b - a).collect();
            self.keep_equations(&mut way);
            way
        };
        let stop = |way: &[f64], t: f64| x.iter().zip(way).map(|(a, d)| a + t * d).collect();
        let ways: Vec<Vec<f64>> = targets.iter().map(way).collect();
        let stops = self.tuning.stops;
        let others = ways.iter().flat_map(|way| (1..=stops).map(move |k| stop(way, k as f64 / stops as f64)));
        let valued = others.chain([x.to_vec()]).map(|point: Vec<f64>| (self.depth(&point), point));
        valued.max_by(|a, b| a.0.total_cmp(&b.0)).expect("the point itself is one")
    }

    /// The change of a form over a unit of depth.
    fn size(&self, terms: &[(usize, f64)]) -> f64 {
        terms.iter().map(|&(i, a)| (a * self.half[i]).powi(2)).sum::<f64>().sqrt()
    }

    /// How deep a point lies by every inequality; negative outside.
    fn depth(&self, x: &[f64]) -> f64 {
        let side = |i: usize| (self.upper[i] - x[i]).min(x[i] - self.lower[i]) / self.half[i];
        let ratio = |room: f64, size: f64| match size > 0.0 {
            true => room / size,
            false if room >= 0.0 => f64::INFINITY,
            false => f64::NEG_INFINITY,
        };
        let sides = (0..x.len()).filter(|&i| self.half[i] > 0.0).map(side);
        let rows = self.rows.iter().map(|row| ratio(row.limit - dot(&row.terms, x), self.size(&row.terms)));
        let quadratics = self.quadratics.iter().map(|quadratic| {
            let (value, slopes) = self.at(quadratic, x);
            ratio(-value, self.size(&sparse(&slopes)))
        });
        sides
            .chain(rows)
            .chain(quadratics)
            .fold(f64::INFINITY, |least, depth| if depth.is_nan() { f64::NEG_INFINITY } else { least.min(depth) })
    }

    /// A quadratic's value and gradient as a function of the inputs alone.
    fn at(&self, quadratic: &Quadratic, x: &[f64]) -> (f64, Vec<f64>) {
        let y = self.outputs_at(x, 1.0);
        let (mut slopes, by_y) = quadratic.gradient(x, &y);
        for (form, slope) in self.outputs.iter().zip(&by_y).filter(|(_, slope)| **slope != 0.0) {
            slopes.iter_mut().zip(form).for_each(|(sum, a)| *sum += slope * a);
        }
        (quadratic.value(x, &y), slopes)
    }

    /// A point where a quadratic is negative, in the box or not, by steepest descent from the middle of the box.
    fn inside(&self, quadratic: &Quadratic) -> Option<Vec<f64>> {
        let mut x: Vec<f64> = self.lower.iter().zip(&self.half).map(|(l, half)| l + half).collect();
        for _ in 0..self.tuning.descent {
            let (_, slopes) = self.at(quadratic, &x);
            let steepness: f64 = slopes.iter().map(|g| g * g).sum();
            let step = steepness / (2.0 * quadratic.curvature(&slopes, &self.outputs_at(&slopes, 0.0)));
            if !step.is_finite() {
                break;
            }
            x.iter_mut().zip(&slopes).for_each(|(x, g)| *x -= step * g);
        }
        (self.at(quadratic, &x).0 < 0.0).then_some(x)
    }

    /// Where the way from a point inside a quadratic to one outside crosses its border.
    fn border(&self, quadratic: &Quadratic, inside: &[f64], outside: &[f64]) -> Vec<f64> {
        let way: Vec<f64> = outside.iter().zip(inside).map(|(b, a)| b - a).collect();
        let (value, slopes) = self.at(quadratic, inside);
        let slope = slopes.iter().zip(&way).map(|(g, d)| g * d).sum();
        let t = reach(quadratic.curvature(&way, &self.outputs_at(&way, 0.0)), slope, value).min(1.0);
        inside.iter().zip(&way).map(|(a, d)| a + t * d).collect()
    }

    /// The outputs at a point, or, without the constants, along a direction.
    fn outputs_at(&self, x: &[f64], constants: f64) -> Vec<f64> {
        let at = |form: &Vec<f64>| form.iter().zip(x).map(|(a, x)| a * x).sum::<f64>() + constants * form[x.len()];
        self.outputs.iter().map(at).collect()
    }

    /// How far the set reaches from a point of it along a direction, backward and forward, in lengths of the direction.
    pub fn chord(&self, x: &[f64], direction: &[f64]) -> (f64, f64) {
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut limit = |slope: f64, room: f64| {
            let ratio = room.max(0.0) / slope;
            if slope > 0.0 {
                high = high.min(ratio);
            } else if slope < 0.0 {
                low = low.max(ratio);
            }
        };
        for (i, &d) in direction.iter().enumerate() {
            limit(d, self.upper[i] - x[i]);
            limit(-d, x[i] - self.lower[i]);
        }
        self.rows.iter().for_each(|row| limit(dot(&row.terms, direction), row.limit - dot(&row.terms, x)));
        let along = self.outputs_at(direction, 0.0);
        for quadratic in &self.quadratics {
            let (value, slopes) = self.at(quadratic, x);
            let slope: f64 = slopes.iter().zip(direction).map(|(g, d)| g * d).sum();
            let curvature = quadratic.curvature(direction, &along);
            low = low.max(-reach(curvature, -slope, value));
            high = high.min(reach(curvature, slope, value));
        }
        if low.is_finite() && high.is_finite() { (low, high) } else { (0.0, 0.0) }
    }

    /// The point itself if it is inside, otherwise the last one inside on the way to it from the centre.
    pub fn pull(&self, x: &[f64]) -> Vec<f64> {
        let mut direction: Vec<f64> = x.iter().zip(&self.centre).map(|(x, c)| x - c).collect();
        self.keep_equations(&mut direction);
        let t = (self.chord(&self.centre, &direction).1 * (1.0 - self.tuning.off_the_border)).min(1.0);
        self.centre.iter().zip(&direction).map(|(c, d)| c + t * d).collect()
    }

    /// Removes from a direction what leaves the equations.
    pub fn keep_equations(&self, direction: &mut [f64]) {
        direction.iter_mut().zip(&self.half).filter(|(_, half)| **half == 0.0).for_each(|(d, _)| *d = 0.0);
        for normal in &self.normals {
            let along: f64 = direction.iter().zip(normal).map(|(d, n)| d * n).sum();
            direction.iter_mut().zip(normal).for_each(|(d, n)| *d -= along * n);
        }
    }

    pub fn half_sides(&self) -> &[f64] {
        &self.half
    }
}

/// The least t ≥ 0 with `curvature·t² + slope·t + value` = 0, for a value that is not positive.
pub fn reach(curvature: f64, slope: f64, value: f64) -> f64 {
    let value = value.min(0.0);
    let root = (slope * slope - 4.0 * curvature.max(0.0) * value).sqrt();
    if slope > 0.0 {
        -2.0 * value / (slope + root)
    } else if curvature > 0.0 {
        (root - slope) / (2.0 * curvature)
    } else {
        f64::INFINITY
    }
}

/// The coefficients that are not 0.
fn sparse(slopes: &[f64]) -> Vec<(usize, f64)> {
    slopes.iter().copied().enumerate().filter(|(_, slope)| *slope != 0.0).collect()
}

fn dot(terms: &[(usize, f64)], x: &[f64]) -> f64 {
    terms.iter().map(|&(i, a)| a * x[i]).sum()
}

/// Whether two rows together are an equation: a·x ≤ b and −a·x ≤ −b.
fn is_opposite(row: &Row, other: &Row) -> bool {
    let at_most = |row: &Row| row.relation == Relation::AtMost;
    at_most(row)
        && at_most(other)
        && row.terms.len() == other.terms.len()
        && row.rhs == -&other.rhs
        && row.terms.iter().zip(&other.terms).all(|((i, a), (j, b))| i == j && *a == -b)
}

/// Gram and Schmidt; rows that depend on those before are left out.
fn orthonormal(rows: &[Linear], inputs: usize, tolerance: f64) -> Vec<Vec<f64>> {
    let length = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for row in rows {
        let mut normal = vec![0.0; inputs];
        row.terms.iter().for_each(|&(i, a)| normal[i] = a);
        let before = length(&normal);
        for known in &basis {
            let along: f64 = normal.iter().zip(known).map(|(a, b)| a * b).sum();
            normal.iter_mut().zip(known).for_each(|(a, b)| *a -= along * b);
        }
        let after = length(&normal);
        if after > tolerance * before {
            basis.push(normal.iter().map(|v| v / after).collect());
        }
    }
    basis
}
