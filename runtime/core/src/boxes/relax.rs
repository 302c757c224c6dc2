//! The relaxation of one neuron: what is known of max(z, 0) from the bounds and forms of z.

use super::forward::{greatest, least, load, size_of_forms, swing, zeros};
use super::room::{Costs, all};
use super::*;

impl<T: Rounding> Pass<'_, '_, '_, T> {
    /// Sets a neuron's slopes, what they cost, and its forms. False if it is off in every lane.
    ///
    /// A bound that is NaN leaves its lane undecided, and its slopes and forms NaN.
    #[inline(always)]
    pub(super) fn relax_neuron<S: Simd>(&mut self, neuron: usize, costs: &Costs) -> bool {
        let (zero, one) = (VectorOf::<S, T>::splat(T::default()), VectorOf::<S, T>::splat(T::above(1.0)));
        let (l, u) = (load::<S, T>(&self.room.lower[neuron]), load::<S, T>(&self.room.upper[neuron]));
        let off = not_negative::<S, T>(zero.sub(u));
        let on = not_negative::<S, T>(l) & !off;
        let terms = self.shape.inputs + 1;
        let forms = 2 * terms * neuron..2 * terms * (neuron + 1);
        let place = self.shape.inputs + neuron;
        let undecided = !(on | off);
        self.room.undecided[neuron] = undecided;
        (self.room.known_on[neuron], self.room.known_off[neuron]) = (on, off);
        zero.store(&mut self.room.gap[neuron]);
        if off == u16::MAX {
            zeros(&mut self.room.forms[forms]);
            self.room.size[place] = all(T::default());
            return false;
        }
        let slope = VectorOf::<S, T>::pick(on, one, zero);
        if undecided == 0 {
            slope.store(&mut self.room.alpha[neuron]);
            slope.store(&mut self.room.lambda[neuron]);
            zero.store(&mut self.room.drop[neuron]);
            zero.store(&mut self.room.fall[neuron]);
        } else {
            let chord = u.div(u.sub(l));
            let steep = u.above(zero.sub(l));
            let alpha = VectorOf::<S, T>::pick(steep, one, zero).add(chord.sub(chord));
            VectorOf::<S, T>::pick(undecided, alpha, slope).store(&mut self.room.alpha[neuron]);
            VectorOf::<S, T>::pick(undecided, chord, slope).store(&mut self.room.lambda[neuron]);
            let drop = Self::chord_cost::<S>(chord, l, u, costs);
            VectorOf::<S, T>::pick(undecided, drop, zero).store(&mut self.room.drop[neuron]);
            VectorOf::<S, T>::pick(undecided, zero.sub(l).min(u), zero).store(&mut self.room.fall[neuron]);
            self.keep_spread::<S>(neuron);
        }
        self.relax_forms::<S>(neuron, on, off);
        let size = size_of_forms::<S, T>(&self.room.forms[forms]);
        size.store(&mut self.room.size[place]);
        load::<S, T>(self.room.total).add(size).store(self.room.total);
        true
    }

    /// What a multiplier of −1 costs at most, if its ν is the chord's slope as rounded: the larger of −ν·l and (−1 − ν)·u in
    /// magnitude. Each is rounded a few times; ν itself differs from the product by a rounding, which costs a part of u.
    #[inline(always)]
    fn chord_cost<S: Simd>(
        chord: VectorOf<S, T>,
        l: VectorOf<S, T>,
        u: VectorOf<S, T>,
        costs: &Costs,
    ) -> VectorOf<S, T> {
        let (zero, one) = (VectorOf::<S, T>::splat(T::default()), VectorOf::<S, T>::splat(T::above(1.0)));
        // A NaN is kept: a chord of an infinite u is one, and the second product of an infinite l.
        let larger = one.sub(chord).mul(u).max(zero.sub(l).mul(chord));
        let more = VectorOf::<S, T>::splat(T::above(1.0 + costs.sums + 16.0 * T::RELATIVE));
        let part = VectorOf::<S, T>::splat(T::above(4.0 * T::RELATIVE));
        larger.mul_add(more, u.mul_add(part, VectorOf::<S, T>::splat(T::NORMAL)))
    }

    /// How the lower form moves with each input, for the choice of a side to halve.
    #[inline(always)]
    fn keep_spread<S: Simd>(&mut self, neuron: usize) {
        let (inputs, terms) = (self.shape.inputs, self.shape.inputs + 1);
        let form = &self.room.forms[2 * terms * neuron..2 * terms * neuron + terms];
        let all = swing::<S, T>(form).add(VectorOf::<S, T>::splat(T::NORMAL));
        for (to, a) in self.room.spread[inputs * neuron..inputs * (neuron + 1)].iter_mut().zip(&form[1..]) {
            load::<S, T>(a).abs().div(all).store(to);
        }
    }

    /// Replaces the forms of z by those of max(z, 0).
    ///
    /// Below: a·L for a = 1 or 0, by which of L's ends is farther from 0. Above: U(t) ≥ z ≥ l, so the chord of max(·, 0) over
    /// [p, u] with p = max(least U, l) is above max(z, 0) wherever U ≤ u, and increasing beyond: λ·U + d with
    /// d ≥ max(−λ·p, (1 − λ)·u) for λ as rounded.
    #[inline(always)]
    fn relax_forms<S: Simd>(&mut self, neuron: usize, on: u16, off: u16) {
        let (zero, one) = (VectorOf::<S, T>::splat(T::default()), VectorOf::<S, T>::splat(T::above(1.0)));
        if on == u16::MAX {
            return;
        }
        let terms = self.shape.inputs + 1;
        let (l, u) = (load::<S, T>(&self.room.lower[neuron]), load::<S, T>(&self.room.upper[neuron]));
        let forms = &mut self.room.forms[2 * terms * neuron..2 * terms * (neuron + 1)];
        let (lower, upper) = forms.split_at_mut(terms);
        let (down, top) = (least::<S, T>(lower), greatest::<S, T>(lower));
        let steep = top.above(zero.sub(down)) | on;
        let keep = VectorOf::<S, T>::pick(steep & !off, one, zero);
        for a in lower {
            load::<S, T>(a).mul(keep).store(a);
        }
        let p = least::<S, T>(upper).max(l);
        let bent = !not_negative::<S, T>(p) & !on;
        let slope = VectorOf::<S, T>::pick(bent, u.div(u.sub(p)), one);
        let slope = VectorOf::<S, T>::pick(off, zero, slope);
        let lift = zero.sub(p).mul(slope).max(one.sub(slope).mul(u));
        let lift = lift.mul(VectorOf::<S, T>::splat(T::above(1.0 + 16.0 * T::RELATIVE)));
        let lift = VectorOf::<S, T>::pick(bent & !off, lift, zero);
        let size = load::<S, T>(&upper[0]).abs().add(swing::<S, T>(upper)).mul(slope).add(lift);
        for a in &mut *upper {
            load::<S, T>(a).mul(slope).store(a);
        }
        let part = VectorOf::<S, T>::splat(T::above(room::roundings::<T>(terms)));
        let charge = size.mul_add(part, VectorOf::<S, T>::splat(T::NORMAL));
        let charge = VectorOf::<S, T>::pick(bent & !off, charge, zero);
        load::<S, T>(&upper[0]).add(lift).add(charge).store(&mut upper[0]);
    }
}

/// The lanes that are finite and at least 0.
#[inline(always)]
fn not_negative<S: Simd, T: Rounding>(value: VectorOf<S, T>) -> u16 {
    let (zero, one) = (VectorOf::<S, T>::splat(T::default()), VectorOf::<S, T>::splat(T::above(1.0)));
    // x − x is 0 of finite numbers and NaN of others, for which no comparison holds.
    one.above(value.sub(value)) & !zero.above(value)
}
