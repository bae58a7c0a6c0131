//! The loss of a micro-batch, whatever head it comes from.

use burn::tensor::Tensor;

/// A micro-batch's loss before its value is read: a device can start the backward pass meanwhile.
#[derive(Debug)]
pub struct Loss {
    /// The share of each row [rows] in the batch's loss; the shares of all micro-batches add up to it. Gradients are those
    /// of the sum, which is not computed: on some devices Burn's sums are not the same to the bit from run to run.
    pub share: Tensor<1>,
    /// The loss of each row, without gradients.
    rows: Tensor<1>,
}

impl Loss {
    /// The loss whose rows [rows] are these, over `denominator` in the whole batch.
    pub fn new(rows: Tensor<1>, denominator: f64) -> Self {
        Loss { rows: rows.clone().inner(), share: rows / denominator as f32 }
    }

    /// The loss of each row [rows], without gradients.
    pub fn rows(&self) -> &Tensor<1> {
        &self.rows
    }

    /// Sum over all rows, in f64 and in their order. It waits for the device.
    pub fn sum(&self) -> f64 {
        let rows = self.rows.clone().into_data();
        let rows = rows.as_slice::<f32>().expect("losses are f32 and contiguous");
        rows.iter().map(|&loss| f64::from(loss)).sum()
    }
}
