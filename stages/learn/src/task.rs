//! The task that this stage trains: the target at each place that has one.

use std::sync::Arc;

use cwm_models::heads::choice::{self, MicroBatch};
use cwm_models::loss::Loss;
use cwm_models::parameters::Layout;
use cwm_models::{Architecture, ForwardPass, Network};
use cwm_training::Objective;

use crate::metrics::ChoiceMetrics;

/// A network that learns to choose one of its outputs.
pub struct ChoiceTask(pub Network);

impl Objective for ChoiceTask {
    type MicroBatch = MicroBatch;
    type Metrics = ChoiceMetrics;
    type Identity = Architecture;

    fn identity(&self) -> &Architecture {
        self.0.architecture()
    }

    fn layout(&self) -> &Arc<Layout> {
        self.0.layout()
    }

    fn positions(&self, micro_batch: &MicroBatch) -> usize {
        micro_batch.rows.len()
    }

    fn denominator(&self, positions: usize) -> f64 {
        positions.max(1) as f64
    }

    fn loss(&self, pass: &ForwardPass, micro_batch: &MicroBatch, positions: usize) -> Loss {
        let MicroBatch { tokens, rows, targets, .. } = micro_batch;
        choice::loss(self.0.logits_at(pass, tokens, rows), targets, positions)
    }
}
