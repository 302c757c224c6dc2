//! Constant tensors: raw or typed data, floats, the integers that shapes are made of, and truth values as 0 and 1.

use super::proto::{DataType, TensorProto};
use crate::approx::Approx;
use crate::graph::Tensor;

/// The tensor's entries, all finite. Integers beyond 2⁵³ round: they only occur as "to the end" in slices.
pub fn tensor(proto: &TensorProto) -> Result<Tensor, String> {
    let shape = shape(proto)?;
    let data = match DataType::try_from(proto.data_type) {
        Ok(DataType::Float) => entries(proto, &proto.float_data, |b| f64::from(f32::from_le_bytes(b)), f64::from),
        Ok(DataType::Double) => entries(proto, &proto.double_data, f64::from_le_bytes, |v| v),
        Ok(DataType::Int32) => entries(proto, &proto.int32_data, |b| f64::from(i32::from_le_bytes(b)), f64::from),
        Ok(DataType::Int64) => entries(proto, &proto.int64_data, |b| i64::from_le_bytes(b) as f64, |v| v as f64),
        Ok(DataType::Bool) => {
            entries(proto, &proto.int32_data, |[b]: [u8; 1]| f64::from(b != 0), |v| f64::from(v != 0))
        }
        _ => Err(unsupported(proto)),
    }?;
    let declared = shape.iter().try_fold(1usize, |len, &d| len.checked_mul(d));
    if declared != Some(data.len()) {
        return Err(format!("its shape {shape:?} does not fit its {} entries", data.len()));
    }
    if let Some(i) = data.iter().position(|v| !v.value.is_finite()) {
        return Err(format!("its entry {i} is {}; weights must be finite", data[i].value));
    }
    Ok(Tensor { shape, data })
}

fn shape(proto: &TensorProto) -> Result<Vec<usize>, String> {
    let shape = proto.dims.iter().map(|&d| usize::try_from(d)).collect::<Result<Vec<_>, _>>();
    shape.map_err(|_| format!("its shape {:?} has a negative size", proto.dims))
}

/// How many bytes the tensor's raw data has to have.
pub fn bytes(proto: &TensorProto) -> Result<u64, String> {
    let element: u64 = match DataType::try_from(proto.data_type) {
        Ok(DataType::Bool) => 1,
        Ok(DataType::Float | DataType::Int32) => 4,
        Ok(DataType::Double | DataType::Int64) => 8,
        _ => return Err(unsupported(proto)),
    };
    let sizes = shape(proto)?;
    let bytes = sizes.iter().try_fold(element, |bytes, &d| bytes.checked_mul(d as u64));
    bytes.ok_or_else(|| format!("its shape {sizes:?} is beyond any file"))
}

fn unsupported(proto: &TensorProto) -> String {
    match DataType::try_from(proto.data_type) {
        Ok(other) => format!("its element type {other:?} is not supported"),
        Err(_) => format!("its element type {} is unknown", proto.data_type),
    }
}

fn entries<const N: usize, T: Copy>(
    proto: &TensorProto,
    typed: &[T],
    from_bytes: impl Fn([u8; N]) -> f64,
    from_typed: impl Fn(T) -> f64,
) -> Result<Vec<Approx>, String> {
    if proto.raw_data.is_empty() {
        return Ok(typed.iter().map(|&v| Approx::exact(from_typed(v))).collect());
    }
    let (chunks, rest) = proto.raw_data.as_chunks::<N>();
    if !rest.is_empty() || !typed.is_empty() {
        return Err(format!("its {} bytes of raw data are not whole entries", proto.raw_data.len()));
    }
    Ok(chunks.iter().map(|&chunk| Approx::exact(from_bytes(chunk))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(dims: &[i64], data: &[f32]) -> TensorProto {
        let (dims, float_data) = (dims.to_vec(), data.to_vec());
        TensorProto { dims, float_data, data_type: DataType::Float as i32, ..Default::default() }
    }

    #[test]
    fn raw_and_typed_data_agree() {
        let typed = floats(&[2], &[0.1, -2.0]);
        let raw_data = [0.1f32, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let raw = TensorProto { float_data: vec![], raw_data, ..typed.clone() };
        assert_eq!(tensor(&typed), tensor(&raw));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(tensor(&floats(&[3], &[1.0])).is_err());
        assert!(tensor(&floats(&[-1], &[1.0])).is_err());
        assert!(tensor(&floats(&[i64::MAX, i64::MAX], &[1.0])).is_err());
        assert!(tensor(&floats(&[1], &[f32::NAN])).unwrap_err().contains("finite"));
        assert!(tensor(&TensorProto { raw_data: vec![0; 3], ..floats(&[1], &[]) }).is_err());
        assert!(tensor(&TensorProto { data_type: 10, ..floats(&[0], &[]) }).unwrap_err().contains("Float16"));
        assert!(tensor(&TensorProto { data_type: 99, ..floats(&[0], &[]) }).is_err());
    }
}
