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

/// The sum of two numbers and what rounding took from it, exactly.
#[cube]
pub(crate) fn two_sum(a: f32, b: f32) -> (f32, f32) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}
