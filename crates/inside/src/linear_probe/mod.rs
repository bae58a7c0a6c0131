//! Linear probes: for each of 64 squares a matrix that reads the class of the square from a row of the stream.
//!
//! - `target`: which classes. `block`: loss and gradient of some squares in one product. `metrics`: what predictions are worth.
//! - `majority`: the baseline that reads nothing. `difference`: probes that are differences of means.
//! - `file`: the format `probes`. `composition`: whether probes of piece and of colour add up.

mod block;
mod composition;
mod difference;
mod file;
mod majority;
mod metrics;
mod target;

pub use block::{BLOCK, Block};
pub use composition::{Composition, compose};
pub use difference::DifferenceSums;
pub use file::{FORMAT, LayerProbe, LinearProbes, LinearProbesDescription};
pub use majority::Majority;
pub use metrics::{Counts, Interval, Metrics, intervals};
pub use target::Target;

use cwm_models::parameters::{Init, InitRng};

/// Squares of a board, a8 first and h1 last, as labels have them.
pub const SQUARES: usize = 64;

/// A linear probe of one layer.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearProbe {
    classes: usize,
    width: usize,
    weight: Vec<f32>,
    bias: Option<Vec<f32>>,
}

/// The predictions of a linear probe for some rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Predictions {
    /// The likeliest class of each square, [rows, 64]; of equals the first.
    pub classes: Vec<u8>,
    /// Sum of the cross-entropies of each row's squares.
    pub losses: Vec<f64>,
}

impl LinearProbe {
    /// A linear probe without biases; `weight` is [64, classes, width].
    ///
    /// # Panics
    /// It has another size: a mistake of the caller.
    pub fn new(classes: usize, width: usize, weight: Vec<f32>) -> Self {
        assert_eq!(weight.len(), SQUARES * classes * width, "the size of a linear probe");
        LinearProbe { classes, width, weight, bias: None }
    }

    /// One whose weights are drawn as PyTorch draws those of a linear layer: uniform within 1/√width.
    pub fn initial(classes: usize, width: usize, seed: u64) -> Self {
        let mut weight = vec![0.0; SQUARES * classes * width];
        Init::linear(width).fill(&mut weight, &mut InitRng::seeded(seed));
        LinearProbe::new(classes, width, weight)
    }

    /// Classes of a square.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Channels of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The weights, [64, classes, width].
    pub fn weight(&self) -> &[f32] {
        &self.weight
    }

    /// The weights, to change.
    pub fn weight_mut(&mut self) -> &mut [f32] {
        &mut self.weight
    }

    /// The weights of a class on a square, [width].
    pub fn direction(&self, square: usize, class: usize) -> &[f32] {
        let place = square * self.classes + class;
        &self.weight[place * self.width..(place + 1) * self.width]
    }

    /// Reads rows `x` [rows, width], whose true classes are `labels` [rows, 64].
    ///
    /// # Panics
    /// The sizes do not fit, or a label is not below the number of classes: mistakes of the caller.
    pub fn predict(&self, x: &[f32], labels: &[u8]) -> Predictions {
        let rows = labels.len() / SQUARES;
        let mut predictions = Predictions { classes: vec![0; rows * SQUARES], losses: vec![0.0; rows] };
        let mut logits = Vec::new();
        for block in Block::all(self.classes, self.width) {
            let part = block.gather(&self.weight);
            block.logits(&part, x, &mut logits);
            let bias = self.bias.as_deref().map(|bias| Block { width: 1, ..block }.gather(bias));
            let rows = logits.chunks_exact_mut(self.classes * BLOCK).zip(predictions.classes.chunks_exact_mut(SQUARES));
            for (row, (logits, classes)) in rows.enumerate() {
                if let Some(bias) = &bias {
                    logits.iter_mut().zip(bias).for_each(|(logit, bias)| *logit += bias);
                }
                block.likeliest(logits, &mut classes[block.squares()]);
                let labels = &labels[row * SQUARES..][block.squares()];
                predictions.losses[row] += f64::from(block::softmax(logits, labels, 1.0));
            }
        }
        predictions
    }
}

#[cfg(test)]
mod golden;
#[cfg(test)]
mod planted;
