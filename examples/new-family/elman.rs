//! A plain recurrent network (Elman 1990): the worked example of a new family, docs/new-family.md.
//!
//! Each layer computes h_t = tanh(W x_t + b + U h_{t-1}), h_{-1} = 0, from the normed stream and adds it to the stream. The
//! loop over time is part of the graph, which is short to write and slow to train; the other families have faster forms.

use burn::tensor::Tensor;

use super::Family;
use crate::layers::{Embedding, Linear, RmsNorm};
use crate::parameters::{Init, Scope, Weights};
use crate::streaming::Real;
use crate::{Architecture, Backbone, ForwardPass, HeadInit, ModelError, Recurrence, RecurrentState, Tokens};

pub const FAMILY: Family = Family {
    name: "elman",
    part: "elman",
    description: "a plain recurrent network with tanh, the worked example of a new family",
    options: &[],
    head: HeadInit::LINEAR,
    build: |architecture, scope| Ok(Box::new(Elman::declare(architecture, scope)?)),
};

/// ε of every norm.
const EPSILON: f32 = 1e-6;

struct Elman {
    embedding: Embedding,
    layers: Vec<Layer>,
    final_norm: RmsNorm,
    dropout: f64,
}

impl Elman {
    fn declare(architecture: &Architecture, scope: &mut Scope<'_>) -> Result<Self, ModelError> {
        let (vocabulary, width) = (architecture.vocabulary, architecture.size.width);
        Ok(Elman {
            embedding: Embedding::declare(&mut scope.at("embedding"), vocabulary, width, Init::Normal(1.0), None),
            layers: (0..architecture.size.layers)
                .map(|i| Layer::declare(&mut scope.at(format_args!("layers.{i}")), width))
                .collect(),
            final_norm: RmsNorm::declare(&mut scope.at("final_norm"), width, EPSILON),
            dropout: architecture.dropout,
        })
    }
}

impl Backbone for Elman {
    fn blocks(&self, pass: &ForwardPass, tokens: &Tokens) -> Tensor<2> {
        let x = pass.dropout(self.embedding.forward(pass, tokens), self.dropout);
        let mut x = pass.stream(0, x);
        for (i, layer) in self.layers.iter().enumerate() {
            x = pass.stream(i + 1, x.clone() + pass.dropout(layer.forward(pass, x, tokens), self.dropout));
        }
        x
    }

    fn final_norm(&self, pass: &ForwardPass, x: Tensor<2>) -> Tensor<2> {
        self.final_norm.forward(pass, x)
    }

    fn recurrence(&self) -> Option<&dyn Recurrence<f32>> {
        Some(self)
    }

    fn recurrence_f64(&self) -> Option<&dyn Recurrence<f64>> {
        Some(self)
    }
}

impl<F: Real> Recurrence<F> for Elman {
    fn start(&self, _: &Weights) -> RecurrentState<F> {
        RecurrentState(self.layers.iter().map(Layer::start).collect())
    }

    fn step(&self, weights: &Weights, memory: &mut RecurrentState<F>, token: u32) -> Vec<F> {
        let mut x = self.embedding.step(weights, token);
        for (layer, state) in self.layers.iter().zip(&mut memory.0) {
            layer.step(weights, state, &x);
            for (x, &state) in x.iter_mut().zip(state.iter()) {
                *x += state;
            }
        }
        self.final_norm.step(weights, &x)
    }
}

struct Layer {
    norm: RmsNorm,
    /// W and b.
    input: Linear,
    /// U.
    recurrent: Linear,
    width: usize,
}

impl Layer {
    fn declare(scope: &mut Scope<'_>, width: usize) -> Self {
        Layer {
            norm: RmsNorm::declare(&mut scope.at("norm"), width, EPSILON),
            input: Linear::declare(&mut scope.at("input"), width, width),
            recurrent: Linear::declare_with(&mut scope.at("recurrent"), width, width, Init::linear(width), None),
            width,
        }
    }

    /// [batch * time, width] to the states, the same shape.
    fn forward(&self, pass: &ForwardPass, x: Tensor<2>, tokens: &Tokens) -> Tensor<2> {
        let (batch, time) = (tokens.batch(), tokens.time());
        // One product for all steps; the loop has only the part that depends on the previous state.
        let written = self.input.forward(pass, self.norm.forward(pass, x)).reshape([batch, time, self.width]);
        let mut state = Tensor::<2>::zeros([batch, self.width], &written.device());
        let mut states = Vec::with_capacity(time);
        for t in 0..time {
            let now = written.clone().slice([0..batch, t..t + 1]).reshape([batch, self.width]);
            // In fp32 in every precision, as in all recurrences: a rounding error here would accumulate over the steps.
            state = (now + self.recurrent.forward_strict(pass, state)).tanh();
            states.push(state.clone());
        }
        Tensor::stack::<3>(states, 1).reshape([batch * time, self.width])
    }

    /// The state before the first token, [width].
    fn start<F: Real>(&self) -> Vec<F> {
        vec![F::zero(); self.width]
    }

    /// Reads a row [width] into the state.
    fn step<F: Real>(&self, weights: &Weights, state: &mut Vec<F>, x: &[F]) {
        let written = self.input.step(weights, &self.norm.step(weights, x));
        let kept = self.recurrent.step(weights, state);
        *state = written.iter().zip(&kept).map(|(&written, &kept)| (written + kept).tanh()).collect();
    }
}
