//! The loss of a micro-batch, whatever head it comes from.

use burn::tensor::Tensor;

/// A micro-batch's loss before its value is read: a device can start the backward pass meanwhile.
#[derive(Debug)]
pub struct Loss {
    /// This micro-batch's share of the batch's loss; the shares of all micro-batches add up to it.
    pub share: Tensor<1>,
    /// The loss of each row, without gradients.
    rows: Tensor<1>,
}

impl Loss {
    /// The loss whose rows [rows] are these, over `denominator` in the whole batch.
    pub fn new(rows: Tensor<1>, denominator: f64) -> Self {
        Loss { rows: rows.clone().inner(), share: rows.sum() / denominator as f32 }
    }

    /// Sum over all rows, in f64 and in their order. It waits for the device.
    pub fn sum(&self) -> f64 {
        let rows = self.rows.clone().into_data();
        let rows = rows.as_slice::<f32>().expect("losses are f32 and contiguous");
        rows.iter().map(|&loss| f64::from(loss)).sum()
    }
}
