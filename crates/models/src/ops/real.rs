//! The numbers that a recurrence is computed in.

use num_traits::{Float, NumAssign};

/// f32, or f64 where the truth is wanted.
pub trait Real: Float + NumAssign + std::fmt::Debug + Send + Sync + 'static {
    /// A weight in this precision.
    fn of(value: f32) -> Self;

    /// Σ weights ⊙ x.
    fn dot(weights: &[f32], x: &[Self]) -> Self;

    /// The logistic function 1/(1+e^-x).
    fn sigmoid(self) -> Self {
        (Self::one() + (-self).exp()).recip()
    }

    /// x σ(x).
    fn silu(self) -> Self {
        self * self.sigmoid()
    }

    /// x Φ(x), with the normal distribution itself.
    fn gelu(self) -> Self;

    /// ln(1 + e^x), for any x.
    fn softplus(self) -> Self {
        self.max(Self::zero()) + (-self.abs()).exp().ln_1p()
    }
}

impl Real for f32 {
    fn of(value: f32) -> Self {
        value
    }

    fn dot(weights: &[f32], x: &[Self]) -> Self {
        super::dot(weights, x)
    }

    fn gelu(self) -> Self {
        0.5 * self * libm::erfcf(-self * std::f32::consts::FRAC_1_SQRT_2)
    }
}

impl Real for f64 {
    fn of(value: f32) -> Self {
        f64::from(value)
    }

    fn dot(weights: &[f32], x: &[Self]) -> Self {
        weights.iter().zip(x).map(|(&w, x)| f64::from(w) * x).sum()
    }

    fn gelu(self) -> Self {
        0.5 * self * libm::erfc(-self * std::f64::consts::FRAC_1_SQRT_2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn softplus_is_safe_far_out() {
        assert_eq!(1e30f64.softplus(), 1e30);
        assert_eq!((-1e30f64).softplus(), 0.0);
        assert!((0.0f64.softplus() - 2f64.ln()).abs() < 1e-15);
        assert!(((-20.0f32).softplus() / (-20.0f32).exp() - 1.0).abs() < 1e-6);
    }
}
