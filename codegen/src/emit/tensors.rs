//! The names and shapes of a model's inputs and outputs, where it has several.

use super::maps::size;
use crate::lower::Plan;
use crate::read::Declared;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// The name of the table, the method that looks into it, and what it holds.
fn tables(plan: &Plan) -> impl Iterator<Item = (Ident, Ident, &[Declared])> {
    let source = &plan.net.source;
    let sides =
        [("INPUT_TENSORS", "input_tensor", &source.inputs), ("OUTPUT_TENSORS", "output_tensor", &source.outputs)];
    let several = sides.into_iter().filter(|(_, _, tensors)| !tensors.is_empty());
    several.map(|(table, method, tensors)| (format_ident!("{table}"), format_ident!("{method}"), &tensors[..]))
}

pub fn import(plan: &Plan) -> Option<TokenStream> {
    tables(plan).next().map(|_| quote!(, Tensor))
}

pub fn declarations(plan: &Plan) -> TokenStream {
    let tables = tables(plan).map(|(table, _, tensors)| {
        let count = size(tensors.len());
        let entries = tensors.iter().map(|Declared { name, shape }| {
            let shape = shape.iter().map(|&d| size(d));
            quote!(Tensor { name: #name, shape: &[#(#shape),*] })
        });
        quote!(static #table: [Tensor; #count] = [#(#entries),*];)
    });
    tables.collect()
}

pub fn methods(plan: &Plan) -> TokenStream {
    let methods = tables(plan).map(|(table, method, _)| {
        quote! {
            fn #method(&self, number: usize) -> Option<Tensor<'_>> {
                #table.get(number).copied()
            }
        }
    });
    methods.collect()
}
