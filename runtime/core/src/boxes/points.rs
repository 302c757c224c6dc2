//! Points of the boxes: values of all neurons there, slopes that fit them, and which input moves the relaxation most.

use super::forward::load;
use super::room::place;
use super::*;
use crate::map::Map;

/// Neurons whose sums are kept in registers together.
const NEURONS: usize = 8;

impl<T: Rounding> Pass<'_, '_, '_, T> {
    /// Evaluates the network at a point of each lane: the inputs are the first values of the room, which gets all others. To
    /// nearest: nothing rests on it.
    #[inline(always)]
    pub fn evaluate<S: Simd>(&mut self) {
        for stage in 0..self.shape.stages.len() {
            let width = self.shape.stages[stage].width();
            let mut from = 0;
            while from < width {
                self.evaluate_some::<S>(stage, from, NEURONS.min(width - from));
                from += NEURONS;
            }
        }
    }

    #[inline(always)]
    fn evaluate_some<S: Simd>(&mut self, stage: usize, from: usize, count: usize) {
        let data = &self.shape.stages[stage];
        let neuron = |n: usize| from + n.min(count - 1);
        let mut sums = [VectorOf::<S, T>::splat(T::default()); NEURONS];
        for n in 0..NEURONS {
            sums[n] = VectorOf::<S, T>::splat(T::widen(data.bias[neuron(n)]));
        }
        for edge in data.edges {
            let at = place(self.shape, edge.from);
            let values = &self.room.value[at..at + edge.map.cols()];
            match &edge.map {
                Map::Dense(map) => {
                    let columns: [&[Lanes]; NEURONS] = core::array::from_fn(|n| map.column(neuron(n)).0);
                    let lanes: [usize; NEURONS] = core::array::from_fn(|n| neuron(n) % PANEL);
                    for (i, value) in values.iter().enumerate() {
                        let value = load::<S, T>(value);
                        for n in 0..NEURONS {
                            let w = VectorOf::<S, T>::splat(T::widen(columns[n][i].0[lanes[n]]));
                            sums[n] = w.mul_add(value, sums[n]);
                        }
                    }
                }
                map => {
                    for n in 0..count {
                        for (i, w) in map.row(from + n) {
                            let w = VectorOf::<S, T>::splat(T::widen(w));
                            sums[n] = w.mul_add(load::<S, T>(&values[i]), sums[n]);
                        }
                    }
                }
            }
            self.room.work += (count * edge.map.cols()) as u64;
        }
        let at = place(self.shape, Source::Stage(stage)) + from;
        let zero = VectorOf::<S, T>::splat(T::default());
        for n in 0..count {
            let value = if stage < self.shape.last() { zero.max(sums[n]) } else { sums[n] };
            value.store(&mut self.room.value[at + n]);
        }
    }

    /// Slopes of undecided neurons as their phases are at the points evaluated last: 1 where they are on, else 0.
    #[inline(always)]
    pub fn follow_points<S: Simd>(&mut self) {
        let (zero, one) = (VectorOf::<S, T>::splat(T::default()), VectorOf::<S, T>::splat(T::above(1.0)));
        for neuron in 0..self.room.undecided.len() {
            let lanes = self.room.undecided[neuron];
            if lanes != 0 {
                let on = load::<S, T>(&self.room.value[self.shape.inputs + neuron]).above(zero);
                let alpha = load::<S, T>(&self.room.alpha[neuron]);
                // A slope that is NaN stays one.
                let slope = VectorOf::<S, T>::pick(on, one, zero).add(alpha.sub(alpha));
                VectorOf::<S, T>::pick(lanes, slope, alpha).store(&mut self.room.alpha[neuron]);
            }
        }
    }

    /// For each input, what the relaxation of the neurons costs the rows bounded so far, each cost shared out to the inputs that
    /// move the neuron: the smear of interval methods.
    #[inline(always)]
    pub fn smear<S: Simd>(&self, into: &mut [Lanes<T>]) {
        let inputs = self.shape.inputs;
        into.fill(room::all(T::default()));
        for (neuron, &lanes) in self.room.undecided.iter().enumerate().filter(|(_, lanes)| **lanes != 0) {
            let zero = VectorOf::<S, T>::splat(T::default());
            let gap = VectorOf::<S, T>::pick(lanes, load::<S, T>(&self.room.gap[neuron]), zero);
            for (to, part) in into.iter_mut().zip(&self.room.spread[inputs * neuron..inputs * (neuron + 1)]) {
                gap.mul_add(load::<S, T>(part), load::<S, T>(to)).store(to);
            }
        }
    }
}
