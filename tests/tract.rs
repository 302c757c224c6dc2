//! tract, an implementation of ONNX that shares nothing with ours.

use tract_onnx::prelude::*;
use tract_onnx::tract_hir::infer::Factoid;
use tract_onnx::tract_hir::internal::DimLike;

/// The shape of one output and the outputs for all inputs, which stand one after the other in `x`.
pub fn run(model: &[u8], shape: &[usize], x: &[f32]) -> TractResult<(Vec<usize>, Vec<f32>)> {
    let mut model = tract_onnx::onnx().model_for_read(&mut &*model)?;
    let element = model.input_fact(0)?.datum_type.concretize().unwrap_or(f32::datum_type());
    model.set_input_fact(0, InferenceFact::dt_shape(element, shape))?;
    let runnable = model.into_optimized()?.into_runnable()?;
    let (mut output, mut y) = (vec![], vec![]);
    for row in x.chunks(shape.iter().product()) {
        let input = Tensor::from_shape(shape, row)?.cast_to_dt(element)?.into_owned();
        let result = runnable.run(tvec!(input.into()))?;
        let result = result[0].cast_to::<f32>()?;
        output = result.shape().to_vec();
        y.extend(result.to_plain_array_view::<f32>()?.iter());
    }
    Ok((output, y))
}

/// The shape of one input, with 1 for what the model leaves open.
#[allow(dead_code, reason = "not every test needs it")]
pub fn input_shape(model: &[u8]) -> TractResult<Vec<usize>> {
    let model = tract_onnx::onnx().model_for_read(&mut &*model)?;
    let dims = model.input_fact(0)?.shape.dims();
    Ok(dims.map(|dim| dim.concretize().and_then(|dim| dim.to_usize().ok()).unwrap_or(1)).collect())
}
