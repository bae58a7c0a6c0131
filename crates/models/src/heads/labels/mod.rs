//! The head of the 75 labels of a position (models.md §1.2): one linear layer gives all their 1,878 logits; which label
//! has which, `cwm-encoding` says.

mod cross_entropy;
mod metrics;
mod micro_batch;
mod scoring;

pub use cross_entropy::{Targets, cross_entropy, denominator, loss};
pub use cwm_encoding::{GROUPS, LABELS, LOGITS, LabelGroup};
use cwm_encoding::{classes, first_logit};
pub use metrics::{PositionScore, Tally};
pub use micro_batch::MicroBatch;
pub use scoring::score;

use crate::{Architecture, ModelError, Network};

/// The logits of each label: start and number of classes.
pub const SPANS: [(usize, usize); LABELS] = {
    let mut spans = [(0, 0); LABELS];
    let mut label = 0;
    while label < LABELS {
        spans[label] = (first_logit(label), classes(label));
        label += 1;
    }
    spans
};

/// Builds the model that `architecture` describes, with this head.
///
/// # Errors
/// As [`Network::build`].
pub fn network(architecture: Architecture) -> Result<Network, ModelError> {
    Network::build(architecture, LOGITS)
}
