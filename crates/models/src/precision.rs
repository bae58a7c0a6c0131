//! Arithmetic of matrix products.
//!
//! Sums, master weights, recurrences, norms, softmax and loss are f32 in every precision; what a precision rounds are the
//! operands of the products of linear layers and of attention, forward and backward. The CPU rounds for real, so
//! that a result means the same wherever it was made.

use std::fmt;

/// The type to which operands of matrix products are rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Nothing is rounded, and no device may: strict f32.
    #[default]
    Fp32,
    /// 10 explicit bits of mantissa, the exponents of f32: what tensor cores make of f32 (PyTorch's `allow_tf32`).
    Tf32,
    /// 7 explicit bits of mantissa, the exponents of f32; results are rounded too, once, after the bias is added: what
    /// PyTorch's autocast to bfloat16 does.
    Bf16,
}

impl Precision {
    /// All names, as parameters of stages spell them.
    pub const NAMES: &'static [&'static str] = &["fp32", "tf32", "bf16"];

    /// The precision of this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "fp32" => Some(Precision::Fp32),
            "tf32" => Some(Precision::Tf32),
            "bf16" => Some(Precision::Bf16),
            _ => None,
        }
    }

    /// The operand nearest to `value`, ties to even; NaN stays NaN, and what is too large becomes infinite.
    #[inline(always)]
    pub fn rounded(self, value: f32) -> f32 {
        match self {
            Precision::Fp32 => value,
            Precision::Tf32 => round_off::<13>(value),
            Precision::Bf16 => round_off::<16>(value),
        }
    }

    /// Rounds operands of a product.
    pub fn round(self, values: &mut [f32]) {
        match self {
            Precision::Fp32 => {}
            Precision::Tf32 => round_all::<13>(values),
            Precision::Bf16 => round_all::<16>(values),
        }
    }

    /// Returns the type to which results of products are rounded: only results of bfloat16 are of that type too.
    pub fn of_results(self) -> Self {
        if self == Precision::Bf16 { Precision::Bf16 } else { Precision::Fp32 }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Precision::Fp32 => "fp32",
            Precision::Tf32 => "tf32",
            Precision::Bf16 => "bf16",
        })
    }
}

/// Rounds off the last `BITS` bits of the mantissa.
#[inline(always)]
fn round_off<const BITS: u32>(value: f32) -> f32 {
    let bits = value.to_bits();
    let half = (1 << (BITS - 1)) - 1;
    let even = (bits >> BITS) & 1;
    let rounded = bits.wrapping_add(half + even) & (u32::MAX << BITS);
    // Rounding up a NaN's mantissa could make it another number.
    if value.is_nan() { value } else { f32::from_bits(rounded) }
}

fn round_all<const BITS: u32>(values: &mut [f32]) {
    for value in values {
        *value = round_off::<BITS>(*value);
    }
}

#[cfg(test)]
mod invariants;

#[cfg(test)]
mod tests {
    use burn::tensor::bf16;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_those_that_are_printed() {
        for name in Precision::NAMES {
            assert_eq!(Precision::named(name).unwrap().to_string(), *name);
        }
        assert_eq!(Precision::named("fp16"), None);
    }

    #[test]
    fn ties_go_to_even_and_what_is_not_finite_stays() {
        let (one, step) = (1.0f32, 2f32.powi(-10));
        let tf32 = |value| Precision::Tf32.rounded(value);
        assert_eq!(tf32(one + step / 2.0), one);
        assert_eq!(tf32(one + 1.5 * step), one + 2.0 * step);
        assert_eq!(tf32(one + step * 0.500_1), one + step);
        assert_eq!(tf32(-(one + 1.5 * step)), -(one + 2.0 * step));
        assert_eq!(tf32(f32::MAX), f32::INFINITY);
        for precision in [Precision::Fp32, Precision::Tf32, Precision::Bf16] {
            assert_eq!(precision.rounded(f32::INFINITY), f32::INFINITY);
            assert_eq!(precision.rounded(f32::NEG_INFINITY), f32::NEG_INFINITY);
            assert_eq!(precision.rounded(-0.0).to_bits(), (-0.0f32).to_bits());
            for nan in [f32::NAN, f32::from_bits(0x7f80_0001), f32::from_bits(0xffff_ffff)] {
                assert!(precision.rounded(nan).is_nan());
            }
        }
    }

    proptest! {
        #[test]
        fn bf16_is_that_of_the_half_crate(bits in any::<u32>()) {
            let value = f32::from_bits(bits);
            let expected = bf16::from_f32(value).to_f32();
            let found = Precision::Bf16.rounded(value);
            prop_assert!(found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan()));
        }

        #[test]
        fn tf32_is_the_nearest_of_its_numbers(bits in any::<u32>()) {
            let value = f32::from_bits(bits);
            prop_assume!(value.abs() < 1e38);
            let found = Precision::Tf32.rounded(value);
            prop_assert_eq!(found.to_bits() & 0x1fff, 0);
            let below = f64::from(f32::from_bits(bits & !0x1fff));
            let above = f64::from(f32::from_bits((bits & !0x1fff) + 0x2000));
            let distance = (f64::from(found) - f64::from(value)).abs();
            prop_assert_eq!(distance, (below - f64::from(value)).abs().min((above - f64::from(value)).abs()));
        }

        #[test]
        fn a_slice_is_rounded_like_its_values(values in prop::collection::vec(any::<f32>(), 0..40)) {
            for precision in [Precision::Fp32, Precision::Tf32, Precision::Bf16] {
                let mut all = values.clone();
                precision.round(&mut all);
                for (found, value) in all.iter().zip(&values) {
                    prop_assert_eq!(found.to_bits(), precision.rounded(*value).to_bits());
                }
            }
        }
    }
}
