//! An exponential that vectorises.

/// e^x with a relative error below 3e-7; NaN stays NaN. Inputs beyond the range of normal floats are taken as its ends:
/// e^-87.3 and e^88.
///
/// Cephes' polynomial; unlike the standard library's `exp` it has no call and no branch, so loops over it vectorise.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    // Comparisons, not `max` and `min`: those turn NaN into a number.
    let x = if x < -87.3 { -87.3 } else { x };
    let x = if x > 88.0 { 88.0 } else { x };
    // Adding this rounds to an integer and leaves it in the lowest bits. (A cast would do, but `as` saturates, and that
    // is one scalar conversion for each element.)
    const TO_INTEGER: f32 = 12_582_912.0;
    let shifted = x * std::f32::consts::LOG2_E + TO_INTEGER;
    let n = shifted - TO_INTEGER;
    // ln 2 in two parts, so that the remainder is exact.
    let r = x - n * 0.693_359_4 + n * 2.121_944_4e-4;
    let mut p = 1.987_569_1e-4f32;
    p = p * r + 1.398_199_9e-3;
    p = p * r + 8.333_452e-3;
    p = p * r + 4.166_579_6e-2;
    p = p * r + 0.166_666_65;
    p = p * r + 0.5;
    let y = p * r * r + r + 1.0;
    let exponent = shifted.to_bits().wrapping_sub(TO_INTEGER.to_bits()).wrapping_add(127);
    y * f32::from_bits(exponent << 23)
}

/// The logistic function 1/(1+e^-x).
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_library() {
        for i in -87_000..88_000 {
            let x = i as f32 / 1000.0;
            let exact = f64::from(x).exp();
            let error = (f64::from(exp(x)) - exact).abs() / exact;
            assert!(error < 3e-7, "e^{x}: relative error {error}");
        }
        assert!(exp(f32::NAN).is_nan());
        assert!(exp(f32::NEG_INFINITY) < 2e-38 && exp(f32::INFINITY) > 1e38);
    }
}
