//! The head that chooses one of its outputs at a position: the next word, a token of an answer, the best move.

mod cross_entropy;
mod micro_batch;
mod scoring;

use std::sync::Arc;

use burn::tensor::Tensor;

pub use cross_entropy::cross_entropy;
pub use micro_batch::MicroBatch;
pub use scoring::{Score, score};

use crate::loss::Loss;

/// The class of a position that has no target.
pub const NONE: u16 = u16::MAX;

/// The right class of each row of logits.
#[derive(Clone, Debug)]
pub struct Targets {
    classes: Arc<[u16]>,
}

impl Targets {
    /// Makes targets of these classes, [rows]; [`NONE`] for a row without loss and gradient.
    pub fn new(classes: impl Into<Arc<[u16]>>) -> Self {
        Targets { classes: classes.into() }
    }

    /// The class of each row; `None` for a row without a target.
    pub fn iter(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        self.classes.iter().map(|&class| (class != NONE).then_some(usize::from(class)))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.classes.len()
    }

    /// Number of rows with a target.
    pub fn count(&self) -> usize {
        self.iter().flatten().count()
    }
}

/// Loss of `logits` [rows, outputs] against `targets`, as a share of the mean over a batch with `batch_targets` targets in
/// all.
pub fn loss(logits: Tensor<2>, targets: &Targets, batch_targets: usize) -> Loss {
    Loss::new(cross_entropy(logits, targets), (batch_targets as f64).max(1.0))
}
