//! The float32 program of a network in every order that its declared arithmetic may be told apart from, at all inputs of a
//! tiny box.
//!
//! It shares no code with the kernels: sums are written out term by term.

use pg_core::{Shape, Source};

/// In which order a neuron's products and its bias are added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// The bias, then the products as they are listed.
    Ascending,
    /// The bias, then the products from the last to the first.
    Descending,
    /// The products as they are listed, then the bias.
    BiasLast,
    /// Halves of the list by themselves.
    Pairwise,
    /// So many sums side by side.
    Lanes(usize),
}

/// An order, and whether a product is rounded before it is added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arithmetic {
    pub order: Order,
    pub is_fused: bool,
}

impl Arithmetic {
    pub fn all() -> impl Iterator<Item = Arithmetic> {
        let orders =
            [Order::Ascending, Order::Descending, Order::BiasLast, Order::Pairwise, Order::Lanes(2), Order::Lanes(4)];
        orders.into_iter().flat_map(|order| [false, true].map(|is_fused| Arithmetic { order, is_fused }))
    }

    /// A bias and products, summed up.
    pub fn sum(self, bias: f32, products: &[(f32, f32)]) -> f32 {
        let add = |sum: f32, &(w, h): &(f32, f32)| if self.is_fused { w.mul_add(h, sum) } else { sum + w * h };
        match self.order {
            Order::Ascending => products.iter().fold(bias, add),
            Order::Descending => products.iter().rev().fold(bias, add),
            Order::BiasLast => products.iter().fold(0.0, add) + bias,
            Order::Pairwise => bias + pairwise(products, &add),
            Order::Lanes(count) => {
                let mut lanes = vec![0.0; count];
                products.iter().enumerate().for_each(|(k, product)| lanes[k % count] = add(lanes[k % count], product));
                lanes.iter().fold(bias, |sum, lane| sum + lane)
            }
        }
    }

    /// The outputs at an input.
    pub fn eval(self, shape: &Shape, x: &[f32]) -> Vec<f32> {
        let mut values = vec![x.to_vec()];
        for (k, stage) in shape.stages.iter().enumerate() {
            let place = |source| if let Source::Stage(s) = source { s + 1 } else { 0 };
            let neuron = |j: usize| {
                let products: Vec<(f32, f32)> =
                    stage.terms(j).map(|(from, i, w)| (w, values[place(from)][i])).collect();
                let z = self.sum(stage.bias[j], &products);
                if k < shape.last() && z < 0.0 { 0.0 } else { z }
            };
            let next = (0..stage.width()).map(neuron).collect();
            values.push(next);
        }
        values.pop().expect("the outputs")
    }
}

fn pairwise(products: &[(f32, f32)], add: &dyn Fn(f32, &(f32, f32)) -> f32) -> f32 {
    match products {
        [] => 0.0,
        [one] => add(0.0, one),
        [one, other] => add(add(0.0, one), other),
        _ => {
            let (first, second) = products.split_at(products.len() / 2);
            pairwise(first, add) + pairwise(second, add)
        }
    }
}

/// All float32 points of a box with these ends.
pub fn points(lower: &[f32], upper: &[f32]) -> Vec<Vec<f32>> {
    let mut all = vec![vec![]];
    for (&l, &u) in lower.iter().zip(upper) {
        let floats: Vec<f32> = std::iter::successors(Some(l), |x| Some(x.next_up())).take_while(|x| *x <= u).collect();
        all = all.iter().flat_map(|x: &Vec<f32>| floats.iter().map(|&v| [&x[..], &[v]].concat())).collect();
    }
    all
}
