//! Short causal convolutions.

use burn::tensor::Tensor;

use crate::parameters::{Declaration, Init, Scope, Slot, Weights};
use crate::streaming::Real;
use crate::{ForwardPass, Tokens, ops};

/// A causal convolution of each channel by itself, then SiLU: `weight` [channels, 1, W] and, if any, `bias` [channels].
#[derive(Clone, Copy, Debug)]
pub struct ShortConvolution {
    weight: Slot<3>,
    bias: Option<Slot<1>>,
}

impl ShortConvolution {
    /// Declares `width` weights a channel and, if `bias` is given, biases.
    pub fn declare(scope: &mut Scope<'_>, channels: usize, width: usize, weight: Init, bias: Option<Init>) -> Self {
        ShortConvolution {
            weight: scope.declare("weight", Declaration::new([channels, 1, width], weight)),
            bias: bias.map(|init| scope.declare("bias", Declaration::new([channels], init))),
        }
    }

    /// [batch * time, channels] to the same; zero at padded steps.
    pub fn forward(&self, pass: &ForwardPass, x: Tensor<2>, tokens: &Tokens) -> Tensor<2> {
        ops::short_convolution(x, pass.parameter(self.weight), self.bias.map(|bias| pass.parameter(bias)), tokens)
    }

    /// Returns the state of [`ShortConvolution::step`] before the first step: the inputs of the last W - 1 steps.
    pub fn start<F: Real>(&self) -> Vec<F> {
        let [channels, _, width] = self.weight.shape;
        vec![F::zero(); (width - 1) * channels]
    }

    /// One row [channels] to the same.
    pub fn step<F: Real>(&self, weights: &Weights, memory: &mut Vec<F>, x: &[F]) -> Vec<F> {
        let [channels, _, width] = self.weight.shape;
        memory.extend_from_slice(x);
        let weight = weights.get(self.weight.index).chunks_exact(width);
        let of_channel = |(channel, weight): (usize, &[f32])| {
            let bias = self.bias.map_or(0.0, |bias| weights.get(bias.index)[channel]);
            let inputs = memory.iter().skip(channel).step_by(channels);
            inputs.zip(weight).fold(F::of(bias), |sum, (&x, &w)| sum + x * F::of(w)).silu()
        };
        let y = weight.enumerate().map(of_channel).collect();
        memory.drain(..channels);
        y
    }
}
