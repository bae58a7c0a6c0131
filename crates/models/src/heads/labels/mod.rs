//! The head of the 75 labels of a position (models.md §1.2): one linear layer gives all their 1,878 logits; which label
//! has which is defined by `cwm-encoding`.

mod cross_entropy;
mod metrics;
mod micro_batch;
mod scoring;

use std::path::Path;

pub use cross_entropy::{Targets, cross_entropy, denominator, loss};
pub use cwm_encoding::{GROUPS, LABELS, LOGITS, LabelGroup};
use cwm_encoding::{classes, first_logit};
pub use metrics::{LabelTotals, PositionScore};
pub use micro_batch::MicroBatch;
pub use scoring::score;

use crate::checkpoint::{self, DESCRIPTION_FILE, Description};
use crate::parameters::Weights;
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

/// Reads a checkpoint of a model with this head.
///
/// # Errors
/// As [`checkpoint::read`]; or it is a model of another head.
pub fn read(folder: &Path) -> Result<(Description, Network, Weights), ModelError> {
    let path = folder.join(DESCRIPTION_FILE);
    match Description::read(&path)?.form() {
        Some(form) => Err(ModelError::content(
            &path,
            format!("is a model that `learn` trained on sequences of the form `{form}`: it has no labels"),
        )),
        None => checkpoint::read(folder, LOGITS),
    }
}
