//! Normalisation.

use burn::tensor::Tensor;

use crate::parameters::{Declaration, Init, Scope, Slot, Weights};
use crate::streaming::{self, Real};
use crate::{ForwardPass, ops};

/// Root-mean-square normalisation over the width, with a learnt `weight` [width] that begins at 1.
#[derive(Clone, Copy, Debug)]
pub struct RmsNorm {
    weight: Slot<1>,
    epsilon: f32,
}

impl RmsNorm {
    /// Declares the weight.
    pub fn declare(scope: &mut Scope<'_>, width: usize, epsilon: f32) -> Self {
        RmsNorm { weight: scope.declare("weight", Declaration::new([width], Init::Constant(1.0))), epsilon }
    }

    /// One row [width] to the same.
    pub fn step<F: Real>(&self, weights: &Weights, x: &[F]) -> Vec<F> {
        streaming::rms_norm(x, weights.get(self.weight.index), self.epsilon)
    }

    /// [rows, width] to the same.
    pub fn forward(&self, pass: &ForwardPass, x: Tensor<2>) -> Tensor<2> {
        ops::rms_norm(x, pass.parameter(self.weight), self.epsilon)
    }
}

/// Layer normalisation over the width, with a learnt `weight` [width] that begins at 1 and, if wanted, a `bias` [width]
/// that begins at 0. Neither decays.
#[derive(Clone, Copy, Debug)]
pub struct LayerNorm {
    weight: Slot<1>,
    bias: Option<Slot<1>>,
    epsilon: f32,
}

impl LayerNorm {
    /// Declares weight and bias.
    pub fn declare(scope: &mut Scope<'_>, width: usize, has_bias: bool, epsilon: f32) -> Self {
        let values = |value| Declaration::new([width], Init::Constant(value)).without_decay();
        LayerNorm {
            weight: scope.declare("weight", values(1.0)),
            bias: has_bias.then(|| scope.declare("bias", values(0.0))),
            epsilon,
        }
    }

    /// [rows, width] to the same.
    pub fn forward(&self, pass: &ForwardPass, x: Tensor<2>) -> Tensor<2> {
        let bias = self.bias.map(|bias| pass.parameter(bias));
        ops::layer_norm(x, pass.parameter(self.weight), bias, self.epsilon)
    }
}
