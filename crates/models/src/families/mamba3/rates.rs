//! The parts of a game's recurrence that the input decides: step sizes, decays, weights and angles.

use super::Widths;
use super::rotation::cosine_and_sine;
use crate::streaming::Real;

/// A is at most minus this.
pub const LEAST_DECAY: f32 = 1e-4;

/// The rates of one game, head by head: [heads][steps].
pub struct Rates {
    /// Δ = softplus(dd_dt + dt_bias)
    pub sizes: Vec<Vec<f32>>,
    /// A = min(-softplus(dd_A), -1e-4)
    amounts: Vec<Vec<f32>>,
    /// τ = σ(trap)
    shares: Vec<Vec<f32>>,
    /// ΔA
    pub decay: Vec<Vec<f32>>,
    /// τΔ: what a step's write weighs for itself.
    pub own: Vec<Vec<f32>>,
    /// τΔ and the next step's (1 - τ)Δ: what a write weighs for later steps.
    pub later: Vec<Vec<f32>>,
    /// π tanh(ang), [steps][angles]
    speeds: Vec<f32>,
    /// Cosines of the angles so far, [heads][steps, angles].
    pub cosines: Vec<Vec<f32>>,
    /// Their sines.
    pub sines: Vec<Vec<f32>>,
}

/// Gradients of one head's rates: of the log decays, of both weights, [steps], and of the angles, [steps, angles].
pub struct HeadGradients {
    pub decay: Vec<f32>,
    pub own: Vec<f32>,
    pub later: Vec<f32>,
    pub angles: Vec<f32>,
}

impl Rates {
    /// Computes them from the projection `raw` [steps, 3 heads + angles].
    pub fn new(widths: &Widths, raw: &[f32], dt_bias: &[f32]) -> Self {
        let (heads, angles) = (widths.size.heads, widths.angles());
        let rows = || raw.chunks_exact(widths.rates());
        let by_head = |of: &dyn Fn(&[f32], usize) -> f32| -> Vec<Vec<f32>> {
            (0..heads).map(|head| rows().map(|row| of(row, head)).collect()).collect()
        };
        let sizes = by_head(&|row, head| (row[head] + dt_bias[head]).softplus());
        let amounts = by_head(&|row, head| (-row[heads + head].softplus()).min(-LEAST_DECAY));
        let shares = by_head(&|row, head| row[2 * heads + head].sigmoid());
        let product = |a: &[Vec<f32>], b: &[Vec<f32>]| -> Vec<Vec<f32>> {
            a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b).collect()).collect()
        };
        let (decay, own) = (product(&sizes, &amounts), product(&sizes, &shares));
        let with_next = |head: usize| {
            let (sizes, shares): (&[f32], &[f32]) = (&sizes[head], &shares[head]);
            let next = |t: usize| if t + 1 < sizes.len() { (1.0 - shares[t + 1]) * sizes[t + 1] } else { 0.0 };
            own[head].iter().enumerate().map(|(t, own)| own + next(t)).collect()
        };
        let later = (0..heads).map(with_next).collect();
        let speeds: Vec<f32> =
            rows().flat_map(|row| &row[3 * heads..]).map(|angle| std::f32::consts::PI * angle.tanh()).collect();
        let (mut cosines, mut sines) = (Vec::new(), Vec::new());
        for sizes in &sizes {
            let mut sums = vec![0.0f64; angles];
            let (mut of_cosines, mut of_sines) = (Vec::with_capacity(speeds.len()), Vec::with_capacity(speeds.len()));
            for (speeds, &size) in speeds.chunks_exact(angles).zip(sizes) {
                for (sum, &speed) in sums.iter_mut().zip(speeds) {
                    *sum += f64::from(speed) * f64::from(size);
                    let (cosine, sine) = cosine_and_sine(*sum);
                    of_cosines.push(cosine);
                    of_sines.push(sine);
                }
            }
            cosines.push(of_cosines);
            sines.push(of_sines);
        }
        Rates { sizes, amounts, shares, decay, own, later, speeds, cosines, sines }
    }

    /// Adds the gradients of `raw` and `dt_bias` that come through `head`.
    pub fn backward(
        &self,
        widths: &Widths,
        head: usize,
        found: &HeadGradients,
        [raw, dt_bias]: [&[f32]; 2],
        [grad_raw, grad_dt_bias]: [&mut [f32]; 2],
    ) {
        let (heads, angles, columns) = (widths.size.heads, widths.angles(), widths.rates());
        let mut grad_sums = vec![0.0f64; angles];
        for t in (0..self.sizes[head].len()).rev() {
            let (size, amount, share) = (self.sizes[head][t], self.amounts[head][t], self.shares[head][t]);
            let (raw, grad_raw) = (&raw[t * columns..(t + 1) * columns], &mut grad_raw[t * columns..(t + 1) * columns]);
            let both = found.own[t] + found.later[t];
            // The step before weighs more for later steps by this step's (1 - τ)Δ.
            let before = if t > 0 { found.later[t - 1] } else { 0.0 };
            let mut grad_size = both * share + before * (1.0 - share) + found.decay[t] * amount;
            let at = t * angles..(t + 1) * angles;
            let sums = grad_sums.iter_mut().zip(&found.angles[at.clone()]).zip(&self.speeds[at]);
            for (((sum, grad), &speed), grad_angle) in sums.zip(&mut grad_raw[3 * heads..]) {
                *sum += f64::from(*grad);
                grad_size += *sum as f32 * speed;
                let tanh = speed * std::f32::consts::FRAC_1_PI;
                *grad_angle += *sum as f32 * size * std::f32::consts::PI * (1.0 - tanh * tanh);
            }
            // The derivative of softplus is the logistic function.
            let grad_dt = grad_size * (raw[head] + dt_bias[head]).sigmoid();
            grad_raw[head] += grad_dt;
            grad_dt_bias[head] += grad_dt;
            if amount < -LEAST_DECAY {
                grad_raw[heads + head] -= found.decay[t] * size * raw[heads + head].sigmoid();
            }
            grad_raw[2 * heads + head] += (both - before) * size * share * (1.0 - share);
        }
    }
}
