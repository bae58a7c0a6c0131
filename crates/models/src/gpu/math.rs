//! Functions of kernels whose accuracy must not depend on the device: WGSL permits errors of 2^-11 in sines, and of 2^-21
//! in logarithms near one.

use cubecl::prelude::*;

/// The logistic function 1/(1+e^-x), from an exponential that never overflows; NaN stays NaN.
#[cube]
pub(crate) fn sigmoid(x: f32) -> f32 {
    let e = f32::exp(-f32::abs(x));
    let above = 1.0f32 / (1.0f32 + e);
    select(x >= 0.0f32, above, e * above)
}

/// The slope of x σ(x), with `s` = σ(x).
#[cube]
pub(crate) fn silu_slope(x: f32, s: f32) -> f32 {
    s * (1.0f32 + x * (1.0f32 - s))
}

/// ln(1 + e^x), for any x; NaN stays NaN.
#[cube]
pub(crate) fn softplus(x: f32) -> f32 {
    f32::max(x, 0.0f32) + log_one_plus(f32::exp(-f32::abs(x)))
}

/// ln(1 + u) for u in 0..=1: 2 artanh(u/(2+u)), whose argument is at most 1/3.
#[cube]
pub(crate) fn log_one_plus(u: f32) -> f32 {
    let s = u / (2.0f32 + u);
    let q = s * s;
    let mut p = 0.066_666_67f32;
    p = p * q + 0.076_923_08f32;
    p = p * q + 0.090_909_09f32;
    p = p * q + 0.111_111_11f32;
    p = p * q + 0.142_857_15f32;
    p = p * q + 0.2f32;
    p = p * q + 0.333_333_34f32;
    2.0f32 * (s + s * q * p)
}
