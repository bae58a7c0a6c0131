//! One layer: the gated delta rule and a gated MLP, each behind a norm and added to the stream.

use burn::tensor::Tensor;

use super::mixer::{Mixer, Size};
use super::{EPSILON, INIT};
use crate::layers::{Linear, RmsNorm};
use crate::parameters::{Scope, Weights};
use crate::streaming::{Real, sum};
use crate::{ForwardPass, Tokens};

pub struct Block {
    attn_norm: RmsNorm,
    attn: Mixer,
    mlp_norm: RmsNorm,
    gate: Linear,
    up: Linear,
    down: Linear,
}

/// Width of the MLP: two thirds of four times the model's, up to the next multiple of 256.
fn mlp_width(width: usize) -> usize {
    (width * 4 * 2 / 3).next_multiple_of(256)
}

impl Block {
    /// Arrays of the memory.
    pub const ARRAYS: usize = Mixer::ARRAYS;

    pub fn declare(scope: &mut Scope<'_>, size: Size) -> Self {
        let (width, hidden) = (size.width, mlp_width(size.width));
        let linear = |scope: &mut Scope<'_>, name: &str, inputs, outputs| {
            Linear::declare_with(&mut scope.at(name), inputs, outputs, INIT, None)
        };
        Block {
            attn_norm: RmsNorm::declare(&mut scope.at("attn_norm"), width, EPSILON),
            attn: Mixer::declare(&mut scope.at("attn"), size),
            mlp_norm: RmsNorm::declare(&mut scope.at("mlp_norm"), width, EPSILON),
            gate: linear(scope, "mlp.gate_proj", width, hidden),
            up: linear(scope, "mlp.up_proj", width, hidden),
            down: linear(scope, "mlp.down_proj", hidden, width),
        }
    }

    /// [batch * time, width] to the same; `index` names the layer to the observer.
    pub fn forward(&self, pass: &ForwardPass, x: Tensor<2>, tokens: &Tokens, index: usize) -> Tensor<2> {
        let mixed = self.attn.forward(pass, self.attn_norm.forward(pass, x.clone()), tokens);
        pass.observe(|| format!("layer{index}.attn"), &mixed);
        let x = x + mixed;

        let normed = self.mlp_norm.forward(pass, x.clone());
        let hidden = Linear::forward_swiglu(&self.gate, &self.up, pass, normed);
        let added = self.down.forward(pass, hidden);
        pass.observe(|| format!("layer{index}.mlp"), &added);
        let x = x + added;
        pass.observe(|| format!("layer{index}.out"), &x);
        x
    }

    /// Returns the state before the first token.
    pub fn start<F: Real>(&self) -> Vec<Vec<F>> {
        self.attn.start()
    }

    /// One row [width] to the same.
    pub fn step<F: Real>(&self, weights: &Weights, memory: &mut [Vec<F>], x: &[F]) -> Vec<F> {
        let x = sum(x, &self.attn.step(weights, memory, &self.attn_norm.step(weights, x)));
        let normed = self.mlp_norm.step(weights, &x);
        let (gate, up) = (self.gate.step(weights, &normed), self.up.step(weights, &normed));
        let hidden: Vec<F> = gate.iter().zip(up).map(|(gate, up)| gate.silu() * up).collect();
        sum(&x, &self.down.step(weights, &hidden))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_mlp_is_as_wide_as_the_authors() {
        assert_eq!([32, 128, 256, 384, 512].map(super::mlp_width), [256, 512, 768, 1024, 1536]);
    }
}
