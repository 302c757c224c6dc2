//! Any bytes as an ONNX or NNet model, through the whole compiler up to the files: errors are fine, panics are not.
//!
//! `cargo install cargo-fuzz`, then in `codegen/`: `cargo fuzz run read -- -max_len=4096`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pg_codegen::lower::{Runtime, lower};
use pg_codegen::read::read_as;
use pg_codegen::{emit, normalise};

fuzz_target!(|bytes: &[u8]| {
    for name in ["fuzz.onnx", "fuzz.nnet"] {
        if let Ok(model) = read_as(bytes, name)
            && let Ok(net) = normalise::normalise(model, |_, _| {})
            && let Ok(plan) = lower(net, None, Runtime::Version("0".into()))
        {
            emit::emit(&plan);
        }
    }
});
