//! Softmax attention under a mask, with rotary positions if any, as one operation.

mod continued;
mod decomposed;
#[cfg(feature = "gpu")]
mod gpu;
mod kernel;
mod rotation;
mod rows;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use burn::tensor::Tensor;

use self::decomposed::decompose;
use self::kernel::AttentionKernel;
use crate::ops::Dropout;
use crate::ops::implementation::{Implementation, implementation};
use crate::ops::kernel::{Operand, apply};
use crate::{Precision, Tokens};

pub use self::continued::{ContinuationPoint, EarlierSteps, continued};
pub use self::rotation::{Layout, Rotation};

/// The steps that a step sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    /// The steps up to its own.
    Causal,
    /// All steps of its sequence.
    None,
}

/// Shape of a batch of attention.
#[derive(Clone, Debug)]
pub struct Shape {
    time: usize,
    lengths: Arc<[usize]>,
    heads: usize,
    head_width: usize,
    mask: Mask,
}

impl Shape {
    /// Returns the shape for this batch, causal.
    pub fn new(tokens: &Tokens, heads: usize, head_width: usize) -> Self {
        Shape { time: tokens.time(), lengths: tokens.lengths().clone(), heads, head_width, mask: Mask::Causal }
    }

    /// Returns this shape under `mask`.
    pub fn masked(self, mask: Mask) -> Self {
        Shape { mask, ..self }
    }

    fn width(&self) -> usize {
        self.heads * self.head_width
    }

    fn rows(&self) -> usize {
        self.lengths.len() * self.time
    }

    /// 1/√D
    fn scale(&self) -> f32 {
        1.0 / (self.head_width as f32).sqrt()
    }
}

/// softmax(q kᵀ/√D) v over the steps that each step sees, with dropout on the probabilities.
///
/// `qkv` is [batch * time, 3 * width], queries, keys, values, each head by head; the result is [batch * time, width] and
/// zero at padded steps. `precision` rounds the operands of its products; scores and softmax are f32.
pub fn attention(
    qkv: Tensor<2>,
    shape: Shape,
    rotation: &Rotation,
    dropout: Option<Dropout>,
    precision: Precision,
) -> Tensor<2> {
    match implementation(&qkv.device()) {
        Implementation::Cpu => {
            apply([Operand::from(qkv)], AttentionKernel { shape, rotation: rotation.clone(), dropout, precision })
        }
        #[cfg(feature = "gpu")]
        Implementation::Gpu if gpu::fits(&shape) => {
            let dims = [shape.rows(), shape.width()];
            let operation = gpu::Attention { shape, rotation: rotation.clone(), dropout, precision };
            crate::gpu::apply([qkv.flatten(0, 1)], operation).reshape(dims)
        }
        _ => decompose(qkv, &shape, rotation, dropout, precision),
    }
}
