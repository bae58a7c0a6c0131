//! Affine maps.

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

    /// [rows, in] to parts of the outputs, [rows, width] for each of `widths`, which add up to all outputs.
    ///
    /// # Panics
    /// The layer has a bias: a mistake in a family.
    pub fn forward_parts<const N: usize>(
        &self,
        pass: &ForwardPass,
        x: Tensor<2>,
        widths: [usize; N],
    ) -> [Tensor<2>; N] {
        let [weight] = weights_without_bias([self], pass);
        ops::linear_parts(x, weight, widths, pass.precision())
    }

    /// Several layers of one input, [rows, in] to [rows, out] each.
    ///
    /// # Panics
    /// A layer has a bias: a mistake in a family.
    pub fn forward_several<const N: usize>(layers: [&Linear; N], pass: &ForwardPass, x: Tensor<2>) -> [Tensor<2>; N] {
        ops::linears(x, weights_without_bias(layers, pass), pass.precision())
    }

    /// [rows, in] to [rows, out]: the outputs of `value`, gated by those of `gate` behind SiLU.
    ///
    /// # Panics
    /// A layer has a bias: a mistake in a family.
    pub fn forward_swiglu(gate: &Linear, value: &Linear, pass: &ForwardPass, x: Tensor<2>) -> Tensor<2> {
        let [gate, value] = weights_without_bias([gate, value], pass);
        ops::swiglu_of(x, gate, value, pass.precision())
    }

    /// [rows, in] to [rows, out].
    pub fn forward(&self, pass: &ForwardPass, x: Tensor<2>) -> Tensor<2> {
        let bias = self.bias.map(|bias| pass.parameter(bias));
        ops::linear(x, pass.parameter(self.weight), bias, pass.precision())
    }

    /// [`Linear::forward`] in fp32 whatever the pass rounds to: for products inside a recurrence, which are never rounded.
    pub fn forward_strict(&self, pass: &ForwardPass, x: Tensor<2>) -> Tensor<2> {
        let bias = self.bias.map(|bias| pass.parameter(bias));
        ops::linear(x, pass.parameter(self.weight), bias, Precision::Fp32)
    }
}

fn weights_without_bias<const N: usize>(layers: [&Linear; N], pass: &ForwardPass) -> [Tensor<2>; N] {
    assert!(layers.iter().all(|layer| layer.bias.is_none()), "layers that share a product have no bias");
    layers.map(|layer| pass.parameter(layer.weight))
}
