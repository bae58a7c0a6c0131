//! Initial values of parameters (models.md §1.6 and each family's own rules).

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A distribution of initial values, each element drawn by itself.
#[derive(Clone, Copy, Debug)]
pub enum Init {
    /// One value everywhere.
    Constant(f32),
    /// Normal with mean 0 and this standard deviation.
    Normal(f64),
    /// Uniform between minus and plus this bound.
    Uniform(f64),
    /// Anything else, such as the logarithm of a uniform value.
    Custom(fn(&mut InitRng) -> f32),
}

impl Init {
    /// PyTorch's default for a linear layer with `inputs` inputs, for its weight and for its bias: uniform within
    /// 1/√inputs.
    pub fn linear(inputs: usize) -> Self {
        Init::Uniform(1.0 / (inputs as f64).sqrt())
    }

    /// The bias inside a softplus that makes the step sizes of a recurrence: such that they begin log-uniform from 0.001
    /// to 0.1, as Mamba's code has it.
    pub fn step_bias() -> Self {
        Init::Custom(|draw| {
            let size = draw.uniform(0.001f64.ln(), 0.1f64.ln()).exp().max(1e-4);
            // The inverse of softplus.
            (size + (-(-size).exp_m1()).ln()) as f32
        })
    }

    /// Fills `values`.
    pub fn fill(self, values: &mut [f32], draw: &mut InitRng) {
        for value in values {
            *value = match self {
                Init::Constant(constant) => constant,
                Init::Normal(deviation) => (draw.normal() * deviation) as f32,
                Init::Uniform(bound) => (draw.uniform(-bound, bound)) as f32,
                Init::Custom(from) => from(draw),
            };
        }
    }
}

/// A seeded source of random numbers (ChaCha with 8 rounds).
#[derive(Debug)]
pub struct InitRng {
    generator: ChaCha8Rng,
    /// The second value of the last Box-Muller pair.
    spare: Option<f64>,
}

impl InitRng {
    /// The source for a seed.
    pub fn seeded(seed: u64) -> Self {
        InitRng { generator: ChaCha8Rng::seed_from_u64(seed), spare: None }
    }

    /// Uniform in [low, high).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Standard normal, by Box and Muller's transform.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * self.unit()).sin_cos();
        self.spare = Some(radius * sin);
        radius * cos
    }

    /// Uniform in [0, 1) with 53 bits.
    fn unit(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(init: Init) -> (f64, f64, f32, f32) {
        let mut values = vec![0.0; 200_000];
        init.fill(&mut values, &mut InitRng::seeded(7));
        let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / values.len() as f64;
        let (low, high) = values.iter().fold((f32::MAX, f32::MIN), |(low, high), &v| (low.min(v), high.max(v)));
        (mean, variance.sqrt(), low, high)
    }

    #[test]
    fn a_normal_init_has_its_mean_and_deviation() {
        let (mean, deviation, low, high) = moments(Init::Normal(0.02));
        assert!(mean.abs() < 2e-4 && (deviation - 0.02).abs() < 2e-4, "{mean} {deviation}");
        assert!(low < -0.06 && high > 0.06, "no tails: {low} {high}");
    }

    #[test]
    fn step_sizes_begin_log_uniform() {
        let mut values = vec![0.0; 20_000];
        Init::step_bias().fill(&mut values, &mut InitRng::seeded(3));
        let sizes: Vec<f64> = values.iter().map(|&bias| f64::from(bias).exp().ln_1p()).collect();
        assert!(sizes.iter().all(|size| (0.000_999..0.100_1).contains(size)));
        let below = |size: f64| sizes.iter().filter(|&&other| other < size).count();
        assert!((9_700..10_300).contains(&below(0.01)), "{}", below(0.01));
    }

    #[test]
    fn a_linear_init_is_uniform_within_its_bound() {
        let (mean, deviation, low, high) = moments(Init::linear(64));
        assert!(mean.abs() < 1e-3 && (deviation - 0.125 / 3f64.sqrt()).abs() < 1e-3, "{mean} {deviation}");
        assert!((-0.125..-0.124).contains(&low) && (0.124..=0.125).contains(&high), "{low} {high}");
    }
}
