//! The mixer: projection, convolution, recurrence, gated norm, projection.

use burn::tensor::Tensor;

use super::gated_norm::{gated_norm, gated_norm_row};
use super::scan::scan;
use crate::layers::mamba::{EPSILON, Mixer, MixerSize, residual_init};
use crate::layers::{Linear, ShortConvolution};
use crate::ops::state_space::steps::{forget, read, write};
use crate::parameters::{Declaration, Init, Scope, Slot, Weights};
use crate::streaming::Real;
use crate::{ForwardPass, Tokens};

/// Steps that the convolution sees.
const CONVOLUTION: usize = 4;

pub struct Mamba2 {
    size: MixerSize,
    dt_bias: Slot<1>,
    a_log: Slot<1>,
    skip: Slot<1>,
    in_proj: Linear,
    conv1d: ShortConvolution,
    norm: Slot<1>,
    out_proj: Linear,
}

impl Mamba2 {
    pub fn declare(scope: &mut Scope<'_>, size: MixerSize, layers: usize) -> Self {
        let MixerSize { width, inner, heads, state, .. } = size;
        let channels = inner + 2 * state;
        let one = Init::Constant(1.0);
        let convolution = Init::linear(CONVOLUTION);
        Mamba2 {
            size,
            dt_bias: scope.declare("dt_bias", Declaration::new([heads], Init::step_bias())),
            a_log: scope
                .declare("A_log", Declaration::new([heads], Init::Custom(|draw| draw.uniform(1.0, 16.0).ln() as f32))),
            skip: scope.declare("D", Declaration::new([heads], one)),
            in_proj: Linear::declare_with(
                &mut scope.at("in_proj"),
                width,
                inner + channels + heads,
                Init::linear(width),
                None,
            ),
            conv1d: ShortConvolution::declare(
                &mut scope.at("conv1d"),
                channels,
                CONVOLUTION,
                convolution,
                Some(convolution),
            ),
            norm: scope.at("norm").declare("weight", Declaration::new([inner], one)),
            out_proj: Linear::declare_with(&mut scope.at("out_proj"), inner, width, residual_init(inner, layers), None),
        }
    }
}

impl Mixer for Mamba2 {
    const ARRAYS: usize = 2;

    fn forward(&self, pass: &ForwardPass, x: Tensor<2>, tokens: &Tokens) -> Tensor<2> {
        let MixerSize { inner, heads, state, .. } = self.size;
        let [z, convolved, dt] = self.in_proj.forward_parts(pass, x, [inner, inner + 2 * state, heads]);
        let convolved = self.conv1d.forward(pass, convolved, tokens);
        let parameters = [self.dt_bias, self.a_log, self.skip].map(|slot| pass.parameter(slot));
        let y = scan(convolved, dt, parameters, self.size, tokens);
        self.out_proj.forward(pass, gated_norm(y, z, pass.parameter(self.norm), EPSILON))
    }

    fn start<F: Real>(&self) -> Vec<Vec<F>> {
        vec![self.conv1d.start(), vec![F::zero(); self.size.inner * self.size.state]]
    }

    fn step<F: Real>(&self, weights: &Weights, memory: &mut [Vec<F>], x: &[F]) -> Vec<F> {
        let MixerSize { inner, head_width, state, .. } = self.size;
        let projected = self.in_proj.step(weights, x);
        let (z, rest) = projected.split_at(inner);
        let (channels, dt) = rest.split_at(inner + 2 * state);
        let [convolution, states] = memory else { panic!("two arrays a layer") };
        let convolved = self.conv1d.step(weights, convolution, channels);
        let (x, keys) = convolved.split_at(inner);
        let (k, q) = keys.split_at(state);
        let of = |slot: Slot<1>, head: usize| F::of(weights.get(slot.index)[head]);
        let mut y = Vec::with_capacity(inner);
        for (head, (x, memory)) in
            x.chunks_exact(head_width).zip(states.chunks_exact_mut(state * head_width)).enumerate()
        {
            let delta = (dt[head] + of(self.dt_bias, head)).softplus();
            forget(memory, (-of(self.a_log, head).exp() * delta).exp());
            write(memory, delta, k, x);
            let answer = read(memory, q, head_width);
            y.extend(answer.iter().zip(x).map(|(&answer, &x)| answer + of(self.skip, head) * x));
        }
        self.out_proj.step(weights, &gated_norm_row(&y, z, weights.get(self.norm.index), EPSILON))
    }
}
