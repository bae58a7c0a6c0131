//! AdamW on a GPU: one kernel over all values.

use cubecl::prelude::*;
use cwm_models::gpu::{Array, Gpu, THREADS, cubes, cubes_of};

use super::magnitude::relative;
use crate::optimiser::Factors;

/// The decision about an update: three numbers, computed on the GPU, which does not wait for
/// the host. The gradient is divided by the first and multiplied by the second; there is an update if the third is 1.
pub struct Decision(Array);

impl Decision {
    /// An update with the gradient times `clip`.
    pub fn update(gpu: &Gpu, clip: f32) -> Self {
        Decision(gpu.upload(&[1.0, clip, 1.0].map(f32::to_bits)))
    }

    /// An update with the gradient clipped to the norm `limit`, if neither it nor the losses have a value that is not finite.
    /// Both are magnitudes ([`super::magnitude::magnitude`]).
    pub fn clipped(gpu: &Gpu, gradient: &Array, losses: &Array, limit: f64) -> Self {
        let decision = gpu.empty(3);
        let arrays = (gradient.arg(), losses.arg(), decision.arg());
        decide::launch(gpu.client(), cubes(1), CubeDim::new_1d(1), arrays.0, arrays.1, arrays.2, limit as f32);
        Decision(decision)
    }
}

/// Computes [`crate::optimiser::clip_factor`] with the norm, which may be above all floats, as a product.
#[cube(launch)]
fn decide(gradient: &[f32], losses: &[f32], decision: &mut [f32], limit: f32) {
    if ABSOLUTE_POS == 0 {
        // Four times the smallest normal float at least, as in `relative`.
        let largest = f32::max(gradient[0], 4.701_977_4e-38f32);
        let factor = limit / (f32::sqrt(gradient[1]) + 1e-6f32 / largest);
        let mut divisor = 1.0f32;
        let mut multiplier = 1.0f32;
        if factor < largest {
            divisor = largest;
            multiplier = factor;
        }
        let mut wanted = 0.0f32;
        if gradient[2] == 0.0f32 && losses[2] == 0.0f32 {
            wanted = 1.0f32;
        }
        decision[0] = divisor;
        decision[1] = multiplier;
        decision[2] = wanted;
    }
}

/// The arrays of an update, all of one length.
pub struct Values<'a> {
    /// The weights.
    pub weights: &'a Array,
    /// First moments.
    pub first: &'a Array,
    /// Second moments.
    pub second: &'a Array,
    /// The gradient.
    pub gradient: &'a Array,
    /// A bit for each weight, 1 if it decays.
    pub decaying: &'a Array,
}

/// Updates weights and moments in place; `clip` of the factors is the decision's matter.
pub fn update(gpu: &Gpu, values: Values<'_>, decision: &Decision, factors: Factors) {
    let Values { weights, first, second, gradient, decaying } = values;
    let Factors { clip: _, keep, first: of_first, second: of_second, rate, root, epsilon } = factors;
    adamw::launch(
        gpu.client(),
        cubes_of(weights.len()),
        CubeDim::new_1d(THREADS),
        weights.arg(),
        first.arg(),
        second.arg(),
        gradient.arg(),
        decaying.arg(),
        decision.0.arg(),
        weights.len() as u32,
        keep,
        of_first.0,
        of_first.1,
        of_second.0,
        of_second.1,
        rate,
        root,
        epsilon,
    );
}

#[cube(launch)]
#[allow(clippy::too_many_arguments)]
fn adamw(
    weights: &mut [f32],
    first: &mut [f32],
    second: &mut [f32],
    gradient: &[f32],
    decaying: &[u32],
    decision: &[f32],
    len: u32,
    keep: f32,
    first_old: f32,
    first_new: f32,
    second_old: f32,
    second_new: f32,
    rate: f32,
    root: f32,
    epsilon: f32,
) {
    let at = ABSOLUTE_POS;
    if at < len as usize && decision[2] == 1.0f32 {
        let g = relative(gradient[at], decision[0]) * decision[1];
        let m = first_old * first[at] + first_new * g;
        let v = second_old * second[at] + second_new * g * g;
        let mut w = weights[at];
        if (decaying[at / 32] >> (at as u32 % 32u32)) & 1u32 == 1u32 {
            w *= keep;
        }
        first[at] = m;
        second[at] = v;
        weights[at] = w - rate * m / (f32::sqrt(v) * root + epsilon);
    }
}
