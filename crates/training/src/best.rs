//! The weights of the lowest validation loss so far: what `checkpoint: best` writes, a departure from the paper.

use cwm_models::parameters::Weights;

use crate::Metrics;

/// Weights, and how they did when they were validated.
#[derive(Clone, Debug)]
pub struct BestWeights<M> {
    /// The step after which they were validated.
    pub step: u64,
    /// Result of that validation.
    pub metrics: M,
    /// The weights.
    pub weights: Weights,
}

impl<M: Metrics> BestWeights<M> {
    /// Replaces the best so far by `weights` if their loss is lower; of equals the first stays. A loss that is not finite
    /// is never the best.
    pub(crate) fn update(best: &mut Option<Self>, step: u64, metrics: &M, weights: &Weights) {
        let is_lower = best.as_ref().is_none_or(|best| metrics.loss() < best.metrics.loss());
        if metrics.loss().is_finite() && is_lower {
            *best = Some(BestWeights { step, metrics: metrics.clone(), weights: weights.clone() });
        }
    }
}
