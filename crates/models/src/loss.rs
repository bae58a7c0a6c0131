//! The loss of a batch (models.md §1.3): cross-entropies of all labels of all real steps, over 75 times their number.

use burn::tensor::Tensor;

use crate::heads::LABELS;
use crate::ops::{Targets, cross_entropy};

/// Loss of a micro-batch, ready for its backward pass.
#[derive(Debug)]
pub struct Loss {
    /// This micro-batch's share of the batch's loss; the shares of all micro-batches add up to it.
    pub share: Tensor<1>,
    /// Sum of all cross-entropies, in f64.
    pub sum: f64,
}

/// Loss of `logits` [rows, 1878] against `targets`, as a share of a batch with `batch_steps` real steps in all.
pub fn loss(logits: Tensor<2>, targets: &Targets, batch_steps: usize) -> Loss {
    let shares = shares(logits, targets, batch_steps);
    let sum = shares.sum();
    Loss { share: shares.share, sum }
}

/// The same before anybody waited for its value: a device goes on with the backward pass meanwhile.
#[derive(Debug)]
pub struct Shares {
    /// As in [`Loss`].
    pub share: Tensor<1>,
    /// Cross-entropies of each row.
    rows: Tensor<1>,
}

impl Shares {
    /// Sum of all cross-entropies, in f64.
    pub fn sum(&self) -> f64 {
        let rows = self.rows.clone().into_data();
        let rows = rows.as_slice::<f32>().expect("losses are f32 and contiguous");
        rows.iter().map(|&loss| f64::from(loss)).sum()
    }
}

/// As [`loss`], without its value.
pub fn shares(logits: Tensor<2>, targets: &Targets, batch_steps: usize) -> Shares {
    let rows = cross_entropy(logits, targets);
    Shares { rows: rows.clone().inner(), share: rows.sum() / denominator(batch_steps) as f32 }
}

/// What a sum of cross-entropies over `steps` real steps is divided by; at least 1.
pub fn denominator(steps: usize) -> f64 {
    ((LABELS * steps) as f64).max(1.0)
}
