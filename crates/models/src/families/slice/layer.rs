//! One layer: the controlled equation and an MLP, each behind a norm and added to the stream.

use burn::tensor::Tensor;

use super::path::{SCALE, increments};
use super::scan::{ScanAlgorithm, Shape, advance, scan};
use crate::layers::{Linear, RmsNorm};
use crate::ops::gelu;
use crate::parameters::{Declaration, Init, Scope, Slot, Weights};
use crate::streaming::{Real, sum};
use crate::{ForwardPass, Tokens};

/// Width of the MLP in multiples of the model's.
const EXPANSION: usize = 4;
/// ε of both norms.
const EPSILON: f32 = 1e-6;
/// Spread of what the recurrence begins with; that of transitions is divided by the root of the block.
const SPREAD: f64 = 0.1;

pub struct Layer {
    norm1: RmsNorm,
    init: Slot<1>,
    transitions: Linear,
    inputs: Linear,
    norm2: RmsNorm,
    mlp_in: Linear,
    mlp_out: Linear,
    width: usize,
    block: usize,
    algorithm: ScanAlgorithm,
    dropout: f64,
}

impl Layer {
    pub fn declare(scope: &mut Scope<'_>, width: usize, block: usize, algorithm: ScanAlgorithm, dropout: f64) -> Self {
        let channels = width + 1;
        let spread = SPREAD / (block as f64).sqrt();
        let mut slice = scope.at("slice");
        let init = slice.declare("init", Declaration::new([width], Init::Normal(SPREAD)));
        let transitions =
            Linear::declare_with(&mut slice.at("vf_A"), channels, width * block, Init::Normal(spread), None);
        let inputs = Linear::declare_with(&mut slice.at("vf_B"), channels, width, Init::Normal(SPREAD), None);
        Layer {
            init,
            transitions,
            inputs,
            norm1: RmsNorm::declare(&mut scope.at("norm1"), width, EPSILON),
            norm2: RmsNorm::declare(&mut scope.at("norm2"), width, EPSILON),
            mlp_in: Linear::declare(&mut scope.at("token_mlp.0"), width, EXPANSION * width),
            mlp_out: Linear::declare(&mut scope.at("token_mlp.2"), EXPANSION * width, width),
            width,
            block,
            algorithm,
            dropout,
        }
    }

    /// [batch * time, width] to the same; `index` names the layer to the observer.
    pub fn forward(&self, pass: &ForwardPass, x: Tensor<2>, tokens: &Tokens, index: usize) -> Tensor<2> {
        let path = increments(self.norm1.forward(pass, x.clone()), tokens);
        let transitions = self.transitions.forward(pass, path.clone());
        let inputs = self.inputs.forward(pass, path);
        let shape = Shape::new(tokens, self.width, self.block);
        let states = scan(pass.parameter(self.init), transitions, inputs, shape, self.algorithm);
        pass.observe(|| format!("layer{index}.slice"), &states);
        let x = x + pass.dropout(states, self.dropout);

        let hidden = gelu(self.mlp_in.forward(pass, self.norm2.forward(pass, x.clone())));
        let added = self.mlp_out.forward(pass, hidden);
        pass.observe(|| format!("layer{index}.mlp"), &added);
        let x = x + pass.dropout(added, self.dropout);
        pass.observe(|| format!("layer{index}.out"), &x);
        x
    }

    /// Returns the state before the first token: the last input (none, so zeros) and the state.
    pub fn start<F: Real>(&self, weights: &Weights) -> Vec<F> {
        let init = weights.get(self.init.index).iter().map(|&value| F::of(value));
        std::iter::repeat_n(F::zero(), self.width).chain(init).collect()
    }

    /// One row [width] to the same.
    pub fn step<F: Real>(&self, weights: &Weights, memory: &mut [F], x: &[F]) -> Vec<F> {
        let (last, state) = memory.split_at_mut(self.width);
        let u = self.norm1.step(weights, x);
        let scale = F::of(SCALE);
        let differences = u.iter().zip(last.iter()).map(|(&u, &last)| (u - last) * scale);
        let path: Vec<F> = std::iter::once(scale).chain(differences).collect();
        last.copy_from_slice(&u);
        let (transitions, inputs) = (self.transitions.step(weights, &path), self.inputs.step(weights, &path));
        advance(self.block, &transitions, &inputs, state);
        let x = sum(x, state);

        let mut hidden = self.mlp_in.step(weights, &self.norm2.step(weights, &x));
        hidden.iter_mut().for_each(|value| *value = value.gelu());
        sum(&x, &self.mlp_out.step(weights, &hidden))
    }
}
