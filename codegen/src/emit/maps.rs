//! The Rust text of a stage's maps: their weights, and the map of constant sizes that evaluation calls.

use super::weights::file_name;
use crate::lower::{EdgePlan, Kind, Plan, Storage};
use pg_core::Source;
use pg_core::map::Geometry;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

/// What the maps need, and what applies them.
pub fn imports(plan: &Plan) -> TokenStream {
    let edges = || plan.stages.iter().flat_map(|stage| &stage.edges);
    let any = |is: fn(&EdgePlan) -> bool| edges().any(is);
    let dense = any(|edge| matches!(edge.kind, Kind::Dense { .. }));
    let packed = any(|edge| matches!(edge.kind, Kind::Dense { .. }) && edge.storage == Storage::Text);
    let conv = any(|edge| matches!(edge.kind, Kind::Conv(_)));
    let packed_conv = any(|edge| matches!(edge.kind, Kind::Conv(_)) && edge.storage == Storage::Text);
    let sparse = any(|edge| matches!(edge.kind, Kind::Sparse { .. }));
    let bytes = any(|edge| edge.storage == Storage::Bytes);
    let line = |wanted: bool, line: TokenStream| if wanted { line } else { TokenStream::new() };
    let names = |names: &[(bool, &str)]| -> Vec<Ident> {
        names.iter().filter(|(wanted, _)| *wanted).map(|(_, name)| format_ident!("{name}")).collect()
    };
    let relu = plan.stages.len() > 1;
    let kernel = names(&[
        (conv, "Lanes"),
        (dense, "Layer"),
        (true, "Linear"),
        (dense, "Panel"),
        (true, "Simd"),
        (true, "Vectorised"),
        (true, "dispatch"),
        (packed, "pack"),
        (packed, "pack_back"),
        (packed_conv, "pack_kernel"),
        (relu, "relu"),
        (relu, "relu_batch"),
    ]);
    let map = names(&[(conv, "Conv"), (conv, "Geometry"), (sparse, "Sparse")]);
    let lines = [
        line(
            bytes,
            quote!(
                use pg_core::blob;
            ),
        ),
        quote!(use pg_core::kernel::{#(#kernel),*};),
        line(!map.is_empty(), quote!(use pg_core::map::{#(#map),*};)),
    ];
    quote!(#(#lines)*)
}

/// The weights of a map to so many neurons, and the map.
pub fn declaration(edge: &EdgePlan, outputs: usize) -> TokenStream {
    let name = |what: &str| format_ident!("{what}_{}", edge.suffix);
    let file = |what: &str| file_name(what, &edge.suffix, edge.storage);
    let (map, inputs, neurons) = (name("MAP"), size(edge.inputs), size(outputs));
    match &edge.kind {
        Kind::Dense { panels, back_panels } => {
            let (weight, back, panels, back_panels) = (name("WEIGHT"), name("BACK"), size(*panels), size(*back_panels));
            let (file, back_file) = (file("weight"), file("back"));
            let (value, back_value) = match edge.storage {
                Storage::Text => (
                    quote!(pack::<#inputs, #neurons, #panels>(&include!(#file))),
                    quote!(pack_back::<#inputs, #neurons, #back_panels>(&include!(#file))),
                ),
                Storage::Bytes => (quote!(blob!(#file)), quote!(blob!(#back_file))),
            };
            quote! {
                static #weight: [Panel<#inputs>; #panels] = #value;
                static #back: [Panel<#neurons>; #back_panels] = #back_value;
                static #map: Layer<#inputs, #neurons, #panels> = Layer::new(&#weight);
            }
        }
        Kind::Sparse { entries } => {
            let (entries, rows) = (size(*entries), size(outputs + 1));
            let (starts, columns, values) = (name("STARTS"), name("COLUMNS"), name("VALUES"));
            let read = |what: &str| {
                let file = file(what);
                match edge.storage {
                    Storage::Text => quote!(include!(#file)),
                    Storage::Bytes => quote!(blob!(#file)),
                }
            };
            let (starts_read, columns_read, values_read) = (read("starts"), read("columns"), read("values"));
            quote! {
                static #starts: [u32; #rows] = #starts_read;
                static #columns: [u32; #entries] = #columns_read;
                static #values: [f32; #entries] = #values_read;
                static #map: Sparse = Sparse::new(#inputs, &#starts, &#columns, &#values);
            }
        }
        Kind::Conv(geometry) => {
            let (window, kernel) = (name("GEOMETRY"), name("KERNEL"));
            let (patch, channels, lanes) = (size(geometry.patch()), size(geometry.output[0]), size(geometry.lanes()));
            let (file, fields) = (file("kernel"), fields(geometry));
            let value = match edge.storage {
                Storage::Text => quote!(pack_kernel::<#patch, #channels, #lanes>(&#window, &include!(#file))),
                Storage::Bytes => quote!(blob!(#file)),
            };
            quote! {
                const #window: Geometry = #fields;
                static #kernel: [Lanes; #lanes] = #value;
                static #map: Conv = Conv::new(#window, &#kernel);
            }
        }
    }
}

fn fields(geometry: &Geometry) -> TokenStream {
    let list = |numbers: &[usize]| {
        let numbers = numbers.iter().map(|&n| size(n));
        quote!([#(#numbers),*])
    };
    let Geometry { input, output, kernel, stride, dilation, pad, groups } = geometry;
    let (input, output, kernel) = (list(input), list(output), list(kernel));
    let (stride, dilation, pad, groups) = (list(stride), list(dilation), list(pad), size(*groups));
    quote! {
        Geometry {
            input: #input,
            output: #output,
            kernel: #kernel,
            stride: #stride,
            dilation: #dilation,
            pad: #pad,
            groups: #groups
        }
    }
}

/// The map as data, with what it reads.
pub fn edge(edge: &EdgePlan) -> TokenStream {
    let (map, back) = (format_ident!("MAP_{}", edge.suffix), format_ident!("BACK_{}", edge.suffix));
    let from = match edge.from {
        Source::Input => quote!(Source::Input),
        Source::Stage(s) => {
            let s = size(s);
            quote!(Source::Stage(#s))
        }
    };
    match edge.kind {
        Kind::Dense { .. } => quote!(Edge::dense(#from, #map.map(&#back))),
        Kind::Sparse { .. } => quote!(Edge::sparse(#from, #map)),
        Kind::Conv(_) => quote!(Edge::conv(#from, #map)),
    }
}

pub fn size(n: usize) -> Literal {
    Literal::usize_unsuffixed(n)
}
