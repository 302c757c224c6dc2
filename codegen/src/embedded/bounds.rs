//! The Rust text of an embedded crate's bounds: one line a stage and a way back, straight from the network.

use super::device::Device;
use super::question::Linear;
use super::text::edges;
use crate::emit::maps::size;
use crate::emit::network::{activations, print};
use pg_core::Source;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// The names of the scratch's parts for what a stage reads: ranges and coefficients.
fn parts(source: Source) -> (Ident, Ident) {
    match source {
        Source::Input => (format_ident!("x"), format_ident!("mu_x")),
        Source::Stage(s) => (activations(s), format_ident!("mu_{}", s + 1)),
    }
}

fn stage_name(k: usize) -> Ident {
    format_ident!("stage_{}", k + 1)
}

/// 4·(n + 16)·2⁻²⁴: exact in float32 for as many terms as are allowed.
fn kappa(terms: usize) -> f32 {
    (4 * (terms + 16)) as f32 * (0.5 * f32::EPSILON)
}

pub fn certify(device: &Device) -> String {
    let (scratch, bound, back, row) = (scratch(device), bound(device), back(device), row(device));
    let refinements = (0..device.net.stages.len()).filter(|&k| device.is_refined(k)).map(|k| refinement(device, k));
    let classes = (device.classes() > 0).then(classes);
    let property = property(device);
    let underflow = quote!(underflow);
    print(
        &device.net,
        quote! {
            //! Certification: bounds of all neurons over the inputs near a point, and of what is asked of the outputs.

            use super::bound::{Ranges, Rule, Stage, Sums, #underflow};
            use super::map::Map;
            use super::network::*;

            #scratch
            #bound
            #(#refinements)*
            #back
            #row
            #classes
            #property
        },
    )
}

/// What bounds need room for: its size is all the memory that certification takes beside the stack.
fn scratch(device: &Device) -> TokenStream {
    let inputs = size(device.net.inputs);
    let mut fields = vec![quote!(x: Ranges<#inputs>), quote!(mu_x: [f32; #inputs])];
    let mut values = vec![quote!(x: Ranges::new()), quote!(mu_x: [0.0; #inputs])];
    for (k, stage) in device.net.stages.iter().enumerate() {
        let (name, width) = (stage_name(k), size(stage.width()));
        fields.push(quote!(#name: Stage<#width>));
        values.push(quote!(#name: Stage::new()));
        if k + 1 < device.net.stages.len() {
            let (ranges, mu) = parts(Source::Stage(k));
            fields.extend([quote!(#ranges: Ranges<#width>), quote!(#mu: [f32; #width])]);
            values.extend([quote!(#ranges: Ranges::new()), quote!(#mu: [0.0; #width])]);
        }
    }
    quote! {
        /// All the memory that certification takes beside the stack.
        pub struct Scratch {
            #(#fields,)*
            underflow: f32,
        }

        impl Scratch {
            pub const fn new() -> Scratch {
                Scratch { #(#values,)* underflow: 0.0 }
            }
        }

        impl Default for Scratch {
            fn default() -> Scratch {
                Scratch::new()
            }
        }
    }
}

/// Bounds of all neurons near a point.
fn bound(device: &Device) -> TokenStream {
    let terms = |n: usize| n as f32;
    let input_terms = terms(device.terms_back(Source::Input));
    let stages = device.net.stages.iter().enumerate().map(|(k, stage)| {
        let (name, bias) = (stage_name(k), format_ident!("BIAS_{}", k + 1));
        let reads = edges(k, stage).map(|(suffix, edge)| {
            let (map, (from, _)) = (format_ident!("MAP_{suffix}"), parts(edge.from));
            let errors = (!stage.error.is_zero()).then(|| {
                let (weight, bias) = (format_ident!("WEIGHT_ERROR_{}", k + 1), format_ident!("BIAS_ERROR_{}", k + 1));
                quote!(s.#name.rounded(&s.#from, &#weight, &#bias);)
            });
            quote! {
                s.#name.read(&#map, &s.#from);
                #errors
            }
        });
        let count = device.stage_terms(k);
        let (kappa, count) = (kappa(count), terms(count + 16));
        let refine = device.is_refined(k).then(|| {
            let refine = format_ident!("refine_{}", k + 1);
            quote!(#refine(s);)
        });
        let end = (k + 1 < device.net.stages.len()).then(|| {
            let ((ranges, _), terms) = (parts(Source::Stage(k)), terms(device.terms_back(Source::Stage(k))));
            quote!(s.underflow += s.#name.activations(&mut s.#ranges, #terms);)
        });
        quote! {
            s.#name.begin(&#bias);
            #(#reads)*
            is_finite &= s.#name.close(#kappa, #count);
            #refine
            #end
        }
    });
    quote! {
        /// Bounds every neuron over the inputs near a point; whether no sum of [`eval`] can overflow there. There is no answer where
        /// the point is no finite one of the domain, or the distance is no finite number of at least 0.
        fn bound(s: &mut Scratch, x: &[f32; INPUTS], eps: f32) -> Option<bool> {
            if !s.x.around(x, eps, &DOMAIN) {
                return None;
            }
            s.underflow = underflow(&s.x, #input_terms);
            let mut is_finite = true;
            #(#stages)*
            Some(is_finite)
        }
    }
}

/// Bounds of a stage's undecided neurons by rows of their own.
fn refinement(device: &Device, k: usize) -> TokenStream {
    let stage = &device.net.stages[k];
    let about = format!(" Bounds the undecided neurons of stage {} by rows of their own.", k + 1);
    let (refine, name, bias) = (format_ident!("refine_{}", k + 1), stage_name(k), format_ident!("BIAS_{}", k + 1));
    let (width, number) = (size(stage.width()), size(k));
    let adds = edges(k, stage).map(|(suffix, edge)| {
        let (map, (_, mu)) = (format_ident!("MAP_{suffix}"), parts(edge.from));
        quote!(#map.add_row(neuron, 1.0, &mut s.#mu);)
    });
    quote! {
        #[doc = #about]
        fn #refine(s: &mut Scratch) {
            for neuron in 0..#width {
                if s.#name.is_undecided(neuron) {
                    let mut sums = Sums::new(0.0, 0.0);
                    clear(s);
                    sums.neuron(&s.#name, &#bias, neuron, 1.0);
                    #(#adds)*
                    let bounds = back(s, sums, #number, Rule::Parallel);
                    s.#name.tighten(neuron, bounds);
                }
            }
        }
    }
}

/// A function of a stage's neurons on its way to the inputs.
fn back(device: &Device) -> TokenStream {
    let hidden = device.hidden();
    let mus = std::iter::once(Source::Input).chain((0..hidden.len()).map(Source::Stage)).map(|source| parts(source).1);
    let lines = hidden.iter().enumerate().rev().map(|(k, stage)| {
        let (name, bias, (_, mu)) = (stage_name(k), format_ident!("BIAS_{}", k + 1), parts(Source::Stage(k)));
        let adds = edges(k, stage).map(|(suffix, edge)| {
            let (map, (_, to)) = (format_ident!("MAP_{suffix}"), parts(edge.from));
            quote!(#map.add_back(&s.#mu, &mut s.#to);)
        });
        let number = size(k);
        quote! {
            if stages > #number {
                sums.relax(&s.#name, &#bias, &mut s.#mu, rule);
                #(#adds)*
            }
        }
    });
    let kappa = kappa(device.terms());
    let (unused, rule) = match hidden.is_empty() {
        true => (Some(quote!(let _ = (stages, rule);)), quote!(sums: Sums)),
        false => (None, quote!(mut sums: Sums)),
    };
    quote! {
        /// Forgets the coefficients of all activations.
        fn clear(s: &mut Scratch) {
            #(s.#mus.fill(0.0);)*
        }

        /// Takes a function of the activations of the first stages to the inputs, and bounds it.
        fn back(s: &mut Scratch, #rule, stages: usize, rule: Rule) -> (f32, f32) {
            #unused
            #(#lines)*
            sums.close(&s.mu_x, &s.x, #kappa, s.underflow)
        }
    }
}

/// A lower bound of a function of the outputs.
fn row(device: &Device) -> TokenStream {
    let k = device.net.stages.len() - 1;
    let (name, bias, number) = (stage_name(k), format_ident!("BIAS_{}", k + 1), size(k));
    let adds = edges(k, &device.net.stages[k]).map(|(suffix, edge)| {
        let (map, (_, mu)) = (format_ident!("MAP_{suffix}"), parts(edge.from));
        quote!(#map.add_row(output, times, &mut s.#mu);)
    });
    quote! {
        /// A lower bound of a linear function of the outputs, which begins as a constant with what is charged for it.
        fn lower_bound(s: &mut Scratch, coefficients: &[f32; OUTPUTS], constant: f32, charge: f32) -> f32 {
            let mut sums = Sums::new(constant, charge);
            clear(s);
            for (output, &times) in coefficients.iter().enumerate() {
                if times != 0.0 {
                    sums.neuron(&s.#name, &#bias, output, times);
                    #(#adds)*
                }
            }
            back(s, sums, #number, Rule::Adaptive).0
        }

        /// The smaller number; what is none is smaller than all.
        fn smaller(a: f32, b: f32) -> f32 {
            if a >= b {
                b
            } else if a < b {
                a
            } else {
                f32::NEG_INFINITY
            }
        }
    }
}

fn classes() -> TokenStream {
    quote! {
        /// What is known of the class of the inputs near a point. The margin is a lower bound of how far the class's output is above every
        /// other one.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Verdict {
            /// Every input of the domain within the distance has this class, in real numbers and by [`eval`].
            Robust { class: usize, margin: f32 },
            /// This was not shown; the class is that of the point itself.
            NotShown { class: usize, margin: f32 },
            /// The point is not finite or not in the domain, or the distance is negative or not finite.
            Outside,
        }

        /// Whether all inputs of the domain within `eps` of `x`, in every coordinate, have the class of `x`: the output that is highest,
        /// the first of equal ones.
        pub fn certify(x: &[f32; INPUTS], eps: f32, s: &mut Scratch) -> Verdict {
            let Some(is_finite) = bound(s, x, eps) else { return Verdict::Outside };
            let y = eval(x);
            let (mut class, mut highest) = (0, f32::NEG_INFINITY);
            for (output, &y) in y.iter().enumerate() {
                if y > highest {
                    (class, highest) = (output, y);
                }
            }
            if !is_finite {
                return Verdict::NotShown { class, margin: f32::NEG_INFINITY };
            }
            let mut margin = f32::INFINITY;
            for other in 0..OUTPUTS {
                if other != class {
                    let mut coefficients = [0.0; OUTPUTS];
                    if let Some(one) = coefficients.get_mut(class) {
                        *one = 1.0;
                    }
                    if let Some(one) = coefficients.get_mut(other) {
                        *one = -1.0;
                    }
                    margin = smaller(margin, lower_bound(s, &coefficients, 0.0, 0.0));
                }
            }
            if margin > 0.0 { Verdict::Robust { class, margin } } else { Verdict::NotShown { class, margin } }
        }
    }
}

/// The property: its rows, and whether some row of each disjunct is positive.
fn property(device: &Device) -> Option<TokenStream> {
    let disjuncts = &device.question.disjuncts;
    if disjuncts.is_empty() {
        return None;
    }
    let name = stage_name(device.net.stages.len() - 1);
    let row = |Linear { coefficients, errors, constant }: &Linear| quote!(Row { coefficients: [#(#coefficients),*], errors: [#(#errors),*], constant: #constant });
    let rows = disjuncts.iter().map(|rows| {
        let rows = rows.iter().map(row);
        quote!(&[#(#rows),*])
    });
    let count = size(disjuncts.len());
    Some(quote! {
        /// What is known of the property near a point. The margin is a lower bound of the row that excludes a disjunct best, for the
        /// disjunct that is excluded least.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Answer {
            /// No input of the domain within the distance violates it, in real numbers and by [`eval`].
            Holds { margin: f32 },
            NotShown { margin: f32 },
            /// The point is not finite or not in the domain, or the distance is negative or not finite.
            Outside,
        }

        /// A linear function of the outputs; the property's coefficients are within the errors of these.
        struct Row {
            coefficients: [f32; OUTPUTS],
            errors: [f32; OUTPUTS],
            constant: f32,
        }

        /// A counterexample has all rows of one of these at most 0.
        static DISJUNCTS: [&[Row]; #count] = [#(#rows),*];

        /// Whether no input of the domain within `eps` of `x`, in every coordinate, violates the property.
        pub fn certify_property(x: &[f32; INPUTS], eps: f32, s: &mut Scratch) -> Answer {
            let Some(is_finite) = bound(s, x, eps) else { return Answer::Outside };
            let mut margin = if is_finite { f32::INFINITY } else { f32::NEG_INFINITY };
            for rows in &DISJUNCTS {
                let mut best = f32::NEG_INFINITY;
                for row in rows.iter() {
                    let mut charge = 0.0;
                    for (error, (size, slop)) in row.errors.iter().zip(s.#name.size.iter().zip(&s.#name.error)) {
                        charge += error * (size + slop);
                    }
                    let bound = lower_bound(s, &row.coefficients, row.constant, charge);
                    best = if bound > best { bound } else { best };
                }
                margin = smaller(margin, best);
            }
            if margin > 0.0 { Answer::Holds { margin } } else { Answer::NotShown { margin } }
        }
    })
}
