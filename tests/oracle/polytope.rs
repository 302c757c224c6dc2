//! A bounded polytope by its vertices, cut by half-spaces exactly: the double description method.
//!
//! Vertices are homogeneous, (t, t·x) with t > 0 and coprime integers, so a row (c, a) has the sign of a·x + c at a
//! vertex as the sign of an integer dot product. Each vertex knows which of the rows that shaped the polytope are
//! tight at it; the smallest face around two vertices is where their common tight rows are tight.
//! A polytope is never empty: what may be is an `Option`.

use super::integral;
use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use std::iter;
use std::rc::Rc;

#[derive(Clone)]
struct Vertex {
    point: Rc<[BigInt]>,
    /// The numbers of the rows tight here, one bit each; complete.
    tight: u128,
}

#[derive(Clone)]
pub(super) struct Polytope {
    vertices: Vec<Vertex>,
    /// How many rows have shaped the polytope.
    rows: u32,
}

impl Polytope {
    /// `lower` ≤ x ≤ `upper`: the corners, once each; rows 2j and 2j + 1 are the bounds of xⱼ.
    pub fn from_box(lower: &[BigRational], upper: &[BigRational]) -> Option<Self> {
        assert_eq!(lower.len(), upper.len(), "one lower and one upper bound per input");
        let mut corners = vec![(vec![BigRational::one()], 0u128)];
        for (j, (lower, upper)) in lower.iter().zip(upper).enumerate() {
            let (low, high) = (1 << (2 * j), 2 << (2 * j));
            let ends = match lower.cmp(upper) {
                std::cmp::Ordering::Less => vec![(lower, low), (upper, high)],
                std::cmp::Ordering::Equal => vec![(lower, low | high)],
                std::cmp::Ordering::Greater => return None,
            };
            let extend = |(corner, tight): &(Vec<_>, u128), (end, bits): &(&BigRational, u128)| {
                (corner.iter().chain(iter::once(*end)).cloned().collect(), tight | bits)
            };
            corners = corners.iter().flat_map(|corner| ends.iter().map(move |end| extend(corner, end))).collect();
        }
        let vertex = |(corner, tight): (Vec<_>, u128)| Vertex { point: integral(&corner).0.into(), tight };
        Some(Polytope { vertices: corners.into_iter().map(vertex).collect(), rows: 2 * lower.len() as u32 })
    }

    /// At each vertex, the value of `row` times the vertex's positive t.
    pub fn values(&self, row: &[BigInt]) -> Vec<BigInt> {
        let dot = |point: &[BigInt]| row.iter().zip(point).filter(|(r, _)| !r.is_zero()).map(|(r, p)| r * p).sum();
        self.vertices.iter().map(|vertex| dot(&vertex.point)).collect()
    }

    /// The part where `row` ≤ 0.
    pub fn at_most(&self, row: &[BigInt]) -> Option<Self> {
        let values = self.values(row);
        if !values.iter().any(Signed::is_positive) {
            return Some(self.clone());
        }
        let part = self.part(&values, Signed::is_negative, &self.crossings(&values));
        (!part.vertices.is_empty()).then_some(part)
    }

    /// Parts where `row` ≤ 0 and where `row` ≥ 0 that together are the whole. A part that would only be a face of
    /// the other is left out.
    pub fn split(&self, row: &[BigInt]) -> (Option<Self>, Option<Self>) {
        let values = self.values(row);
        if !values.iter().any(Signed::is_negative) {
            return (None, Some(self.clone()));
        }
        if !values.iter().any(Signed::is_positive) {
            return (Some(self.clone()), None);
        }
        let crossings = self.crossings(&values);
        let side = |inside: fn(&BigInt) -> bool| Some(self.part(&values, inside, &crossings));
        (side(Signed::is_negative), side(Signed::is_positive))
    }

    /// The vertices on one side of a cut: the old ones strictly inside, the old ones on the cut, the new ones.
    fn part(&self, values: &[BigInt], inside: fn(&BigInt) -> bool, crossings: &[Vertex]) -> Self {
        assert!(self.rows < u128::BITS, "more rows than a polytope of the oracle can hold");
        let keep = |(vertex, value): (&Vertex, &BigInt)| match value {
            value if inside(value) => Some(vertex.clone()),
            value if value.is_zero() => {
                Some(Vertex { point: vertex.point.clone(), tight: vertex.tight | 1 << self.rows })
            }
            _ => None,
        };
        let old = self.vertices.iter().zip(values).filter_map(keep);
        Polytope { vertices: old.chain(crossings.iter().cloned()).collect(), rows: self.rows + 1 }
    }

    /// The points where an edge crosses the hyperplane on which the row with these `values` is zero.
    ///
    /// Complete: a vertex of a part that is not a vertex of the whole lies in the relative interior of an edge. Its
    /// ends are two vertices whose common tight rows are tight at no third vertex, and the rows tight inside an
    /// edge are those tight at both ends, so the tight rows stay complete too.
    fn crossings(&self, values: &[BigInt]) -> Vec<Vertex> {
        let side = |sign: fn(&BigInt) -> bool| {
            self.vertices.iter().zip(values).enumerate().filter(move |(_, (_, value))| sign(value))
        };
        let dimension = self.vertices[0].point.len() as u32 - 1;
        let mut crossings = Vec::new();
        for (i, (below, low)) in side(Signed::is_negative) {
            for (j, (above, high)) in side(Signed::is_positive) {
                let common = below.tight & above.tight;
                let between = |(k, v): (usize, &Vertex)| k != i && k != j && v.tight & common == common;
                if common.count_ones() + 1 >= dimension && !self.vertices.iter().enumerate().any(between) {
                    let mix = |(b, a): (&BigInt, &BigInt)| high * b - low * a;
                    let point = primitive(below.point.iter().zip(&*above.point).map(mix).collect());
                    crossings.push(Vertex { point: point.into(), tight: common | 1 << self.rows });
                }
            }
        }
        crossings
    }

    /// The mean of the vertices, a point of the relative interior.
    pub fn centre(&self) -> Vec<BigRational> {
        let count = BigRational::from_integer(self.vertices.len().into());
        let points: Vec<_> = self.vertices.iter().map(Vertex::position).collect();
        (0..points[0].len()).map(|j| points.iter().map(|p| &p[j]).sum::<BigRational>() / &count).collect()
    }

    /// The least value of `row`, and a vertex that has it.
    pub fn minimum(&self, row: &[BigInt]) -> (BigRational, Vec<BigRational>) {
        let values = self.values(row).into_iter().zip(&self.vertices);
        let less = |a: &(BigInt, &Vertex), b: &(BigInt, &Vertex)| (&a.0 * &b.1.point[0]).cmp(&(&b.0 * &a.1.point[0]));
        let (value, vertex) = values.min_by(less).expect("a polytope has a vertex");
        (BigRational::new(value, vertex.point[0].clone()), vertex.position())
    }
}

impl Vertex {
    fn position(&self) -> Vec<BigRational> {
        self.point[1..].iter().map(|p| BigRational::new(p.clone(), self.point[0].clone())).collect()
    }
}

/// `point` divided by the greatest common divisor of its entries; taking remainders first keeps the gcds short.
fn primitive(point: Vec<BigInt>) -> Vec<BigInt> {
    let content = point[1..].iter().fold(point[0].clone(), |content, p| (p % &content).gcd(&content));
    point.into_iter().map(|p| p / &content).collect()
}
