//! Affine maps.

use std::ops::Range;

use burn::tensor::Tensor;

use crate::parameters::{Declaration, Init, Scope, Slot, Weights};
use crate::streaming::Real;
use crate::{ForwardPass, Precision, ops};

/// y = W x + b with `weight` [out, in] and, if any, `bias` [out].
///
/// It works on rows, [batch * time, in]: a batch axis of its own would send Burn on a slower route.
#[derive(Clone, Copy, Debug)]
pub struct Linear {
    weight: Slot<2>,
    bias: Option<Slot<1>>,
}

impl Linear {
    /// Declares weight and bias with PyTorch's default initialisation, uniform within 1/√in for both.
    pub fn declare(scope: &mut Scope<'_>, inputs: usize, outputs: usize) -> Self {
        Self::declare_with(scope, inputs, outputs, Init::linear(inputs), Some(Init::linear(inputs)))
    }

    /// Declares weight and, if `bias` is given, bias with initialisations of the caller's.
    pub fn declare_with(
        scope: &mut Scope<'_>,
        inputs: usize,
        outputs: usize,
        weight: Init,
        bias: Option<Init>,
    ) -> Self {
        let bias = bias.map(|init| Declaration::new([outputs], init));
        Self::declare_as(scope, Declaration::new([outputs, inputs], weight), bias)
    }

    /// Declares a weight [out, in] and, if given, a bias [out] as the caller wants them.
    pub fn declare_as(scope: &mut Scope<'_>, weight: Declaration<2>, bias: Option<Declaration<1>>) -> Self {
        Linear { weight: scope.declare("weight", weight), bias: bias.map(|bias| scope.declare("bias", bias)) }
    }

    /// One row [in] to [out].
    pub fn step<F: Real>(&self, weights: &Weights, x: &[F]) -> Vec<F> {
        let mut y: Vec<F> = weights.get(self.weight.index).chunks_exact(x.len()).map(|w| F::dot(w, x)).collect();
        if let Some(bias) = self.bias {
            for (y, &bias) in y.iter_mut().zip(weights.get(bias.index)) {
                *y += F::of(bias);
            }
        }
        y
    }

    /// [rows, in] to these outputs alone, [rows, outputs.len()], of a layer without bias.
    ///
    /// Outputs that go different ways are better computed apart: a part of a weight is small, and so is its gradient;
    /// the gradient of a part of all rows would be as large as all of them.
    ///
    /// # Panics
    /// The layer has a bias, or fewer outputs: a mistake in a family.
    pub fn forward_outputs(&self, pass: &ForwardPass, x: Tensor<2>, outputs: Range<usize>) -> Tensor<2> {
        assert!(self.bias.is_none(), "parts of layers without bias only");
        let [_, inputs] = self.weight.shape;
        ops::linear(x, pass.parameter(self.weight).slice([outputs, 0..inputs]), None, pass.precision())
    }

    /// [rows, in] to [rows, out].
    pub fn forward(&self, pass: &ForwardPass, x: Tensor<2>) -> Tensor<2> {
        let bias = self.bias.map(|bias| pass.parameter(bias));
        ops::linear(x, pass.parameter(self.weight), bias, pass.precision())
    }

    /// The same in fp32 whatever the pass rounds to: for products inside a recurrence, which are never rounded.
    pub fn forward_strict(&self, pass: &ForwardPass, x: Tensor<2>) -> Tensor<2> {
        let bias = self.bias.map(|bias| pass.parameter(bias));
        ops::linear(x, pass.parameter(self.weight), bias, Precision::Fp32)
    }
}
