//! The two 16-bit floats of models: IEEE's half precision, and bfloat16, the upper half of a float32.

/// A sign, an exponent and a fraction, in this order from the highest bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    Float16,
    Bfloat16,
}

impl Half {
    /// The bits of the fraction, and the exponent of the largest finite number.
    fn layout(self) -> (u32, i32) {
        match self {
            Half::Float16 => (10, 15),
            Half::Bfloat16 => (7, 127),
        }
    }

    /// The number that has these bits, exactly.
    pub fn value(self, bits: u16) -> f64 {
        let (width, most) = self.layout();
        let (exponent, fraction) = (i32::from(bits & 0x7fff) >> width, i32::from(bits) & ((1 << width) - 1));
        let magnitude = match exponent {
            // Subnormal numbers have the unit of the least exponent, and no leading one.
            0 => f64::from(fraction) * unit(1 - most, width),
            e if e <= 2 * most => f64::from(fraction | 1 << width) * unit(e - most, width),
            _ if fraction == 0 => f64::INFINITY,
            _ => f64::NAN,
        };
        if bits >> 15 == 0 { magnitude } else { -magnitude }
    }

    /// The number nearest to `v`, of two the one with the even fraction; infinite beyond the largest.
    ///
    /// Division by a unit, a power of two, is exact: no unit is as small as the least float64.
    pub fn round(self, v: f64) -> f64 {
        let (width, most) = self.layout();
        if v == 0.0 || !v.is_finite() {
            return v;
        }
        let exponent = (v.to_bits() >> 52 & 0x7ff) as i32 - 1023;
        let unit = unit(exponent.max(1 - most), width);
        let rounded = (v / unit).round_ties_even() * unit;
        if rounded.abs() >= 2f64.powi(most + 1) { f64::INFINITY.copysign(v) } else { rounded }
    }
}

/// The distance between numbers of an exponent.
fn unit(exponent: i32, width: u32) -> f64 {
    2f64.powi(exponent - width as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers() {
        let cases = [(0x3c00, 1.0), (0xc000, -2.0), (0x7bff, 65504.0), (0x0400, 2f64.powi(-14)), (1, 2f64.powi(-24))];
        assert!(cases.iter().all(|&(bits, value)| Half::Float16.value(bits) == value));
        assert!(Half::Float16.value(0x8000).is_sign_negative());
        assert!(Half::Float16.value(0x7e00).is_nan() && Half::Float16.value(0xfc00) == f64::NEG_INFINITY);
        assert_eq!(Half::Float16.round(0.1), Half::Float16.value(0x2e66));
        assert_eq!((Half::Float16.round(65519.9), Half::Float16.round(65520.0)), (65504.0, f64::INFINITY));
        assert_eq!((Half::Float16.round(2f64.powi(-25)), Half::Float16.round(3e-8)), (0.0, 2f64.powi(-24)));
        assert_eq!(Half::Bfloat16.round(-1e39), f64::NEG_INFINITY);
        assert_eq!(Half::Float16.round(5e-324), 0.0);
    }

    /// A bfloat16 is the upper half of a float32.
    #[test]
    fn every_bfloat16_is_a_float32() {
        for bits in 0..=u16::MAX {
            let float = f64::from(f32::from_bits(u32::from(bits) << 16));
            let value = Half::Bfloat16.value(bits);
            assert!(value.to_bits() == float.to_bits() || value.is_nan() && float.is_nan(), "{bits:#x}");
        }
    }

    /// Each number is its own nearest, half way between two the even one is taken, and to either side of it the nearer.
    #[test]
    fn rounding_is_to_nearest_even() {
        for half in [Half::Float16, Half::Bfloat16] {
            for bits in 0..0x7fff {
                let (low, high) = (half.value(bits), half.value(bits + 1));
                if !high.is_finite() {
                    break;
                }
                let middle = (low + high) / 2.0;
                let even = if bits % 2 == 0 { low } else { high };
                assert_eq!(
                    [low, middle, middle.next_down(), middle.next_up()].map(|v| half.round(v)),
                    [low, even, low, high]
                );
                assert_eq!(half.round(-middle), -even);
            }
        }
    }
}
