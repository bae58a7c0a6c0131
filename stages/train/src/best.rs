//! The weights of the lowest validation loss so far: what `checkpoint: best` gives out, a departure from the paper.

use cwm_models::metrics::Tally;
use cwm_models::parameters::Weights;
use serde::{Deserialize, Serialize};

/// Weights, and how they did when they were validated.
#[derive(Clone, Debug)]
pub struct Best {
    /// The step after which they were validated.
    pub step: u64,
    /// How they did.
    pub tally: Tally,
    /// They.
    pub weights: Weights,
}

/// All of it but the weights, as it stands in a file; the sum of losses by its bits, so that it is read as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    step: u64,
    positions: u64,
    correct: u64,
    exact: u64,
    loss_bits: u64,
    games: u64,
    exact_games: u64,
}

impl Best {
    /// Takes `weights` in place of what was best until now, if their loss is lower; the first to have the lowest stays. A
    /// loss that is not finite is never the best.
    pub fn consider(best: &mut Option<Best>, step: u64, tally: &Tally, weights: &Weights) {
        let is_lower = best.as_ref().is_none_or(|best| tally.loss() < best.tally.loss());
        if tally.loss().is_finite() && is_lower {
            *best = Some(Best { step, tally: *tally, weights: weights.clone() });
        }
    }

    /// For a file.
    pub fn measured(&self) -> Measured {
        let Tally { positions, correct, exact, loss_sum, games, exact_games } = self.tally;
        let loss_bits = loss_sum.to_bits();
        Measured { step: self.step, positions, correct, exact, loss_bits, games, exact_games }
    }
}

impl Measured {
    /// With the weights that it is of.
    pub fn of(self, weights: Weights) -> Best {
        let Measured { step, positions, correct, exact, loss_bits, games, exact_games } = self;
        let loss_sum = f64::from_bits(loss_bits);
        Best { step, tally: Tally { positions, correct, exact, loss_sum, games, exact_games }, weights }
    }
}
