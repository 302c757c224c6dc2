//! The Rust text of an embedded crate but for its bounds: the library, weights and one line a stage for evaluation.

use super::device::Device;
use super::weights::{storage, suffix};
use crate::emit::maps::size;
use crate::emit::network::{activations, print};
use crate::emit::weights::file_name;
use crate::lower::Storage;
use crate::net::{Edge, Map, Stage};
use pg_core::Source;
use pg_core::sweep::{ARITHMETIC, REPLICATION};
use proc_macro2::TokenStream;
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
pub fn edges(k: usize, stage: &Stage) -> impl Iterator<Item = (String, &Edge)> {
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
