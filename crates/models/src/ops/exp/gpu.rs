//! The logistic function in kernels on a GPU.

use cubecl::prelude::*;

/// 1/(1+e^-x), from an exponential that never overflows; NaN stays NaN.
#[cube]
pub(crate) fn sigmoid(x: f32) -> f32 {
    let e = f32::exp(-f32::abs(x));
    let above = 1.0f32 / (1.0f32 + e);
    select(x >= 0.0f32, above, e * above)
}

/// The slope of SiLU, x sigmoid(x), where the sigmoid is `s`.
#[cube]
pub(crate) fn silu_slope(x: f32, s: f32) -> f32 {
    s * (1.0f32 + x * (1.0f32 - s))
}
