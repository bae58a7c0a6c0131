//! The head behind the blocks of a model: a linear map from each position's last hidden state to logits.
//!
//! The caller decides how many logits a position has: blocks know only their width. The meaning of the logits, their
//! loss and their metrics are the matter of one module a head, such as [`labels`].

pub mod labels;

use burn::tensor::Tensor;

use crate::ForwardPass;
use crate::layers::Linear;
use crate::parameters::{Init, Scope, Weights};
use crate::streaming::Real;

/// The initial distribution of the head of a family's models; a family may depart from PyTorch's default.
#[derive(Clone, Copy, Debug)]
pub struct HeadInit {
    /// Initial weight, from the model's width.
    pub weight: fn(width: usize) -> Init,
    /// Initial bias, likewise.
    pub bias: fn(width: usize) -> Init,
}

impl HeadInit {
    /// PyTorch's default for a linear layer: uniform within 1/√width for both.
    pub const LINEAR: HeadInit = HeadInit { weight: Init::linear, bias: Init::linear };
}

/// The last layer of a model, declared as `output_head`.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    linear: Linear,
    outputs: usize,
}

impl Head {
    /// Declares a head of `outputs` logits a position for hidden states of this width.
    pub(crate) fn declare(scope: &mut Scope<'_>, width: usize, outputs: usize, init: HeadInit) -> Self {
        let (weight, bias) = ((init.weight)(width), (init.bias)(width));
        let linear = Linear::declare_with(&mut scope.at("output_head"), width, outputs, weight, Some(bias));
        Head { linear, outputs }
    }

    /// Number of logits a position.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Hidden states [rows, width] to logits [rows, outputs].
    pub fn forward(&self, pass: &ForwardPass, hidden: Tensor<2>) -> Tensor<2> {
        self.linear.forward(pass, hidden)
    }

    /// One hidden state [width] to its logits [outputs].
    pub fn step<F: Real>(&self, weights: &Weights, hidden: &[F]) -> Vec<F> {
        self.linear.step(weights, hidden)
    }
}
