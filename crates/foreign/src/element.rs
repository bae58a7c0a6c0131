//! Types of a tensor's elements, and how they become float32.

use std::fmt;

/// The type of a tensor's elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// IEEE binary16.
    F16,
    /// The upper half of a binary32.
    BF16,
    /// Something else, by its name: no weight of a model is.
    Other {
        /// Its name where it comes from.
        name: Box<str>,
        /// Bytes of one, if that is known.
        bytes: Option<u64>,
    },
}

impl Element {
    /// Bytes of one; `None` where nothing is known of the type.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Element::F64 => Some(8),
            Element::F32 => Some(4),
            Element::F16 | Element::BF16 => Some(2),
            Element::Other { bytes, .. } => *bytes,
        }
    }

    /// Returns true if weights may be of this type.
    pub fn is_float(&self) -> bool {
        !matches!(self, Element::Other { .. })
    }

    /// Counts the little-endian values that are finite and too large for float32, in which they would be infinite.
    pub fn too_large(&self, bytes: &[u8]) -> usize {
        let is_too_large = |bytes: &&[u8; 8]| {
            let value = f64::from_le_bytes(**bytes);
            value.is_finite() && (value as f32).is_infinite()
        };
        if *self == Element::F64 { bytes.as_chunks().0.iter().filter(is_too_large).count() } else { 0 }
    }

    /// Appends `bytes`, little-endian, as float32 to `values`; returns how many had to be rounded, which of binary64 may
    /// be any and of the others none. Signs of zero and payloads of NaN stay, as far as there is room for them.
    ///
    /// # Panics
    /// The type is not a float; callers look with [`Element::is_float`].
    pub fn widen(&self, bytes: &[u8], values: &mut Vec<f32>) -> usize {
        match self {
            Element::F32 => values.extend(bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes))),
            Element::F16 => {
                values.extend(bytes.as_chunks().0.iter().map(|bytes| from_half(u16::from_le_bytes(*bytes))))
            }
            Element::BF16 => {
                let widened = |bytes: &[u8; 2]| f32::from_bits(u32::from(u16::from_le_bytes(*bytes)) << 16);
                values.extend(bytes.as_chunks().0.iter().map(widened));
            }
            Element::F64 => {
                let mut rounded = 0;
                for bytes in bytes.as_chunks().0 {
                    let (value, exact) = from_double(f64::from_le_bytes(*bytes));
                    rounded += usize::from(!exact);
                    values.push(value);
                }
                return rounded;
            }
            Element::Other { .. } => panic!("only floats are widened"),
        }
        0
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Element::F32 => "float32",
            Element::F64 => "float64",
            Element::F16 => "float16",
            Element::BF16 => "bfloat16",
            Element::Other { name, .. } => name,
        })
    }
}

/// Exact for all 65,536 of them.
fn from_half(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let exponent = u32::from(half >> 10 & 0x1f);
    let fraction = u32::from(half & 0x3ff);
    let magnitude = match exponent {
        0 => {
            // Subnormal: fraction · 2⁻²⁴, which binary32 holds exactly.
            return f32::from_bits(sign | (fraction as f32 * f32::from_bits(0x3380_0000)).to_bits());
        }
        0x1f => 0x7f80_0000 | fraction << 13,
        usual => (usual + 112) << 23 | fraction << 13,
    };
    f32::from_bits(sign | magnitude)
}

/// The nearest binary32, and whether nothing was lost.
fn from_double(double: f64) -> (f32, bool) {
    if !double.is_nan() {
        let single = double as f32;
        return (single, f64::from(single) == double);
    }
    let bits = double.to_bits();
    let (sign, payload) = ((bits >> 63) as u32, bits & 0xf_ffff_ffff_ffff);
    let kept = (payload >> 29) as u32;
    let exact = u64::from(kept) << 29 == payload;
    // A payload whose upper bits are all zero would become an infinity.
    (f32::from_bits(sign << 31 | 0x7f80_0000 | if kept == 0 { 1 << 22 } else { kept }), exact)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widened(element: &Element, bytes: &[u8]) -> (f32, usize) {
        let mut values = Vec::new();
        let rounded = element.widen(bytes, &mut values);
        assert_eq!(values.len(), 1);
        (values[0], rounded)
    }

    #[test]
    fn every_half_is_widened_exactly() {
        for half in 0..=u16::MAX {
            let (found, rounded) = widened(&Element::F16, &half.to_le_bytes());
            let (sign, exponent) = (if half >> 15 == 1 { -1.0f64 } else { 1.0 }, i32::from(half >> 10 & 31));
            let fraction = f64::from(half & 0x3ff);
            assert_eq!((rounded, found.is_sign_negative()), (0, half >> 15 == 1));
            match exponent {
                31 if fraction != 0.0 => assert_eq!(found.to_bits() >> 13 & 0x3ff, u32::from(half & 0x3ff)),
                31 => assert_eq!(f64::from(found), sign * f64::INFINITY),
                0 => assert_eq!(f64::from(found), sign * fraction * 2f64.powi(-24)),
                _ => assert_eq!(f64::from(found), sign * (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15)),
            }
        }
    }

    #[test]
    fn the_upper_halves_of_floats_are_floats() {
        for bits in 0..=u16::MAX {
            let (found, rounded) = widened(&Element::BF16, &bits.to_le_bytes());
            assert_eq!((found.to_bits(), rounded), (u32::from(bits) << 16, 0));
        }
    }

    #[test]
    fn doubles_say_what_they_lose() {
        let of = |value: f64| widened(&Element::F64, &value.to_le_bytes());
        assert_eq!(of(0.5), (0.5, 0));
        assert_eq!(of(0.1), (0.1, 1));
        assert_eq!(of(1e300), (f32::INFINITY, 1));
        assert_eq!(of(f64::NEG_INFINITY), (f32::NEG_INFINITY, 0));
        assert!(of(-0.0).0.is_sign_negative());
        let large = [1e300, -1e39, f64::INFINITY, f64::NAN, f64::from(f32::MAX), 1e-300].map(f64::to_le_bytes);
        assert_eq!((Element::F64.too_large(large.as_flattened()), Element::F32.too_large(&[0xff; 8])), (2, 0));
        let payload = f64::from_bits(0xfff8_0000_2000_0000);
        assert_eq!((of(payload).0.to_bits(), of(payload).1), (0xffc0_0001, 0));
        let narrow = of(f64::from_bits(0x7ff0_0000_0000_0001));
        assert!(narrow.0.is_nan() && narrow.1 == 1);
    }
}
