//! The Rust text of an embedded crate: weights and one line a stage, for evaluation and for bounds.

use super::device::Device;
use super::question::Linear;
use super::weights::{storage, suffix};
use crate::emit::maps::size;
use crate::emit::network::{activations, print};
use crate::emit::weights::file_name;
use crate::lower::Storage;
use crate::net::{Edge, Map, Stage};
use pg_core::Source;
use pg_core::sweep::{ARITHMETIC, REPLICATION};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// The modules of the crate.
pub const MODULES: [&str; 4] = ["bound", "certify", "map", "network"];

pub fn library(device: &Device) -> String {
    let about =
        format!(" {}: one fixed network, evaluated and certified without an operating system or a heap.", device.name);
    let (modules, exports) = (MODULES.map(|module| format_ident!("{module}")), exports(device));
    print(
        &device.net,
        quote! {
            #![doc = #about]
            #![no_std]
            #![forbid(unsafe_code)]

            #(mod #modules;)*

            #(#exports)*
        },
    )
}

/// What the modules have for others.
pub fn exports(device: &Device) -> Vec<TokenStream> {
    let regions = (!device.regions.is_empty()).then(|| {
        quote!(
            pub use network::{REGIONS, Region, proved};
        )
    });
    let classes = (device.classes() > 0).then(|| {
        quote!(
            pub use certify::{Verdict, certify};
        )
    });
    let property = (!device.question.disjuncts.is_empty()).then(|| {
        quote!(
            pub use certify::{Answer, certify_property};
        )
    });
    let scratch = quote!(
        pub use certify::Scratch;
    );
    let network = quote!(
        pub use network::{ARITHMETIC, DOMAIN, INPUTS, MODEL_SHA256, OUTPUTS, REPLICATION, eval};
    );
    [Some(scratch), classes, property, Some(network), regions].into_iter().flatten().collect()
}

/// The edges of a stage, each with what names end with.
fn edges(k: usize, stage: &Stage) -> impl Iterator<Item = (String, &Edge)> {
    let count = stage.edges.len();
    stage.edges.iter().enumerate().map(move |(e, edge)| (suffix(k, e, count), edge))
}

pub fn network(device: &Device) -> String {
    let net = &device.net;
    let stages = || net.stages.iter().enumerate();
    let declarations = stages().map(|(k, stage)| declaration(k, stage));
    let kinds = stages().flat_map(|(_, stage)| &stage.edges).map(|edge| &edge.map);
    let uses = imports(&kinds.collect::<Vec<_>>(), net.stages.len() > 1);
    let (inputs, outputs) = (size(net.inputs), size(net.outputs()));
    let sha256 = bytes(&net.source.sha256);
    let domain = device.question.domain.iter().map(|(l, u)| quote!((#l, #u)));
    let lines = stages().map(|(k, stage)| eval_line(device, k, stage));
    let cut = net.source.ending.name().map(|name| format!(" These are scores: the model's last {name} is cut."));
    let cut: Vec<String> = cut.into_iter().collect();
    let regions = regions(device);
    print(
        net,
        quote! {
            //! The network: its weights, and its stages in order.

            #uses

            pub const INPUTS: usize = #inputs;
            pub const OUTPUTS: usize = #outputs;
            /// Of the model's bytes.
            pub const MODEL_SHA256: [u8; 32] = #sha256;
            /// The arithmetic of [`eval`], and the replication criterion that it meets: the same bits on every machine.
            pub const ARITHMETIC: &str = #ARITHMETIC;
            pub const REPLICATION: &str = #REPLICATION;
            /// The inputs that the network is meant for.
            pub static DOMAIN: [(f32, f32); INPUTS] = [#(#domain),*];

            #(#declarations)*
            #regions

            /// Evaluates one input in the declared arithmetic.
            #(#[doc = #cut])*
            pub fn eval(x: &[f32; INPUTS]) -> [f32; OUTPUTS] {
                #(#lines)*
            }
        },
    )
}

fn imports(maps: &[&Map], relu: bool) -> TokenStream {
    let any = |is: fn(&Map) -> bool| maps.iter().any(|map| is(map));
    let stored = |is: fn(&Map) -> bool| maps.iter().any(|map| is(map) && storage(map) == Storage::Bytes);
    let is_dense = |map: &Map| matches!(map, Map::Dense(_));
    let is_sparse = |map: &Map| matches!(map, Map::Sparse(_));
    let is_conv = |map: &Map| matches!(map, Map::Conv { .. });
    let names = [
        (any(is_conv), "Conv"),
        (any(is_dense), "Dense"),
        (true, "Map"),
        (any(is_sparse), "Sparse"),
        (stored(is_sparse), "floats"),
        (stored(is_sparse), "indices"),
        (any(is_sparse), "is_within"),
        (stored(is_dense) || stored(is_conv), "matrix"),
        (relu, "relu"),
    ];
    let names = names.into_iter().filter(|(wanted, _)| *wanted).map(|(_, name)| format_ident!("{name}"));
    quote!(use super::map::{#(#names),*};)
}

/// The maps of a stage, its biases and errors.
fn declaration(k: usize, stage: &Stage) -> TokenStream {
    let width = size(stage.width());
    let maps = edges(k, stage).map(|(suffix, edge)| map(&suffix, edge, stage.width()));
    let number = (k + 1).to_string();
    let vector = |what: &str| {
        let (name, file) = (format_ident!("{}_{number}", what.to_uppercase()), file_name(what, &number, Storage::Text));
        quote!(pub static #name: [f32; #width] = include!(#file);)
    };
    let bias = vector("bias");
    let errors = ["weight_error", "bias_error"].map(vector);
    let errors = errors.iter().filter(|_| !stage.error.is_zero());
    quote! {
        #(#maps)*
        #bias
        #(#errors)*
    }
}

fn map(suffix: &str, edge: &Edge, width: usize) -> TokenStream {
    let (name, inputs, width) = (format_ident!("MAP_{suffix}"), size(edge.map.cols()), size(width));
    let stored = storage(&edge.map);
    let file = |what: &str| file_name(what, suffix, stored);
    let value = |what: &str, reader: &str| {
        let (file, reader) = (file(what), format_ident!("{reader}"));
        match stored {
            Storage::Text => quote!(include!(#file)),
            Storage::Bytes => quote!(#reader(include_bytes!(#file))),
        }
    };
    match &edge.map {
        Map::Dense(_) => {
            let weight = value("weight", "matrix");
            quote!(pub static #name: Dense<#inputs, #width> = Dense(#weight);)
        }
        Map::Sparse(rows) => {
            let (starts, entries) = (size(rows.starts.len()), size(rows.values.len()));
            let (start, column, number) =
                (value("starts", "indices"), value("columns", "indices"), value("values", "floats"));
            quote! {
                pub static #name: Sparse<#inputs, #width, #starts, #entries> =
                    Sparse { starts: #start, columns: #column, values: #number };
                const _: () = assert!(is_within(&#name.starts, &#name.columns, #inputs));
            }
        }
        Map::Conv { geometry, .. } => {
            let (taps, channels) = (size(geometry.patch()), size(geometry.output[0]));
            let kernel = value("kernel", "matrix");
            let list = |numbers: &[usize]| {
                let numbers = numbers.iter().map(|&n| size(n));
                quote!([#(#numbers),*])
            };
            let (input, output, window) = (list(&geometry.input), list(&geometry.output), list(&geometry.kernel));
            let (stride, dilation, pad) = (list(&geometry.stride), list(&geometry.dilation), list(&geometry.pad));
            let group = list(&[geometry.group_channels(), geometry.group_outputs()]);
            quote! {
                pub static #name: Conv<#inputs, #width, #taps, #channels> = Conv {
                    kernel: #kernel,
                    input: #input,
                    output: #output,
                    size: #window,
                    stride: #stride,
                    dilation: #dilation,
                    pad: #pad,
                    group: #group
                };
            }
        }
    }
}

/// A stage of `eval`.
fn eval_line(device: &Device, k: usize, stage: &Stage) -> TokenStream {
    let is_last = k + 1 == device.net.stages.len();
    let (h, bias) = (if is_last { format_ident!("y") } else { activations(k) }, format_ident!("BIAS_{}", k + 1));
    let adds = edges(k, stage).map(|(suffix, edge)| {
        let map = format_ident!("MAP_{suffix}");
        match edge.from {
            Source::Input => quote!(#map.add(x, &mut #h);),
            Source::Stage(s) => {
                let from = activations(s);
                quote!(#map.add(&#from, &mut #h);)
            }
        }
    });
    let end = if is_last { quote!(#h) } else { quote!(relu(&mut #h);) };
    quote! {
        let mut #h = #bias;
        #(#adds)*
        #end
    }
}

fn regions(device: &Device) -> Option<TokenStream> {
    if device.regions.is_empty() {
        return None;
    }
    let count = size(device.regions.len());
    let regions = device.regions.iter().map(|region| {
        let (lower, upper) = (region.sides.iter().map(|side| side.0), region.sides.iter().map(|side| side.1));
        let (property, certificate, name) = (bytes(&region.property), bytes(&region.certificate), &region.name);
        let arithmetic = &region.arithmetic;
        quote! {
            Region {
                lower: [#(#lower),*],
                upper: [#(#upper),*],
                name: #name,
                property: #property,
                certificate: #certificate,
                arithmetic: #arithmetic
            }
        }
    });
    Some(quote! {
        /// A box of inputs on which a property was proved before this crate was generated.
        pub struct Region {
            pub lower: [f32; INPUTS],
            pub upper: [f32; INPUTS],
            /// The property's file, and SHA-256 of it and of the certificate that was accepted.
            pub name: &'static str,
            pub property: [u8; 32],
            pub certificate: [u8; 32],
            /// What the proof is about: `real`, the network in real numbers, or `float32`, the program that `eval` is.
            pub arithmetic: &'static str,
        }

        pub static REGIONS: [Region; #count] = [#(#regions),*];

        /// The first region that holds an input.
        pub fn proved(x: &[f32; INPUTS]) -> Option<&'static Region> {
            REGIONS.iter().find(|region| {
                let sides = region.lower.iter().zip(&region.upper);
                x.iter().zip(sides).all(|(x, (lower, upper))| lower <= x && x <= upper)
            })
        }
    })
}

/// Hexadecimal digits as an array of bytes.
fn bytes(digits: &str) -> TokenStream {
    let bytes = (0..digits.len() / 2).map(|k| u8::from_str_radix(&digits[2 * k..2 * k + 2], 16).expect("hexadecimal"));
    quote!([#(#bytes),*])
}

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
