//! The layer around the delta rule: projections, short convolutions, gates, a gated norm, and the way back.

use burn::tensor::Tensor;

use super::delta::{Shape, advance, delta_rule};
use super::gated_norm::{gated_norm, gated_norm_row};
use super::gates::{gates, gates_row};
use super::{EPSILON, INIT};
use crate::layers::{Linear, ShortConvolution};
use crate::parameters::{Declaration, Init, Scope, Slot, Weights};
use crate::streaming::Real;
use crate::{ForwardPass, Tokens};

/// Sizes of a layer.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// The width of the model.
    pub width: usize,
    pub heads: usize,
    /// Width of a head's queries and keys.
    pub key: usize,
    /// Width of a head's values.
    pub value: usize,
    /// Largest strength of a correction: with more than 1 the state can turn round at a key.
    pub max_beta: f32,
}

/// Steps that the convolutions see.
const CONVOLUTION: usize = 4;

pub struct Mixer {
    size: Size,
    a_log: Slot<1>,
    dt_bias: Slot<1>,
    q: Projection,
    k: Projection,
    v: Projection,
    a: Linear,
    b: Linear,
    gate: Linear,
    norm: Slot<1>,
    out: Linear,
}

/// A projection and the convolution behind it.
#[derive(Clone, Copy)]
struct Projection {
    projection: Linear,
    convolution: ShortConvolution,
}

impl Projection {
    fn step<F: Real>(&self, weights: &Weights, memory: &mut Vec<F>, x: &[F]) -> Vec<F> {
        self.convolution.step(weights, memory, &self.projection.step(weights, x))
    }
}

impl Mixer {
    /// Arrays of the memory: the last inputs of three convolutions, and the state.
    pub const ARRAYS: usize = 4;

    pub fn declare(scope: &mut Scope<'_>, size: Size) -> Self {
        let Size { width, heads, key, value, .. } = size;
        // These two alone are exempt from weight decay in the authors' code.
        let a_log = Init::Custom(|draw| draw.uniform(0.0, 16.0).ln() as f32);
        let a_log = scope.declare("A_log", Declaration::new([heads], a_log).without_decay());
        let dt_bias = scope.declare("dt_bias", Declaration::new([heads], Init::step_bias()).without_decay());
        let mut linear = |name, inputs, outputs| Linear::declare_with(&mut scope.at(name), inputs, outputs, INIT, None);
        let [q, k] = ["q_proj", "k_proj"].map(|name| linear(name, width, heads * key));
        let v = linear("v_proj", width, heads * value);
        let [a, b] = ["a_proj", "b_proj"].map(|name| linear(name, width, heads));
        let gate = linear("g_proj", width, heads * value);
        let out = linear("o_proj", heads * value, width);
        let mut way = |projection, name, channels| {
            let convolution = ShortConvolution::declare(&mut scope.at(name), channels, CONVOLUTION, INIT, None);
            Projection { projection, convolution }
        };
        Mixer {
            size,
            a_log,
            dt_bias,
            q: way(q, "q_conv1d", heads * key),
            k: way(k, "k_conv1d", heads * key),
            v: way(v, "v_conv1d", heads * value),
            a,
            b,
            gate,
            norm: scope.at("o_norm").declare("weight", Declaration::new([value], Init::Constant(1.0))),
            out,
        }
    }

    /// [batch * time, width] to the same; zero at padded steps.
    pub fn forward(&self, pass: &ForwardPass, x: Tensor<2>, tokens: &Tokens) -> Tensor<2> {
        let (q, k, v) = (&self.q, &self.k, &self.v);
        let layers = [&q.projection, &k.projection, &v.projection, &self.a, &self.b, &self.gate];
        let [q, k, v, a, b, gate] = Linear::forward_several(layers, pass, x);
        let q = self.q.convolution.forward(pass, q, tokens);
        let k = self.k.convolution.forward(pass, k, tokens);
        let v = self.v.convolution.forward(pass, v, tokens);
        let gates = gates(a, b, pass.parameter(self.a_log), pass.parameter(self.dt_bias), self.size.max_beta);
        let answers = delta_rule(q, k, v, gates, Shape::new(tokens, &self.size));
        self.out.forward(pass, gated_norm(answers, gate, pass.parameter(self.norm), EPSILON))
    }

    /// Returns the state before the first token.
    pub fn start<F: Real>(&self) -> Vec<Vec<F>> {
        let Size { heads, key, value, .. } = self.size;
        let mut memory: Vec<Vec<F>> = [self.q, self.k, self.v].map(|way| way.convolution.start()).into();
        memory.push(vec![F::zero(); heads * key * value]);
        memory
    }

    /// One row [width] to the same.
    pub fn step<F: Real>(&self, weights: &Weights, memory: &mut [Vec<F>], x: &[F]) -> Vec<F> {
        let Size { key, value, .. } = self.size;
        let [grad_q, grad_k, grad_v, states] = memory else { unreachable!("`start` makes four arrays") };
        let q = self.q.step(weights, grad_q, x);
        let k = self.k.step(weights, grad_k, x);
        let v = self.v.step(weights, grad_v, x);
        let (a, b) = (self.a.step(weights, x), self.b.step(weights, x));
        let (a_log, dt_bias) = (weights.get(self.a_log.index), weights.get(self.dt_bias.index));
        let gates = gates_row(&a, &b, a_log, dt_bias, self.size.max_beta);
        let heads = q.chunks_exact(key).zip(k.chunks_exact(key)).zip(v.chunks_exact(value));
        let states = states.chunks_exact_mut(key * value);
        let answers: Vec<F> = heads
            .zip(states)
            .zip(gates)
            .flat_map(|((((q, k), v), state), (decay, strength))| advance(state, q, k, v, decay, strength))
            .collect();
        let gate = self.gate.step(weights, x);
        self.out.step(weights, &gated_norm_row(&answers, &gate, weights.get(self.norm.index), EPSILON))
    }
}
