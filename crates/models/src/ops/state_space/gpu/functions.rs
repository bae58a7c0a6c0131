//! Functions of rates, accurate in f32.

use cubecl::prelude::*;

/// ln(1 + e^x), for any x. Not by a device's ln(1 + x), which may lose the digits of a small x.
#[cube]
pub(crate) fn softplus(x: f32) -> f32 {
    let rest = f32::exp(-f32::abs(x));
    // ln(1 + r) = 2 artanh(r / (2 + r)), and r is at most 1.
    let s = rest / (2.0f32 + rest);
    let square = s * s;
    let mut sum = 0.066_666_67f32;
    sum = sum * square + 0.076_923_08f32;
    sum = sum * square + 0.090_909_09f32;
    sum = sum * square + 0.111_111_11f32;
    sum = sum * square + 0.142_857_15f32;
    sum = sum * square + 0.2f32;
    sum = sum * square + 0.333_333_34f32;
    sum = sum * square + 1.0f32;
    f32::max(x, 0.0f32) + 2.0f32 * s * sum
}

/// The logistic function 1/(1 + e^-x).
#[cube]
pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0f32 / (1.0f32 + f32::exp(-x))
}
