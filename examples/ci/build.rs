//! Compiles the network to Rust, and again whenever its file changes.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    pg_codegen::build::compile("model/controller.onnx")?;
    Ok(())
}
