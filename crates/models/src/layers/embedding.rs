//! Lookup of move tokens in a table.

use burn::tensor::Tensor;

use crate::parameters::{Declaration, Init, Scope, Slot, Weights};
use crate::streaming::Real;
use crate::{ForwardPass, Tokens};

/// A table [vocabulary, width], declared as `weight`. It is only looked up, or gives the logits too ([`Embedding::tied`]).
#[derive(Clone, Copy, Debug)]
pub struct Embedding {
    weight: Slot<2>,
}

impl Embedding {
    /// Declares the table. The row `padding`, if given, never receives a gradient.
    pub fn declare(scope: &mut Scope<'_>, vocabulary: usize, width: usize, init: Init, padding: Option<usize>) -> Self {
        Embedding { weight: scope.declare("weight", Declaration::embedding([vocabulary, width], init, padding)) }
    }

    /// Declares a table that is used whole as well: as the head's matrix.
    pub fn tied(scope: &mut Scope<'_>, vocabulary: usize, width: usize, init: Init) -> Self {
        Embedding { weight: scope.declare("weight", Declaration::new([vocabulary, width], init)) }
    }

    /// The table itself, [vocabulary, width].
    pub fn table(&self) -> Slot<2> {
        self.weight
    }

    /// The row of one token, [width].
    pub fn step<F: Real>(&self, weights: &Weights, token: u32) -> Vec<F> {
        let [_, width] = self.weight.shape;
        let start = token as usize * width;
        weights.get(self.weight.index)[start..start + width].iter().map(|&value| F::of(value)).collect()
    }

    /// Rows of the tokens: [batch * time, width].
    pub fn forward(&self, pass: &ForwardPass, tokens: &Tokens) -> Tensor<2> {
        pass.embedding(self.weight, tokens)
    }
}
