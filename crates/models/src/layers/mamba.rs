//! The parts of Mamba models around their mixers (models.md §5): a residual stream through mixer and gated MLP, each
//! behind a norm, and a final norm.

use burn::tensor::Tensor;

use super::{Embedding, Linear, RmsNorm};
use crate::ops::{Gate, swiglu};
use crate::parameters::{Init, Scope, Weights};
use crate::streaming::{Real, Recurrence, RecurrentState, sum};
use crate::{Architecture, Backbone, ForwardPass, HeadInit, ModelError, Size, Tokens};

/// ε of every norm.
pub const EPSILON: f32 = 1e-5;

/// The mixer works at this multiple of the model's width.
const MIXER_EXPANSION: usize = 2;

/// Width of the MLP in multiples of the model's, rounded up to a multiple of [`MLP_MULTIPLE`].
const MLP_EXPANSION: usize = 4;
const MLP_MULTIPLE: usize = 128;

/// A layer that mixes the steps of a game.
pub trait Mixer: Send + Sync {
    /// Number of arrays that it remembers.
    const ARRAYS: usize;

    /// [batch * time, width] to the same.
    fn forward(&self, pass: &ForwardPass, x: Tensor<2>, tokens: &Tokens) -> Tensor<2>;

    /// Its arrays before the first step.
    fn start<F: Real>(&self) -> Vec<Vec<F>>;

    /// One row [width] to the same.
    fn step<F: Real>(&self, weights: &Weights, memory: &mut [Vec<F>], x: &[F]) -> Vec<F>;
}

/// Widths of a mixer.
#[derive(Clone, Copy, Debug)]
pub struct MixerSize {
    /// The width of the model.
    pub width: usize,
    /// The width of all heads together, twice the model's.
    pub inner: usize,
    /// Number of heads.
    pub heads: usize,
    /// The width of a head.
    pub head_width: usize,
    /// The width of keys and queries.
    pub state: usize,
}

impl MixerSize {
    /// For a model of this size with heads of `head_width` channels.
    ///
    /// # Errors
    /// The mixer's width does not divide into such heads.
    pub fn new(size: Size, head_width: usize, state: usize) -> Result<Self, ModelError> {
        let inner = MIXER_EXPANSION * size.width;
        if !inner.is_multiple_of(head_width) {
            return Err(ModelError::Architecture(format!(
                "size {size}: the mixer's width of {inner} does not divide into heads of {head_width}"
            )));
        }
        Ok(MixerSize { width: size.width, inner, heads: inner / head_width, head_width, state })
    }
}

/// Initialisation of the layer that writes to the residual stream, from `inputs` inputs, in a model of `layers` layers:
/// PyTorch's default over √(2 layers), since each layer writes twice.
pub fn residual_init(inputs: usize, layers: usize) -> Init {
    Init::Uniform(1.0 / (inputs as f64).sqrt() / (2.0 * layers as f64).sqrt())
}

/// The initial distribution of the head of a Mamba model: PyTorch's default, with a bias of zero.
pub const HEAD: HeadInit = HeadInit { weight: Init::linear, bias: Some(|_| Init::Constant(0.0)) };

/// A Mamba model with mixers `M`.
pub struct MambaStack<M> {
    embedding: Embedding,
    layers: Vec<Layer<M>>,
    final_norm: RmsNorm,
    dropout: f64,
}

struct Layer<M> {
    norm: RmsNorm,
    mixer: M,
    norm2: RmsNorm,
    fc1: Linear,
    fc2: Linear,
}

impl<M: Mixer> MambaStack<M> {
    /// Declares a model whose mixers `mixer` declares.
    pub fn declare(
        architecture: &Architecture,
        scope: &mut Scope<'_>,
        mut mixer: impl FnMut(&mut Scope<'_>) -> M,
    ) -> Self {
        let Size { width, layers } = architecture.size;
        let hidden = (MLP_EXPANSION * width).next_multiple_of(MLP_MULTIPLE);
        let init = Init::Normal(0.02);
        let embedding = Embedding::declare(&mut scope.at("embedding"), architecture.vocabulary, width, init, None);
        let layer = |index: usize| {
            let mut scope = scope.at(format_args!("layers.{index}"));
            let (inner, outer) = (Init::linear(width), residual_init(hidden, layers));
            Layer {
                norm: RmsNorm::declare(&mut scope.at("norm"), width, EPSILON),
                mixer: mixer(&mut scope.at("mixer")),
                norm2: RmsNorm::declare(&mut scope.at("norm2"), width, EPSILON),
                fc1: Linear::declare_with(&mut scope.at("mlp.fc1"), width, 2 * hidden, inner, None),
                fc2: Linear::declare_with(&mut scope.at("mlp.fc2"), hidden, width, outer, None),
            }
        };
        let layers = (0..layers).map(layer).collect();
        let final_norm = RmsNorm::declare(&mut scope.at("final_norm"), width, EPSILON);
        MambaStack { embedding, layers, final_norm, dropout: architecture.dropout }
    }
}

impl<M: Mixer> Backbone for MambaStack<M> {
    fn blocks(&self, pass: &ForwardPass, tokens: &Tokens) -> Tensor<2> {
        let x = pass.dropout(self.embedding.forward(pass, tokens), self.dropout);
        let mut x = pass.stream(0, x);
        for (index, layer) in self.layers.iter().enumerate() {
            let mixed = layer.mixer.forward(pass, layer.norm.forward(pass, x.clone()), tokens);
            pass.observe(|| format!("layer{index}.mixer"), &mixed);
            x = x + mixed;
            pass.observe(|| format!("layer{index}.residual_before_mlp_add"), &x);
            let gated = swiglu(layer.fc1.forward(pass, layer.norm2.forward(pass, x.clone())), Gate::Second);
            let added = layer.fc2.forward(pass, gated);
            pass.observe(|| format!("layer{index}.mlp"), &added);
            x = pass.stream(index + 1, x + added);
        }
        x
    }

    fn final_norm(&self, pass: &ForwardPass, x: Tensor<2>) -> Tensor<2> {
        let x = self.final_norm.forward(pass, x);
        pass.observe(|| "final_norm".to_owned(), &x);
        x
    }

    fn recurrence(&self) -> Option<&dyn Recurrence<f32>> {
        Some(self)
    }

    fn recurrence_f64(&self) -> Option<&dyn Recurrence<f64>> {
        Some(self)
    }
}

impl<M: Mixer, F: Real> Recurrence<F> for MambaStack<M> {
    fn start(&self, _weights: &Weights) -> RecurrentState<F> {
        RecurrentState(self.layers.iter().flat_map(|layer| layer.mixer.start()).collect())
    }

    fn step(&self, weights: &Weights, memory: &mut RecurrentState<F>, token: u32) -> Vec<F> {
        let mut x = self.embedding.step(weights, token);
        for (layer, memory) in self.layers.iter().zip(memory.0.chunks_exact_mut(M::ARRAYS)) {
            x = sum(&x, &layer.mixer.step(weights, memory, &layer.norm.step(weights, &x)));
            let projected = layer.fc1.step(weights, &layer.norm2.step(weights, &x));
            let (value, gate) = projected.split_at(projected.len() / 2);
            let gated: Vec<F> = value.iter().zip(gate).map(|(&value, gate)| value * gate.silu()).collect();
            x = sum(&x, &layer.fc2.step(weights, &gated));
        }
        self.final_norm.step(weights, &x)
    }
}
