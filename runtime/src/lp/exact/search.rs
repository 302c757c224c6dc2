//! The pivots: from the hinted basis to a vertex within all bounds, or to a row that refutes them.
//!
//! The variable furthest outside its bounds leaves and the one that moves it most enters, which needs few pivots
//! but may cycle. After `patience` pivots Bland's rule takes over, the first of each, and that ends.

use super::scaled::{Conflict, Interval, Scaled, Side, Value, Vertex, log2};
use super::tableau::{Solved, Tableau, common};
use super::{Basis, Status};
use num_bigint::BigInt;
use num_traits::{One, Signed};
use std::cmp::Ordering;

pub(super) enum End {
    Vertex(Vertex),
    Conflict(Conflict),
    Stopped,
}

pub(super) struct Search<'a> {
    scaled: &'a Scaled,
    tableau: Tableau<'a>,
    /// Of every variable.
    status: Vec<Status>,
    pivots: usize,
    /// How many pivots to choose by weight.
    pub patience: usize,
}

impl<'a> Search<'a> {
    /// At the basis of the slacks, each column at a bound.
    pub fn new(scaled: &'a Scaled) -> Self {
        let rest = |j: usize| match (&scaled.intervals[j].lower, &scaled.intervals[j].upper) {
            (Some(_), _) => Status::AtLower,
            (None, Some(_)) => Status::AtUpper,
            (None, None) => Status::AtZero,
        };
        let slacks = scaled.rows.iter().map(|_| Status::Basic);
        let status: Vec<_> = (0..scaled.columns()).map(rest).chain(slacks).collect();
        Search { scaled, tableau: Tableau::new(scaled), pivots: 0, patience: 4 * status.len(), status }
    }

    pub fn pivots(&self) -> usize {
        self.pivots
    }

    pub fn basis(&self) -> Basis {
        let (columns, rows) = self.status.split_at(self.scaled.columns());
        Basis { columns: columns.to_vec(), rows: rows.to_vec() }
    }

    pub fn run(&mut self, hint: Option<&Basis>, keep_going: &mut dyn FnMut() -> bool) -> End {
        if let Some(conflict) = self.crossed_bounds() {
            return End::Conflict(conflict);
        }
        if hint.is_some_and(|hint| !self.install(hint, keep_going)) {
            return End::Stopped;
        }
        loop {
            let vertex = self.vertex();
            let Some((leaving, side)) = self.violated(&vertex) else { return End::Vertex(vertex) };
            let row = self.tableau.row(leaving);
            let Some(entering) = self.entering(&row, side) else {
                return End::Conflict(conflict(leaving, side, row));
            };
            if !keep_going() {
                return End::Stopped;
            }
            self.pivot(leaving, row, entering, side);
        }
    }

    /// A variable whose own bounds exclude each other.
    fn crossed_bounds(&self) -> Option<Conflict> {
        let crossed = |j: &usize| {
            let interval = &self.scaled.intervals[*j];
            interval.lower.is_some() && interval.upper.is_some() && interval.lower > interval.upper
        };
        let j = (0..self.scaled.columns()).find(crossed)?;
        Some(vec![(j, Side::Lower, BigInt::one()), (j, Side::Upper, BigInt::one())])
    }

    /// Goes to the hinted basis as far as it is one: each slack that should not be basic is exchanged for a column
    /// that should, rows with the fewest such columns first. Any basis is a legal start. False if asked to stop.
    fn install(&mut self, hint: &Basis, keep_going: &mut dyn FnMut() -> bool) -> bool {
        let columns = self.scaled.columns();
        let wanted = |j: usize| hint.columns.get(j) == Some(&Status::Basic);
        for (j, status) in hint.columns.iter().enumerate().take(columns) {
            self.rest(j, *status);
        }
        let bound = |row: &usize| hint.rows.get(*row).is_some_and(|status| *status != Status::Basic);
        let mut rows: Vec<usize> = (0..self.scaled.rows.len()).filter(bound).collect();
        rows.sort_by_key(|row| self.scaled.rows[*row].iter().filter(|(j, _)| wanted(*j)).count());
        for slack in rows {
            let row = self.tableau.row(columns + slack);
            let candidates = row.terms.iter().filter(|(variable, _)| wanted(*variable));
            let Some(&(entering, _)) = candidates.min_by_key(|(_, coefficient)| coefficient.bits()) else { continue };
            if !keep_going() {
                return false;
            }
            self.pivot(columns + slack, row, entering, Side::Upper);
        }
        true
    }

    /// Lets the non-basic column `j` rest where `status` says, if it has that bound.
    fn rest(&mut self, j: usize, status: Status) {
        let interval = &self.scaled.intervals[j];
        let has = match status {
            Status::AtLower => interval.lower.is_some(),
            Status::AtUpper => interval.upper.is_some(),
            Status::Basic | Status::AtZero => false,
        };
        if has {
            self.status[j] = status;
        }
    }

    fn pivot(&mut self, leaving: usize, row: Solved, entering: usize, side: Side) {
        self.tableau.pivot(leaving, row, entering);
        self.status[entering] = Status::Basic;
        self.status[leaving] = if side == Side::Lower { Status::AtLower } else { Status::AtUpper };
        self.pivots += 1;
    }

    /// Where a non-basic variable rests.
    fn resting(&self, variable: usize) -> Value {
        let interval = &self.scaled.intervals[variable];
        let bound = match self.status[variable] {
            Status::AtLower => &interval.lower,
            Status::AtUpper => &interval.upper,
            Status::AtZero => return Value::default(),
            Status::Basic => unreachable!("a basic variable does not rest"),
        };
        bound.clone().expect("a variable rests at a bound it has")
    }

    /// The values that the resting places of the non-basic variables give to the columns.
    fn vertex(&self) -> Vertex {
        let solved = self.tableau.solved();
        let denominator = solved.values().fold(BigInt::one(), |lcm, row| common(lcm, &row.denominator));
        let value = |column: usize| match solved.get(&column) {
            None => self.resting(column).scaled(&denominator),
            Some(row) => {
                let mut sum = Value::default();
                for (variable, coefficient) in &row.terms {
                    sum.add_product(coefficient, &self.resting(*variable));
                }
                sum.scaled(&(&denominator / &row.denominator))
            }
        };
        Vertex { numerators: (0..self.scaled.columns()).map(value).collect(), denominator }
    }

    /// The basic variable that should leave and the bound it is beyond; none if the vertex is feasible.
    fn violated(&self, vertex: &Vertex) -> Option<(usize, Side)> {
        let basic = (0..self.status.len()).filter(|variable| self.status[*variable] == Status::Basic);
        let excess = |variable| self.excess(variable, vertex).map(|(side, excess)| ((variable, side), excess));
        let weight =
            |((variable, _), excess): &((usize, Side), BigInt)| log2(excess) - self.scaled.magnitudes[*variable];
        self.choose(basic.filter_map(excess), weight).map(|(choice, _)| choice)
    }

    /// The bound that `variable` is beyond at `vertex`, if any, and by how much, over the vertex's denominator.
    fn excess(&self, variable: usize, vertex: &Vertex) -> Option<(Side, BigInt)> {
        let Interval { lower, upper } = &self.scaled.intervals[variable];
        let value = match variable.checked_sub(self.scaled.columns()) {
            None => vertex.numerators[variable].clone(),
            Some(row) => self.scaled.slack(row, vertex),
        };
        let beyond = |side, bound: &Option<Value>, order| {
            let bound = bound.as_ref()?.scaled(&vertex.denominator);
            (value.cmp(&bound) == order).then(|| (side, (&value.real - bound.real).abs()))
        };
        beyond(Side::Lower, lower, Ordering::Less).or_else(|| beyond(Side::Upper, upper, Ordering::Greater))
    }

    /// The variable of `row` that should enter to move its basic variable back from beyond `side`; none if every one
    /// is at the bound that blocks it.
    fn entering(&self, row: &Solved, side: Side) -> Option<usize> {
        let movable = |(variable, coefficient): &&(usize, BigInt)| {
            let interval = &self.scaled.intervals[*variable];
            let fixed = interval.lower.is_some() && interval.lower == interval.upper;
            let blocked = blocking(side, coefficient);
            match self.status[*variable] {
                Status::AtLower => !fixed && blocked == Side::Upper,
                Status::AtUpper => !fixed && blocked == Side::Lower,
                Status::AtZero => true,
                Status::Basic => unreachable!("a row's variables are not basic"),
            }
        };
        let weight = |(variable, c): &&(usize, BigInt)| log2(c) + self.scaled.magnitudes[*variable];
        self.choose(row.terms.iter().filter(movable), weight).map(|(variable, _)| *variable)
    }

    /// The heaviest of `candidates`, which come in the order of their variables, or the first when patience is over.
    fn choose<T>(&self, mut candidates: impl Iterator<Item = T>, weight: impl Fn(&T) -> f64) -> Option<T> {
        if self.pivots >= self.patience {
            return candidates.next();
        }
        let weighed = candidates.map(|candidate| (weight(&candidate), candidate));
        weighed.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, candidate)| candidate)
    }
}

/// The bound that keeps a variable with this coefficient from moving its basic variable back from beyond `side`:
/// to increase the sum, a positive term has to go up, a negative one down.
fn blocking(side: Side, coefficient: &BigInt) -> Side {
    if (side == Side::Lower) == coefficient.is_positive() { Side::Upper } else { Side::Lower }
}

/// The bounds that meet in a row in which nothing can move: d·x = Σ c·v cannot reach d·bound, since each term is at
/// the bound that blocks it.
fn conflict(leaving: usize, side: Side, row: Solved) -> Conflict {
    let terms = row.terms.into_iter().map(|(variable, c)| (variable, blocking(side, &c), c.abs()));
    std::iter::once((leaving, side, row.denominator)).chain(terms).collect()
}
