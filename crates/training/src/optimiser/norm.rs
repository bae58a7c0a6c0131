//! The global norm, by which gradients are clipped.

use rayon::prelude::*;

/// L2 norm of all values, added in f64 in a fixed order.
pub fn norm(values: &[f32]) -> f64 {
    let parts: Vec<f64> = values.par_chunks(1 << 14).map(square_sum).collect();
    parts.iter().sum::<f64>().sqrt()
}

/// Returns the factor of all gradients that makes their global norm at most `limit`, as PyTorch does it.
///
/// Burn's own clipping takes the norm of each parameter by itself; the protocol clips all together.
pub fn clip_factor(norm: f64, limit: f64) -> f64 {
    (limit / (norm + 1e-6)).min(1.0)
}

fn square_sum(values: &[f32]) -> f64 {
    let mut lanes = [0.0f64; 8];
    for chunk in values.chunks(8) {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane += f64::from(value) * f64::from(value);
        }
    }
    lanes.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_norm_is_that_of_all_values_together() {
        assert_eq!(norm(&[3.0, 0.0, -4.0]), 5.0);
        assert_eq!(norm(&vec![0.5; 100_000]), (100_000f64 * 0.25).sqrt());
        assert!(norm(&[1.0, f32::NAN]).is_nan());
        assert_eq!(norm(&[f32::INFINITY]), f64::INFINITY);
    }

    #[test]
    fn only_long_gradients_are_shortened() {
        assert_eq!(clip_factor(0.5, 1.0), 1.0);
        assert!((clip_factor(4.0, 1.0) - 0.25).abs() < 1e-6);
    }
}
