//! Constant tensors: raw or typed data, floats of all widths, the integers that shapes are made of, and truth values as 0 and 1.

use super::proto::{DataType, TensorProto};
use crate::approx::Approx;
use crate::graph::Tensor;
use crate::half::Half;

/// The tensor's entries, all finite. Integers beyond 2⁵³ round: they only occur as "to the end" in slices.
pub fn tensor(proto: &TensorProto) -> Result<Tensor, String> {
    let shape = shape(proto)?;
    let data = data(proto)?;
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

fn data(proto: &TensorProto) -> Result<Vec<Approx>, String> {
    let (words, longs) = (&proto.int32_data, &proto.uint64_data);
    match DataType::try_from(proto.data_type) {
        Ok(DataType::Float) => entries(proto, &proto.float_data, |b| f64::from(f32::from_le_bytes(b)), f64::from),
        Ok(DataType::Double) => entries(proto, &proto.double_data, f64::from_le_bytes, |v| v),
        Ok(DataType::Float16) => halves(proto, Half::Float16),
        Ok(DataType::Bfloat16) => halves(proto, Half::Bfloat16),
        Ok(DataType::Bool) => entries(proto, words, |[b]: [u8; 1]| f64::from(b != 0), |v| f64::from(v != 0)),
        Ok(DataType::Int8) => entries(proto, words, |b| f64::from(i8::from_le_bytes(b)), narrow::<i8>),
        Ok(DataType::Uint8) => entries(proto, words, |b| f64::from(u8::from_le_bytes(b)), narrow::<u8>),
        Ok(DataType::Int16) => entries(proto, words, |b| f64::from(i16::from_le_bytes(b)), narrow::<i16>),
        Ok(DataType::Uint16) => entries(proto, words, |b| f64::from(u16::from_le_bytes(b)), narrow::<u16>),
        Ok(DataType::Int32) => entries(proto, words, |b| f64::from(i32::from_le_bytes(b)), f64::from),
        Ok(DataType::Uint32) => entries(
            proto,
            longs,
            |b| f64::from(u32::from_le_bytes(b)),
            |v| u32::try_from(v).map_or(f64::NAN, f64::from),
        ),
        Ok(DataType::Int64) => entries(proto, &proto.int64_data, |b| i64::from_le_bytes(b) as f64, |v| v as f64),
        Ok(DataType::Uint64) => entries(proto, longs, |b| u64::from_le_bytes(b) as f64, |v| v as f64),
        _ => Err(unsupported(proto)),
    }
}

/// 16-bit floats; typed data has their bits in 32-bit integers.
fn halves(proto: &TensorProto, half: Half) -> Result<Vec<Approx>, String> {
    let typed = |bits: i32| u16::try_from(bits).map_or(f64::NAN, |bits| half.value(bits));
    entries(proto, &proto.int32_data, |b| half.value(u16::from_le_bytes(b)), typed)
}

/// An integer of a narrow type, written as a 32-bit one; NaN, which is refused later, if it is none.
fn narrow<T: TryFrom<i32> + Into<f64>>(value: i32) -> f64 {
    T::try_from(value).map_or(f64::NAN, Into::into)
}

/// Whether arithmetic that has this exact result has it in the integer type too, where it would wrap. Of wide types only
/// the part is taken that they all have.
pub fn fits(element: DataType, value: f64) -> bool {
    let (low, high) = match element {
        DataType::Bool => (0.0, 1.0),
        DataType::Int8 => (-128.0, 127.0),
        DataType::Uint8 => (0.0, 255.0),
        DataType::Int16 => (-32768.0, 32767.0),
        DataType::Uint16 => (0.0, 65535.0),
        DataType::Uint32 | DataType::Uint64 => (0.0, 2147483647.0),
        _ => (-2147483647.0, 2147483647.0),
    };
    value.fract() == 0.0 && (low..=high).contains(&value)
}

/// How many bytes the tensor's raw data has to have.
pub fn bytes(proto: &TensorProto) -> Result<u64, String> {
    let element: u64 = match DataType::try_from(proto.data_type) {
        Ok(DataType::Bool | DataType::Int8 | DataType::Uint8) => 1,
        Ok(DataType::Float16 | DataType::Bfloat16 | DataType::Int16 | DataType::Uint16) => 2,
        Ok(DataType::Float | DataType::Int32 | DataType::Uint32) => 4,
        Ok(DataType::Double | DataType::Int64 | DataType::Uint64) => 8,
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
        assert!(tensor(&TensorProto { data_type: 8, ..floats(&[0], &[]) }).unwrap_err().contains("String"));
        assert!(tensor(&TensorProto { data_type: 99, ..floats(&[0], &[]) }).is_err());
    }

    /// The values of one tensor, given as typed data and as raw bytes.
    fn both(element: DataType, int32_data: &[i32], uint64_data: &[u64], raw: &[u8]) -> Vec<f64> {
        let dims = vec![(int32_data.len() + uint64_data.len()) as i64];
        let base = TensorProto { dims, data_type: element as i32, ..Default::default() };
        let typed = TensorProto { int32_data: int32_data.into(), uint64_data: uint64_data.into(), ..base.clone() };
        let raw = TensorProto { raw_data: raw.into(), ..base };
        assert_eq!(bytes(&raw), Ok(raw.raw_data.len() as u64));
        let (typed, raw) = (tensor(&typed).unwrap(), tensor(&raw).unwrap());
        assert_eq!(typed, raw);
        typed.data.iter().map(|v| v.value).collect()
    }

    #[test]
    fn narrow_elements_are_exact() {
        assert_eq!(both(DataType::Float16, &[0x3c00, 0xc000, 1], &[], &[0, 0x3c, 0, 0xc0, 1, 0])[..2], [1.0, -2.0]);
        assert_eq!(both(DataType::Bfloat16, &[0x3f80, 0xc000], &[], &[0x80, 0x3f, 0, 0xc0]), [1.0, -2.0]);
        assert_eq!(both(DataType::Int8, &[-128, 127], &[], &[0x80, 0x7f]), [-128.0, 127.0]);
        assert_eq!(both(DataType::Uint8, &[255], &[], &[0xff]), [255.0]);
        assert_eq!(both(DataType::Int16, &[-2], &[], &[0xfe, 0xff]), [-2.0]);
        assert_eq!(both(DataType::Uint16, &[65534], &[], &[0xfe, 0xff]), [65534.0]);
        assert_eq!(both(DataType::Uint32, &[], &[1 << 31], &[0, 0, 0, 0x80]), [2147483648.0]);
        assert_eq!(both(DataType::Uint64, &[], &[3], &[3, 0, 0, 0, 0, 0, 0, 0]), [3.0]);
    }

    #[test]
    fn what_no_element_can_be_is_refused() {
        for (element, value) in [(DataType::Int8, 128), (DataType::Uint8, -1), (DataType::Float16, 1 << 16)] {
            let proto = TensorProto { int32_data: vec![value], data_type: element as i32, ..floats(&[1], &[]) };
            assert!(tensor(&proto).is_err(), "{element:?}");
        }
        let infinite = TensorProto { int32_data: vec![0x7c00], data_type: 10, ..floats(&[1], &[]) };
        assert!(tensor(&infinite).unwrap_err().contains("finite"));
    }

    #[test]
    fn arithmetic_fits_where_it_does_not_wrap() {
        assert!(fits(DataType::Int8, 127.0) && !fits(DataType::Int8, 128.0) && !fits(DataType::Uint8, -1.0));
        assert!(fits(DataType::Int64, -5.0) && !fits(DataType::Int64, 2f64.powi(31)) && !fits(DataType::Int64, 0.5));
    }
}
