//! The way back: rows from the neurons to the inputs.

use super::forward::load;
use super::room::{all, place};
use super::*;
use crate::map::Map;

/// A row over the outputs, in every lane the same.
pub type Direction<'d, T> = &'d [(usize, T)];

impl<T: Rounding> Pass<'_, '_, '_, T> {
    /// Tightens the undecided neurons of a stage by passes back, two at a time and both sides of each, unless that takes too long. The
    /// first stage's forms are exact.
    #[inline(always)]
    pub(super) fn refine<S: Simd>(&mut self, stage: usize) {
        let (start, width) = (self.shape.start(stage), self.shape.stages[stage].width());
        let zero = VectorOf::<S, T>::splat(T::default());
        let mut count = 0usize;
        for neuron in start..start + width {
            self.inherit::<S>(neuron);
            let (l, u) = (load::<S, T>(&self.room.lower[neuron]), load::<S, T>(&self.room.upper[neuron]));
            self.room.undecided[neuron] = zero.above(l) & u.above(zero);
            count += usize::from(self.room.undecided[neuron] != 0);
        }
        if stage == 0
            || count == 0
            || count.div_ceil(2) as f64 * self.work_back(stage) > self.room.refined * self.work_forward(stage)
        {
            return;
        }
        let mut next = 0;
        while let Some(first) = self.next_undecided(start, next..width) {
            let second = self.next_undecided(start, first + 1..width).unwrap_or(first);
            self.refine_pair::<S>(stage, [first, second]);
            next = second + 1;
        }
    }

    /// About the work of a pass back from a stage, in operations: products of what is alive, and the relaxation of each neuron.
    fn work_back(&self, stage: usize) -> f64 {
        let of = |k: usize| {
            let (data, alive) = (&self.shape.stages[k], f64::from(self.room.counts[k]));
            TOGETHER as f64 * alive * (8.0 + data.entries() as f64 / data.width() as f64)
        };
        (0..stage).map(of).sum()
    }

    /// About the work of the way forward through a stage.
    fn work_forward(&self, stage: usize) -> f64 {
        let terms = 2.0 * (self.shape.inputs as f64 + 1.0);
        self.shape.stages[..=stage].iter().map(|data| terms * data.entries() as f64).sum()
    }

    fn next_undecided(&self, start: usize, mut neurons: core::ops::Range<usize>) -> Option<usize> {
        neurons.find(|neuron| self.room.undecided[start + neuron] != 0)
    }

    /// What is decided on a larger box is decided here.
    #[inline(always)]
    fn inherit<S: Simd>(&mut self, neuron: usize) {
        let zero = VectorOf::<S, T>::splat(T::default());
        let (on, off) = (self.room.known_on[neuron], self.room.known_off[neuron]);
        if on | off == 0 {
            return;
        }
        let (l, u) = (load::<S, T>(&self.room.lower[neuron]), load::<S, T>(&self.room.upper[neuron]));
        VectorOf::<S, T>::pick(on, zero.max(l), l).store(&mut self.room.lower[neuron]);
        let u = VectorOf::<S, T>::pick(on, zero.max(u), u);
        VectorOf::<S, T>::pick(off, zero.min(u), u).store(&mut self.room.upper[neuron]);
    }

    #[inline(always)]
    fn refine_pair<S: Simd>(&mut self, stage: usize, neurons: [usize; 2]) {
        let (data, start) = (&self.shape.stages[stage], self.shape.start(stage));
        let mut sums = [VectorOf::<S, T>::splat(T::default()); TOGETHER];
        for (n, &neuron) in neurons.iter().enumerate() {
            let slop = load::<S, T>(&self.room.slop[start + neuron]);
            let bias = VectorOf::<S, T>::splat(T::widen(data.bias[neuron]));
            sums[2 * n] = bias.sub(slop);
            sums[2 * n + 1] = VectorOf::<S, T>::splat(T::default()).sub(bias).sub(slop);
        }
        self.start_pair(stage, neurons);
        self.down::<S, TOGETHER, false>(stage, &mut sums);
        for (n, &neuron) in neurons.iter().enumerate() {
            let lower = self.close::<S, TOGETHER>(2 * n, sums[2 * n]);
            let negated = self.close::<S, TOGETHER>(2 * n + 1, sums[2 * n + 1]);
            self.tighten::<S>(start + neuron, [lower, negated]);
        }
    }

    /// The coefficients of two neurons' rows and their negations, at all that their stage reads.
    #[inline(always)]
    fn start_pair(&mut self, stage: usize, neurons: [usize; 2]) {
        self.room.pass += 1;
        for edge in self.shape.stages[stage].edges {
            self.room.reach_source(edge.from);
            let mu = &mut self.room.mu[TOGETHER * place(self.shape, edge.from)..][..TOGETHER * edge.map.cols()];
            let mut set = |n: usize, i: usize, w: f32| {
                mu[TOGETHER * i + 2 * n] = all(T::widen(w));
                mu[TOGETHER * i + 2 * n + 1] = all(T::widen(-w));
            };
            if let (Map::Dense(map), Source::Stage(s)) = (&edge.map, edge.from) {
                let start = self.shape.start(s);
                let alive = &self.room.alive[start..start + self.room.counts[s] as usize];
                for (n, &neuron) in neurons.iter().enumerate() {
                    let (column, lane) = map.column(neuron);
                    alive.iter().for_each(|&i| set(n, i as usize, column[i as usize].0[lane]));
                }
                continue;
            }
            (0..edge.map.cols()).for_each(|i| [0, 1].into_iter().for_each(|n| set(n, i, 0.0)));
            for (n, &neuron) in neurons.iter().enumerate() {
                edge.map.row(neuron).for_each(|(i, w)| set(n, i, w));
            }
        }
    }

    /// Raises the sides of a neuron's bounds in the lanes where it is undecided: its lower bound, and that of its negation.
    #[inline(always)]
    fn tighten<S: Simd>(&mut self, neuron: usize, sides: [VectorOf<S, T>; 2]) {
        let lanes = self.room.undecided[neuron];
        let zero = VectorOf::<S, T>::splat(T::default());
        let (l, u) = (load::<S, T>(&self.room.lower[neuron]), load::<S, T>(&self.room.upper[neuron]));
        // A NaN is no bound.
        let (lower, upper) = (sides[0].max(l), zero.sub(sides[1]).min(u));
        VectorOf::<S, T>::pick(lanes, lower, l).store(&mut self.room.lower[neuron]);
        VectorOf::<S, T>::pick(lanes, upper, u).store(&mut self.room.upper[neuron]);
    }

    /// Lower bounds of rows over the outputs, as functions of the inputs: for each a constant, which what underflow costs is to
    /// be taken from, and the coefficients.
    #[inline(always)]
    pub fn rows<S: Simd>(&mut self, rows: &[Direction<T>], reached: &mut [Lanes<T>]) {
        let terms = self.shape.inputs + 1;
        assert_eq!(reached.len(), rows.len() * terms);
        let (mut rows, mut reached) = (rows, reached.chunks_exact_mut(terms));
        while let Some((some, rest)) = rows.split_first_chunk::<TOGETHER>() {
            self.some_rows::<S, TOGETHER>(some, &mut reached);
            rows = rest;
        }
        while let Some((one, rest)) = rows.split_first_chunk::<1>() {
            self.some_rows::<S, 1>(one, &mut reached);
            rows = rest;
        }
    }

    #[inline(always)]
    fn some_rows<'o, S: Simd, const R: usize>(
        &mut self,
        rows: &[Direction<T>; R],
        reached: &mut impl Iterator<Item = &'o mut [Lanes<T>]>,
    ) {
        let last = self.shape.last();
        let (start, data) = (self.shape.start(last), &self.shape.stages[last]);
        let zero = VectorOf::<S, T>::splat(T::default());
        let mut sums = [zero; R];
        self.room.nu[..R * data.width()].fill(all(T::default()));
        for (r, row) in rows.iter().enumerate() {
            for &(output, coefficient) in *row {
                let c = VectorOf::<S, T>::splat(coefficient);
                sums[r] = c.mul_add(VectorOf::<S, T>::splat(T::widen(data.bias[output])), sums[r]);
                sums[r] = sums[r].sub(c.abs().mul(load::<S, T>(&self.room.slop[start + output])));
                self.room.nu[R * output + r] = all(coefficient);
            }
        }
        self.room.pass += 1;
        for edge in data.edges {
            let at = R * place(self.shape, edge.from);
            self.room.reach_source(edge.from);
            let mu = &mut self.room.mu[at..at + R * edge.map.cols()];
            mu.fill(all(T::default()));
            let is_named = |o: &usize| rows.iter().any(|row| row.iter().any(|(output, _)| output == o));
            let named = (0..data.width()).filter(is_named).map(|o| (o, o));
            self.room.work += by_rows::<S, T, R>(&edge.map, named, self.room.nu, mu);
        }
        self.down::<S, R, true>(last, &mut sums);
        for ((r, sum), to) in sums.into_iter().enumerate().zip(reached) {
            sum.store(&mut to[0]);
            to[1..].iter_mut().enumerate().for_each(|(i, to)| *to = self.room.mu[R * i + r]);
        }
    }

    /// Takes the coefficients of the activations before a stage back to the inputs.
    #[inline(always)]
    fn down<S: Simd, const R: usize, const GAPS: bool>(&mut self, stage: usize, sums: &mut [VectorOf<S, T>; R]) {
        for k in (0..stage).rev() {
            if self.room.is_reached(Source::Stage(k)) {
                self.relax_rows::<S, R, GAPS>(k, sums);
                self.products::<S, R>(k);
            }
        }
        if !self.room.is_reached(Source::Input) {
            self.room.mu[..R * self.shape.inputs].fill(all(T::default()));
        }
    }

    /// Multipliers of a stage's live neurons from the coefficients of their activations, one after the other in the room, and
    /// what they add to the rows.
    #[inline(always)]
    fn relax_rows<S: Simd, const R: usize, const GAPS: bool>(&mut self, stage: usize, sums: &mut [VectorOf<S, T>; R]) {
        let (start, bias) = (self.shape.start(stage), self.shape.stages[stage].bias);
        let at = R * place(self.shape, Source::Stage(stage));
        let zero = VectorOf::<S, T>::splat(T::default());
        let mut parts = [zero; R];
        let count = self.room.counts[stage] as usize;
        let (alive, mu, nu) = (&self.room.alive[start..start + count], &self.room.mu[at..], &mut *self.room.nu);
        for (&k, nu) in alive.iter().zip(nu.chunks_exact_mut(R)) {
            let (k, neuron) = (k as usize, start + k as usize);
            let mu = &mu[R * k..R * (k + 1)];
            let (b, slop) = (VectorOf::<S, T>::splat(T::widen(bias[k])), load::<S, T>(&self.room.slop[neuron]));
            let (alpha, lambda) = (load::<S, T>(&self.room.alpha[neuron]), load::<S, T>(&self.room.lambda[neuron]));
            let drop = load::<S, T>(&self.room.drop[neuron]);
            let fall = if GAPS { load::<S, T>(&self.room.fall[neuron]) } else { zero };
            let mut gap = zero;
            for r in 0..R {
                // A NaN is kept in both.
                let a = load::<S, T>(&mu[r]);
                let (plus, minus) = (zero.max(a), zero.min(a));
                let slope = minus.mul_add(lambda, plus.mul(alpha));
                let mut part = minus.mul_add(drop, parts[r]);
                part = slope.mul_add(b, part);
                parts[r] = part.sub(slope.abs().mul(slop));
                slope.store(&mut nu[r]);
                if GAPS {
                    gap = gap.add(plus.mul_add(fall, zero.sub(minus.mul(drop))));
                }
            }
            if GAPS {
                load::<S, T>(&self.room.gap[neuron]).add(gap).store(&mut self.room.gap[neuron]);
            }
        }
        for r in 0..R {
            sums[r] = sums[r].add(parts[r]);
        }
    }

    /// Adds the multipliers of a stage's live neurons, which are in order, times its maps to the coefficients of what it reads.
    #[inline(always)]
    fn products<S: Simd, const R: usize>(&mut self, stage: usize) {
        let start = self.shape.start(stage);
        let live = start..start + self.room.counts[stage] as usize;
        for edge in self.shape.stages[stage].edges {
            let at = R * place(self.shape, edge.from);
            let is_first = !self.room.is_reached(edge.from);
            self.room.reach_source(edge.from);
            let mu = &mut self.room.mu[at..at + R * edge.map.cols()];
            let (alive, nu) = (&self.room.alive[live.clone()], &*self.room.nu);
            if let Map::Dense(map) = &edge.map {
                let columns = match edge.from {
                    Source::Input => None,
                    Source::Stage(s) => {
                        let start = self.shape.start(s);
                        Some(&self.room.alive[start..start + self.room.counts[s] as usize])
                    }
                };
                let work = (R * alive.len() * columns.map_or(map.cols(), <[u32]>::len)) as u64;
                if S::VECTOR == 64 {
                    dense::<S, T, R, 4>(map, alive, nu, columns, mu, is_first);
                } else {
                    dense::<S, T, R, 1>(map, alive, nu, columns, mu, is_first);
                }
                self.room.work += work;
                continue;
            }
            if is_first {
                mu.fill(all(T::default()));
            }
            let rows = alive.iter().enumerate().map(|(n, &k)| (n, k as usize));
            self.room.work += by_rows::<S, T, R>(&edge.map, rows, nu, mu);
        }
    }

    /// The least value of a row over the boxes.
    #[inline(always)]
    fn close<S: Simd, const R: usize>(&self, row: usize, mut sum: VectorOf<S, T>) -> VectorOf<S, T> {
        for i in 0..self.shape.inputs {
            let a = load::<S, T>(&self.room.mu[R * i + row]);
            sum = a.mul_add(load::<S, T>(&self.room.middle[i]), sum);
            sum = sum.sub(a.abs().mul(load::<S, T>(&self.room.reach[i])));
        }
        let part = VectorOf::<S, T>::splat(T::above(4.0 * T::RELATIVE));
        sum.sub(sum.abs().mul_add(part, load::<S, T>(self.room.underflow)))
    }
}

/// The product of live rows of a dense matrix with its live columns, or with all of them: `C` columns at a time, whose sums of
/// all rows are kept in registers.
#[inline(always)]
fn dense<S: Simd, T: Rounding, const R: usize, const C: usize>(
    map: &Dense,
    alive: &[u32],
    nu: &[Lanes<T>],
    columns: Option<&[u32]>,
    mu: &mut [Lanes<T>],
    is_first: bool,
) {
    let count = columns.map_or(map.cols(), <[u32]>::len);
    let mut from = 0;
    while from < count {
        let number = |c: usize| (from + c).min(count - 1);
        let column: [usize; C] = core::array::from_fn(|c| columns.map_or(number(c), |list| list[number(c)] as usize));
        let panels: [&[Lanes]; C] = core::array::from_fn(|c| map.rows_of(column[c]));
        let lane: [usize; C] = core::array::from_fn(|c| column[c] % PANEL);
        let mut sums = [[VectorOf::<S, T>::splat(T::default()); R]; C];
        if !is_first {
            for c in 0..C {
                for r in 0..R {
                    sums[c][r] = load::<S, T>(&mu[R * column[c] + r]);
                }
            }
        }
        for (&k, nu) in alive.iter().zip(nu.chunks_exact(R)) {
            let mut rows = [VectorOf::<S, T>::splat(T::default()); R];
            for r in 0..R {
                rows[r] = load::<S, T>(&nu[r]);
            }
            for c in 0..C {
                let w = VectorOf::<S, T>::splat(T::widen(panels[c][k as usize].0[lane[c]]));
                for r in 0..R {
                    sums[c][r] = w.mul_add(rows[r], sums[c][r]);
                }
            }
        }
        for c in 0..C {
            for r in 0..R {
                sums[c][r].store(&mut mu[R * column[c] + r]);
            }
        }
        from += C;
    }
}

/// The product of some rows of a map, whose multipliers are at the given places; how many multiply-adds it took.
#[inline(always)]
fn by_rows<S: Simd, T: Rounding, const R: usize>(
    map: &Map,
    rows: impl Iterator<Item = (usize, usize)>,
    nu: &[Lanes<T>],
    mu: &mut [Lanes<T>],
) -> u64 {
    let mut work = 0;
    for (at, k) in rows {
        let mut rows = [VectorOf::<S, T>::splat(T::default()); R];
        for r in 0..R {
            rows[r] = load::<S, T>(&nu[R * at + r]);
        }
        for (i, w) in map.row(k) {
            let w = VectorOf::<S, T>::splat(T::widen(w));
            for r in 0..R {
                let to = &mut mu[R * i + r];
                w.mul_add(rows[r], load::<S, T>(to)).store(to);
            }
            work += R as u64;
        }
    }
    work
}
