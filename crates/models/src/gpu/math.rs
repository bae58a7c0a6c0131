//! Functions of kernels whose accuracy must not depend on the device: WGSL permits errors of 2^-21 in logarithms near one,
//! and a tangent that overflows.

use cubecl::prelude::*;

/// The logistic function 1/(1+e^-x), from an exponential that never overflows; NaN stays NaN.
#[cube]
pub(crate) fn sigmoid(x: f32) -> f32 {
    let e = f32::exp(-f32::abs(x));
    let above = 1.0f32 / (1.0f32 + e);
    select(x >= 0.0f32, above, e * above)
}

/// The derivative of x σ(x), with `s` = σ(x).
#[cube]
pub(crate) fn silu_grad(x: f32, s: f32) -> f32 {
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

/// The hyperbolic tangent (Cephes). A device's own may overflow.
#[cube]
pub(crate) fn tanh(x: f32) -> f32 {
    let size = f32::abs(x);
    if size < 0.625f32 {
        let square = x * x;
        let mut p = 2.063_908_9e-2f32 - 5.704_988_7e-3f32 * square;
        p = p * square - 5.373_971_6e-2f32;
        p = p * square + 0.133_314_42f32;
        p = p * square - 0.333_332_82f32;
        p * square * x + x
    } else {
        let rest = f32::exp(-2.0f32 * size);
        let result = (1.0f32 - rest) / (1.0f32 + rest);
        if x < 0.0f32 { -result } else { result }
    }
}

/// The sum of two numbers and what rounding took from it: exactly, or zero where a driver cancels terms as if floats were
/// exact (Mesa does).
#[cube]
pub(crate) fn two_sum(a: f32, b: f32) -> (f32, f32) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}
