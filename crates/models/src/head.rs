//! The head behind the blocks of a model: a linear map from each position's last hidden state to logits, with a matrix
//! of its own or with the blocks' table of tokens.
//!
//! The caller decides how many logits a position has: blocks depend only on their width. What the logits mean is the matter of
//! [`crate::heads`].

use burn::tensor::Tensor;

use crate::layers::Linear;
use crate::parameters::{Scope, Slot, Weights};
use crate::streaming::Real;
use crate::{ForwardPass, HeadInit, ops};

/// The last layer of a model.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    map: Map,
    outputs: usize,
}

/// The map from hidden states to logits.
#[derive(Clone, Copy, Debug)]
enum Map {
    /// By parameters of the head, declared as `output_head`.
    Own(Linear),
    /// By the first rows of a table [tokens, width] that the blocks look tokens up in: h Wᵀ.
    Tied(Slot<2>),
}

impl Head {
    /// Declares a head of `outputs` logits a position for hidden states of this width.
    pub(crate) fn declare(scope: &mut Scope<'_>, width: usize, outputs: usize, init: HeadInit) -> Self {
        let (weight, bias) = ((init.weight)(width), init.bias.map(|bias| bias(width)));
        let linear = Linear::declare_with(&mut scope.at("output_head"), width, outputs, weight, bias);
        Head { map: Map::Own(linear), outputs }
    }

    /// A head whose logits are products with the first `outputs` rows of this table; `None` if it has fewer.
    pub(crate) fn tied(table: Slot<2>, outputs: usize) -> Option<Self> {
        (outputs <= table.shape[0]).then_some(Head { map: Map::Tied(table), outputs })
    }

    /// Number of logits a position.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Hidden states [rows, width] to logits [rows, outputs].
    pub fn forward(&self, pass: &ForwardPass, hidden: Tensor<2>) -> Tensor<2> {
        match self.map {
            Map::Own(linear) => linear.forward(pass, hidden),
            Map::Tied(table) => {
                let rows = pass.parameter(table).slice([0..self.outputs, 0..table.shape[1]]);
                ops::linear(hidden, rows, None, pass.precision())
            }
        }
    }

    /// One hidden state [width] to its logits [outputs].
    pub fn step<F: Real>(&self, weights: &Weights, hidden: &[F]) -> Vec<F> {
        match self.map {
            Map::Own(linear) => linear.step(weights, hidden),
            Map::Tied(table) => {
                let rows = weights.get(table.index).chunks_exact(hidden.len()).take(self.outputs);
                rows.map(|row| F::dot(row, hidden)).collect()
            }
        }
    }
}
