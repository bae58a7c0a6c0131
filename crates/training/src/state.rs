//! The state that a training changes from step to step.

use cwm_models::parameters::Weights;

use crate::optimiser::{AdamW, AdamWOptions};
use crate::{BestWeights, Metrics};

/// Bad steps in a row that end a run.
const MOST_BAD_STEPS: u64 = 20;

/// Everything that changes from step to step, and that a checkpoint holds.
#[derive(Clone, Debug)]
pub struct State<M> {
    /// The weights.
    pub weights: Weights,
    /// Moments and number of updates.
    pub adamw: AdamW,
    /// Weights that are restored when an update makes one of them not finite.
    pub snapshot: Weights,
    /// Batches drawn.
    pub step: u64,
    /// Batches that made no lasting update.
    pub skipped: u64,
    /// The number of bad steps since the last good one.
    pub consecutive_bad_steps: u64,
    /// The last step whose validation is in the curves.
    pub validated: u64,
    /// The best weights that were validated, where those are kept.
    pub best: Option<BestWeights<M>>,
}

impl<M: Metrics> State<M> {
    /// The beginning of a run from these weights.
    pub fn new(weights: Weights, adamw: AdamWOptions) -> Self {
        State {
            adamw: AdamW::new(weights.layout().clone(), adamw),
            snapshot: weights.clone(),
            weights,
            step: 0,
            skipped: 0,
            consecutive_bad_steps: 0,
            validated: 0,
            best: None,
        }
    }

    /// Returns true if too many steps in a row were bad.
    pub fn has_diverged(&self) -> bool {
        self.consecutive_bad_steps >= MOST_BAD_STEPS
    }
}
