//! The task that this stage trains: the 75 labels of every position.

use std::sync::Arc;

use cwm_models::heads::labels::{self, LabelTotals, MicroBatch};
use cwm_models::loss::Loss;
use cwm_models::parameters::Layout;
use cwm_models::{Architecture, ForwardPass, Network};
use cwm_training::curves::number;
use cwm_training::{Metrics, Objective};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A network that learns the labels.
pub struct LabelTask(pub Network);

impl Objective for LabelTask {
    type MicroBatch = MicroBatch;
    type Metrics = LabelMetrics;
    type Identity = Architecture;

    fn identity(&self) -> &Architecture {
        self.0.architecture()
    }

    fn layout(&self) -> &Arc<Layout> {
        self.0.layout()
    }

    fn positions(&self, micro_batch: &MicroBatch) -> usize {
        micro_batch.tokens.valid()
    }

    fn denominator(&self, positions: usize) -> f64 {
        labels::denominator(positions)
    }

    fn loss(&self, pass: &ForwardPass, micro_batch: &MicroBatch, positions: usize) -> Loss {
        labels::loss(self.0.flat_logits(pass, &micro_batch.tokens), &micro_batch.targets, positions)
    }
}

/// The counts of a validation.
#[derive(Clone, Copy, Debug)]
pub struct LabelMetrics(pub LabelTotals);

/// The counts as a checkpoint has them; the sum of losses by its bits, so that it reads back as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedMetrics {
    step: u64,
    positions: u64,
    correct: u64,
    exact: u64,
    loss_bits: u64,
    games: u64,
    exact_games: u64,
}

impl Metrics for LabelMetrics {
    type SavedMetrics = SavedMetrics;

    fn loss(&self) -> f64 {
        self.0.loss()
    }

    fn entries(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("loss", number(self.0.loss())),
            ("labelwise", number(self.0.labelwise())),
            ("exact", number(self.0.exact())),
            ("trajectory", number(self.0.trajectory())),
            ("games", json!(self.0.games)),
        ]
    }

    fn progress(&self) -> Vec<(&'static str, f64)> {
        vec![("loss", self.0.loss()), ("labelwise", self.0.labelwise())]
    }

    fn save(&self, step: u64) -> SavedMetrics {
        let LabelTotals { positions, correct, exact, loss_sum, games, exact_games } = self.0;
        SavedMetrics { step, positions, correct, exact, loss_bits: loss_sum.to_bits(), games, exact_games }
    }

    fn restore(saved: SavedMetrics) -> (u64, Self) {
        let SavedMetrics { step, positions, correct, exact, loss_bits, games, exact_games } = saved;
        let loss_sum = f64::from_bits(loss_bits);
        (step, LabelMetrics(LabelTotals { positions, correct, exact, loss_sum, games, exact_games }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_read_back_bit_for_bit_and_have_their_order_in_curves() {
        let tally = LabelTotals { positions: 7, correct: 500, exact: 3, loss_sum: 0.1 + 0.2, games: 2, exact_games: 1 };
        let text = serde_json::to_string(&LabelMetrics(tally).save(9)).unwrap();
        let (step, LabelMetrics(read)) = LabelMetrics::restore(serde_json::from_str(&text).unwrap());
        assert_eq!((step, read), (9, tally));
        let names = LabelMetrics(tally).entries().into_iter().map(|(name, _)| name);
        assert_eq!(names.collect::<Vec<_>>(), ["loss", "labelwise", "exact", "trajectory", "games"]);
    }
}
