//! tract, an implementation of ONNX that shares nothing with ours.

use tract_onnx::prelude::*;
use tract_onnx::tract_hir::infer::Factoid;

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
