//! The way forward: forms and intervals of every neuron, stage by stage.

use super::room::{Costs, all, place};
use super::*;
use crate::map::Map;

/// Coefficients of forms that are summed together in registers, of both forms of a neuron.
const MOST: usize = 6;

impl<T: Rounding> Pass<'_, '_, '_, T> {
    /// Bounds every hidden neuron on the boxes of the room, and the outputs by their forms.
    #[inline(always)]
    pub fn hidden<S: Simd>(&mut self) {
        self.start::<S>();
        for stage in 0..self.shape.stages.len() {
            self.stage::<S>(stage);
        }
    }

    /// The boxes themselves.
    #[inline(always)]
    pub fn start<S: Simd>(&mut self) {
        let cost = VectorOf::<S, T>::splat(T::above(Costs::of::<T>(self.shape, 0).inputs));
        let one = VectorOf::<S, T>::splat(T::above(1.0 + 4.0 * T::RELATIVE));
        let mut total = VectorOf::<S, T>::splat(T::above(1.0));
        for i in 0..self.shape.inputs {
            let (middle, half) = (load::<S, T>(&self.room.middle[i]), load::<S, T>(&self.room.half[i]));
            let size = middle.abs().add(half).mul(one);
            size.store(&mut self.room.size[i]);
            size.mul_add(cost, half).mul(one).store(&mut self.room.reach[i]);
            total = total.add(size);
        }
        total.store(self.room.total);
    }

    /// One stage: forms, and of a hidden one what they decide, passes back for the rest, and its relaxation.
    #[inline(always)]
    pub fn stage<S: Simd>(&mut self, stage: usize) {
        let (costs, is_hidden) = (Costs::of::<T>(self.shape, stage), stage < self.shape.last());
        for neuron in 0..self.shape.stages[stage].width() {
            let at = self.shape.start(stage) + neuron;
            let products = self.forms::<S>(stage, neuron);
            let size = self.sizes::<S>(stage, neuron, products, &costs);
            self.widen_forms::<S>(at);
            if is_hidden {
                self.bound_by_forms::<S>(at);
            } else {
                size.store(&mut self.room.size[self.shape.inputs + at]);
            }
        }
        self.charge_underflow::<S>(&costs);
        if is_hidden {
            self.refine::<S>(stage);
            self.relax::<S>(stage, &costs);
        }
    }

    /// What underflow costs a row, from all sizes so far.
    #[inline(always)]
    fn charge_underflow<S: Simd>(&mut self, costs: &Costs) {
        let each = VectorOf::<S, T>::splat(T::above(costs.underflows));
        let twice = load::<S, T>(self.room.total).mul(VectorOf::<S, T>::splat(T::widen(2.0)));
        twice.mul(each).store(self.room.underflow);
    }

    /// A neuron's slop, from the sizes of what it reads of stages times its weights; returns an upper bound of the magnitude of z.
    #[inline(always)]
    fn sizes<S: Simd>(
        &mut self,
        stage: usize,
        neuron: usize,
        mut products: VectorOf<S, T>,
        costs: &Costs,
    ) -> VectorOf<S, T> {
        let data = &self.shape.stages[stage];
        let error = data.error_of(neuron);
        let mut read = VectorOf::<S, T>::splat(T::default());
        for edge in data.edges {
            let at = place(self.shape, edge.from);
            let size = &self.room.size[at..at + edge.map.cols()];
            if edge.from == Source::Input {
                for (k, w) in edge.map.row(neuron) {
                    let w = VectorOf::<S, T>::splat(T::widen(w.abs()));
                    products = w.mul_add(load::<S, T>(&size[k]), products);
                }
            }
            if error.weight > 0.0 {
                for (k, _) in edge.map.row(neuron) {
                    read = read.add(load::<S, T>(&size[k]));
                }
            }
        }
        let bias = T::widen(data.bias[neuron]).to_f64().abs();
        let fixed = bias * costs.sums + error.constant * (1.0 + 8.0 * T::RELATIVE);
        // The products were themselves summed with roundings.
        let relative = error.relative * (1.0 + 4.0 * costs.products);
        let mut slop = VectorOf::<S, T>::splat(T::above(costs.products + relative));
        slop = slop.mul_add(products, VectorOf::<S, T>::splat(T::above(fixed)));
        if error.weight > 0.0 {
            let error = error.weight * (1.0 + 4.0 * costs.products);
            slop = VectorOf::<S, T>::splat(T::above(error)).mul_add(read, slop);
        }
        // It is itself a term of a row's sum.
        let larger = if costs.sums > costs.products { costs.sums } else { costs.products };
        let more = VectorOf::<S, T>::splat(T::above(1.0 + 2.0 * larger + 8.0 * T::RELATIVE));
        let slop = slop.mul_add(more, VectorOf::<S, T>::splat(T::NORMAL));
        slop.store(&mut self.room.slop[self.shape.start(stage) + neuron]);
        let size = products.add(VectorOf::<S, T>::splat(T::above(bias))).mul_add(more, slop);
        load::<S, T>(self.room.total).add(size).store(self.room.total);
        size
    }

    /// The forms of a neuron's z, not yet moved outward; returns the sizes of what it reads of stages times its weights.
    #[inline(always)]
    fn forms<S: Simd>(&mut self, stage: usize, neuron: usize) -> VectorOf<S, T> {
        let products = match self.shape.inputs + 1 {
            6 => self.sum_forms::<S, 6, true>(stage, neuron, 0),
            5 => self.sum_forms::<S, 5, true>(stage, neuron, 0),
            4 => self.sum_forms::<S, 4, true>(stage, neuron, 0),
            3 => self.sum_forms::<S, 3, true>(stage, neuron, 0),
            2 => self.sum_forms::<S, 2, true>(stage, neuron, 0),
            terms => self.sum_long_forms::<S>(stage, neuron, terms),
        };
        self.add_inputs::<S>(stage, neuron);
        products
    }

    /// The same of forms whose sums are not all kept in registers at a time.
    #[inline(always)]
    fn sum_long_forms<S: Simd>(&mut self, stage: usize, neuron: usize, terms: usize) -> VectorOf<S, T> {
        let each = terms.div_ceil(terms.div_ceil(MOST));
        let (mut from, mut products) = (0, VectorOf::<S, T>::splat(T::default()));
        while from < terms {
            let count = each.min(terms - from);
            products = match count {
                6 => self.sum_forms::<S, 6, false>(stage, neuron, from),
                5 => self.sum_forms::<S, 5, false>(stage, neuron, from),
                4 => self.sum_forms::<S, 4, false>(stage, neuron, from),
                3 => self.sum_forms::<S, 3, false>(stage, neuron, from),
                2 => self.sum_forms::<S, 2, false>(stage, neuron, from),
                _ => self.sum_forms::<S, 1, false>(stage, neuron, from),
            };
            from += count;
        }
        products
    }

    /// Moves a neuron's forms outward by its slop.
    #[inline(always)]
    fn widen_forms<S: Simd>(&mut self, at: usize) {
        let terms = self.shape.inputs + 1;
        let slop = load::<S, T>(&self.room.slop[at]);
        let forms = &mut self.room.forms[2 * terms * at..2 * terms * (at + 1)];
        let (lower, upper) = (load::<S, T>(&forms[0]).sub(slop), load::<S, T>(&forms[terms]).add(slop));
        lower.store(&mut forms[0]);
        upper.store(&mut forms[terms]);
    }

    /// What its forms bound a neuron's z by.
    #[inline(always)]
    fn bound_by_forms<S: Simd>(&mut self, at: usize) {
        let terms = self.shape.inputs + 1;
        let forms = &self.room.forms[2 * terms * at..2 * terms * (at + 1)];
        let (down, up) = (least::<S, T>(&forms[..terms]), greatest::<S, T>(&forms[terms..]));
        down.store(&mut self.room.lower[at]);
        up.store(&mut self.room.upper[at]);
    }

    /// `W` coefficients of both forms, the whole of them or from one on, from those of the stages that are read, and the bias.
    #[inline(always)]
    fn sum_forms<S: Simd, const W: usize, const WHOLE: bool>(
        &mut self,
        stage: usize,
        neuron: usize,
        from: usize,
    ) -> VectorOf<S, T> {
        let data = &self.shape.stages[stage];
        let terms = if WHOLE { W } else { self.shape.inputs + 1 };
        let zero = VectorOf::<S, T>::splat(T::default());
        let mut sums = Sums { lower: [zero; W], upper: [zero; W], size: zero };
        if from == 0 {
            sums.lower[0] = VectorOf::<S, T>::splat(T::widen(data.bias[neuron]));
            sums.upper[0] = sums.lower[0];
        }
        for edge in data.edges {
            let Source::Stage(s) = edge.from else { continue };
            let forms = &self.room.forms[2 * terms * self.shape.start(s)..2 * terms * self.shape.start(s + 1)];
            let sizes = &self.room.size[place(self.shape, edge.from)..][..edge.map.cols()];
            match &edge.map {
                Map::Dense(map) => {
                    let (column, lane) = map.column(neuron);
                    for &k in self.room.alive(self.shape, s) {
                        let k = k as usize;
                        sums.add(&forms[2 * terms * k..2 * terms * (k + 1)], from, column[k].0[lane], &sizes[k]);
                    }
                    self.room.work += 2 * W as u64 * u64::from(self.room.counts[s]);
                }
                map => {
                    for (k, w) in map.row(neuron) {
                        sums.add(&forms[2 * terms * k..2 * terms * (k + 1)], from, w, &sizes[k]);
                        self.room.work += 2 * W as u64;
                    }
                }
            }
        }
        let at = 2 * terms * (self.shape.start(stage) + neuron) + from;
        for c in 0..W {
            sums.lower[c].store(&mut self.room.forms[at + c]);
            sums.upper[c].store(&mut self.room.forms[at + terms + c]);
        }
        sums.size
    }

    /// Adds what a neuron reads of the inputs, whose forms have one coefficient.
    #[inline(always)]
    fn add_inputs<S: Simd>(&mut self, stage: usize, neuron: usize) {
        let terms = self.shape.inputs + 1;
        let at = 2 * terms * (self.shape.start(stage) + neuron);
        for edge in self.shape.stages[stage].edges.iter().filter(|edge| edge.from == Source::Input) {
            let forms = &mut self.room.forms[at..at + 2 * terms];
            for (i, w) in edge.map.row(neuron) {
                let w = VectorOf::<S, T>::splat(T::widen(w));
                let (middle, half) = (load::<S, T>(&self.room.middle[i]), load::<S, T>(&self.room.half[i]));
                for form in [0, terms] {
                    w.mul_add(middle, load::<S, T>(&forms[form])).store(&mut forms[form]);
                    w.mul_add(half, load::<S, T>(&forms[form + 1 + i])).store(&mut forms[form + 1 + i]);
                }
            }
        }
    }

    /// Slopes, forms of max(z, 0), sizes, and who is alive, from the bounds of a stage.
    #[inline(always)]
    fn relax<S: Simd>(&mut self, stage: usize, costs: &Costs) {
        let (start, width) = (self.shape.start(stage), self.shape.stages[stage].width());
        let mut count = 0;
        for neuron in 0..width {
            if self.relax_neuron::<S>(start + neuron, costs) {
                self.room.alive[start + count] = neuron as u32;
                count += 1;
            }
        }
        self.room.counts[stage] = count as u32;
    }
}

/// Sums of forms of what a neuron reads, and of their sizes, each times its weight.
struct Sums<V, const W: usize> {
    lower: [V; W],
    upper: [V; W],
    size: V,
}

impl<V, const W: usize> Sums<V, W> {
    /// Adds a weight times what it multiplies: some coefficients of its forms, and its size. A negative weight makes the two forms
    /// change places.
    #[inline(always)]
    fn add<T: Rounding>(&mut self, forms: &[Lanes<T>], from: usize, w: f32, size: &Lanes<T>)
    where
        V: Vector<T>,
    {
        let terms = forms.len() / 2;
        let swap = if w < 0.0 { terms } else { 0 };
        let (a, b) = (&forms[swap + from..swap + from + W], &forms[terms - swap + from..terms - swap + from + W]);
        self.size = V::splat(T::widen(w.abs())).mul_add(V::load(size), self.size);
        let w = V::splat(T::widen(w));
        for c in 0..W {
            self.lower[c] = w.mul_add(V::load(&a[c]), self.lower[c]);
            self.upper[c] = w.mul_add(V::load(&b[c]), self.upper[c]);
        }
    }
}

#[inline(always)]
pub(super) fn load<S: Simd, T: Scalar>(from: &Lanes<T>) -> VectorOf<S, T> {
    VectorOf::<S, T>::load(from)
}

/// The sum of the magnitudes of a form's coefficients but for the constant.
#[inline(always)]
pub(super) fn swing<S: Simd, T: Scalar>(form: &[Lanes<T>]) -> VectorOf<S, T> {
    let mut sum = VectorOf::<S, T>::splat(T::default());
    for a in &form[1..] {
        sum = sum.add(load::<S, T>(a).abs());
    }
    sum
}

/// What rounding may add to a form's least or greatest value, and to its size.
#[inline(always)]
fn rounded<S: Simd, T: Rounding>(constant: VectorOf<S, T>, swing: VectorOf<S, T>, terms: usize) -> VectorOf<S, T> {
    constant.abs().add(swing).mul(VectorOf::<S, T>::splat(T::above(room::roundings::<T>(terms))))
}

/// A lower bound of a form.
#[inline(always)]
pub(super) fn least<S: Simd, T: Rounding>(form: &[Lanes<T>]) -> VectorOf<S, T> {
    let (constant, swing) = (load::<S, T>(&form[0]), swing::<S, T>(form));
    constant.sub(swing).sub(rounded::<S, T>(constant, swing, form.len()))
}

/// An upper bound of a form.
#[inline(always)]
pub(super) fn greatest<S: Simd, T: Rounding>(form: &[Lanes<T>]) -> VectorOf<S, T> {
    let (constant, swing) = (load::<S, T>(&form[0]), swing::<S, T>(form));
    constant.add(swing).add(rounded::<S, T>(constant, swing, form.len()))
}

/// Of the magnitude of both its forms.
#[inline(always)]
pub(super) fn size_of_forms<S: Simd, T: Rounding>(forms: &[Lanes<T>]) -> VectorOf<S, T> {
    let (lower, upper) = forms.split_at(forms.len() / 2);
    let lower = load::<S, T>(&lower[0]).abs().add(swing::<S, T>(lower));
    let upper = load::<S, T>(&upper[0]).abs().add(swing::<S, T>(upper));
    // A NaN of either is kept.
    let larger = lower.max(upper).add(lower.sub(lower)).add(upper.sub(upper));
    larger.mul(VectorOf::<S, T>::splat(T::above(1.0 + room::roundings::<T>(forms.len()))))
}

pub(super) fn zeros<T: Scalar>(forms: &mut [Lanes<T>]) {
    forms.fill(all(T::default()));
}
