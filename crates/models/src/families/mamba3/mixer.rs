//! The mixer: projection, norms of keys and queries, recurrence, gate, projection.

use burn::tensor::Tensor;

use super::Widths;
use super::gate::gate;
use super::rates::LEAST_DECAY;
use super::scan::{Inputs, Parameters, scan};
use crate::layers::mamba::{EPSILON, Mixer, MixerSize, residual_init};
use crate::layers::{Linear, RmsNorm};
use crate::ops::state_space::steps::{forget, read, write};
use crate::parameters::{Declaration, Init, Scope, Slot, Weights};
use crate::streaming::{Real, sum};
use crate::{ForwardPass, Tokens};

pub struct Mamba3 {
    widths: Widths,
    dt_bias: Slot<1>,
    key_bias: Slot<3>,
    query_bias: Slot<3>,
    mimo: Option<Mimo>,
    skip: Slot<1>,
    in_proj: Linear,
    key_norm: RmsNorm,
    query_norm: RmsNorm,
    out_proj: Linear,
}

/// The factors of each of a head's inputs and outputs, [heads, ranks, head width].
struct Mimo {
    x: Slot<3>,
    z: Slot<3>,
    o: Slot<3>,
}

impl Mamba3 {
    pub fn declare(scope: &mut Scope<'_>, widths: Widths, is_mimo: bool, layers: usize) -> Self {
        let MixerSize { width, inner, heads, head_width, state } = widths.size;
        let ranks = widths.ranks;
        let one = Init::Constant(1.0);
        let share = Init::Constant(1.0 / ranks as f32);
        let outputs = 2 * inner + 2 * widths.keys() + widths.rates();
        let mut scaled = |name: &str, init| scope.declare(name, Declaration::new([heads, ranks, head_width], init));
        let mimo =
            is_mimo.then(|| Mimo { x: scaled("mimo_x", share), z: scaled("mimo_z", one), o: scaled("mimo_o", share) });
        let bias = Declaration::new([heads, ranks, state], one);
        Mamba3 {
            widths,
            dt_bias: scope.declare("dt_bias", Declaration::new([heads], Init::step_bias())),
            key_bias: scope.declare("B_bias", bias.clone()),
            query_bias: scope.declare("C_bias", bias),
            mimo,
            skip: scope.declare("D", Declaration::new([heads], one)),
            in_proj: Linear::declare_with(&mut scope.at("in_proj"), width, outputs, Init::linear(width), None),
            key_norm: RmsNorm::declare(&mut scope.at("B_norm"), state, EPSILON),
            query_norm: RmsNorm::declare(&mut scope.at("C_norm"), state, EPSILON),
            out_proj: Linear::declare_with(&mut scope.at("out_proj"), inner, width, residual_init(inner, layers), None),
        }
    }

    /// The rows of all ranks behind a norm.
    fn normed(&self, norm: &RmsNorm, pass: &ForwardPass, rows: Tensor<2>) -> Tensor<2> {
        let ([count, _], state) = (rows.dims(), self.widths.size.state);
        norm.forward(pass, rows.reshape([count * self.widths.ranks, state])).reshape([count, self.widths.keys()])
    }

    /// A head's keys or queries at one step, [ranks * state]: normed, with biases, turned.
    fn keys<F: Real>(
        &self,
        weights: &Weights,
        norm: &RmsNorm,
        bias: Slot<3>,
        head: usize,
        rows: &[F],
        (cosines, sines): (&[F], &[F]),
    ) -> Vec<F> {
        let (state, all) = (self.widths.size.state, self.widths.keys());
        let mut keys: Vec<F> = rows.chunks_exact(state).flat_map(|row| norm.step(weights, row)).collect();
        for (key, &bias) in keys.iter_mut().zip(&weights.get(bias.index)[head * all..]) {
            *key += F::of(bias);
        }
        for row in keys.chunks_exact_mut(state) {
            self.widths.pairing.rotate(row, cosines, sines);
        }
        keys
    }

    /// One head's scales of a kind, [ranks * head width]; all 1 in SISO.
    fn scales<F: Real>(&self, weights: &Weights, which: impl Fn(&Mimo) -> Slot<3>, head: usize) -> Vec<F> {
        let values = self.widths.values();
        match &self.mimo {
            Some(mimo) => {
                weights.get(which(mimo).index)[head * values..][..values].iter().map(|&scale| F::of(scale)).collect()
            }
            None => vec![F::one(); values],
        }
    }
}

impl Mixer for Mamba3 {
    /// States, keys and values of the step before, angles.
    const ARRAYS: usize = 4;

    fn forward(&self, pass: &ForwardPass, x: Tensor<2>, tokens: &Tokens) -> Tensor<2> {
        let MixerSize { inner, heads, head_width, .. } = self.widths.size;
        let (all_keys, rates) = (self.widths.keys(), self.widths.rates());
        let parts = [inner, inner, all_keys, all_keys, rates];
        let [z, x, keys, queries, rates] = self.in_proj.forward_parts(pass, x, parts);
        let [mimo_x, mimo_z, mimo_o] = match &self.mimo {
            Some(mimo) => [mimo.x, mimo.z, mimo.o].map(|slot| pass.parameter(slot)),
            None => {
                let ones = Tensor::ones([heads, 1, head_width], &pass.device().clone().inner());
                [ones.clone(), ones.clone(), ones]
            }
        };
        let inputs = Inputs {
            keys: self.normed(&self.key_norm, pass, keys),
            queries: self.normed(&self.query_norm, pass, queries),
            x,
            rates,
        };
        let parameters = Parameters {
            dt_bias: pass.parameter(self.dt_bias),
            key_bias: pass.parameter(self.key_bias),
            query_bias: pass.parameter(self.query_bias),
            mimo_x,
            skip: pass.parameter(self.skip),
        };
        let y = scan(inputs, parameters, self.widths, tokens);
        self.out_proj.forward(pass, gate(y, z, mimo_z, mimo_o, self.widths))
    }

    fn start<F: Real>(&self) -> Vec<Vec<F>> {
        let MixerSize { inner, heads, state, .. } = self.widths.size;
        let Widths { ranks, .. } = self.widths;
        let lengths = [inner * state, heads * ranks * state, ranks * inner, heads * self.widths.angles()];
        lengths.map(|length| vec![F::zero(); length]).to_vec()
    }

    fn step<F: Real>(&self, weights: &Weights, memory: &mut [Vec<F>], x: &[F]) -> Vec<F> {
        let MixerSize { inner, heads, head_width, state, .. } = self.widths.size;
        let (all_keys, all_values, angles) = (self.widths.keys(), self.widths.values(), self.widths.angles());
        let projected = self.in_proj.step(weights, x);
        let (z, rest) = projected.split_at(inner);
        let (x, rest) = rest.split_at(inner);
        let (keys, rest) = rest.split_at(all_keys);
        let (queries, rates) = rest.split_at(all_keys);
        let [states, last_keys, last_values, sums] = memory else { panic!("four arrays a layer") };
        let turn = F::of(2.0) * F::from(std::f64::consts::PI).expect("a number");
        let mut out = Vec::with_capacity(inner);
        for head in 0..heads {
            let of = |slot: Slot<1>| F::of(weights.get(slot.index)[head]);
            let size = (rates[head] + of(self.dt_bias)).softplus();
            let amount = (-rates[heads + head].softplus()).min(-F::of(LEAST_DECAY));
            let share = rates[2 * heads + head].sigmoid();
            let decay = (size * amount).exp();

            let sums = &mut sums[head * angles..(head + 1) * angles];
            for (sum, speed) in sums.iter_mut().zip(&rates[3 * heads..]) {
                *sum += turn / F::of(2.0) * speed.tanh() * size;
                // Whole turns are taken off, so that an angle keeps its digits however long the game.
                *sum -= turn * (*sum / turn).round();
            }
            let cosines: Vec<F> = sums.iter().map(|sum| sum.cos()).collect();
            let sines: Vec<F> = sums.iter().map(|sum| sum.sin()).collect();
            let k = self.keys(weights, &self.key_norm, self.key_bias, head, keys, (&cosines, &sines));
            let q = self.keys(weights, &self.query_norm, self.query_bias, head, queries, (&cosines, &sines));
            let x = &x[head * head_width..(head + 1) * head_width];
            let scales = self.scales::<F>(weights, |mimo| mimo.x, head);
            let v: Vec<F> = scales.iter().zip(x.iter().cycle()).map(|(&scale, &x)| scale * x).collect();

            let memory = &mut states[head * state * head_width..(head + 1) * state * head_width];
            let last_k = &mut last_keys[head * all_keys..(head + 1) * all_keys];
            let last_v = &mut last_values[head * all_values..(head + 1) * all_values];
            forget(memory, decay);
            let ranks = last_k.chunks_exact(state).zip(last_v.chunks_exact(head_width));
            ranks.for_each(|(k, v)| write(memory, (F::one() - share) * size * decay, k, v));
            let ranks = k.chunks_exact(state).zip(v.chunks_exact(head_width));
            ranks.for_each(|(k, v)| write(memory, share * size, k, v));

            let z = &z[head * head_width..(head + 1) * head_width];
            let gates = self.scales::<F>(weights, |mimo| mimo.z, head);
            let outs = self.scales::<F>(weights, |mimo| mimo.o, head);
            let mut gated = vec![F::zero(); head_width];
            for (rank, (q, v)) in q.chunks_exact(state).zip(v.chunks_exact(head_width)).enumerate() {
                let answer = read(memory, q, head_width);
                let at = rank * head_width..(rank + 1) * head_width;
                let scales = gates[at.clone()].iter().zip(&outs[at]);
                let y = answer.iter().zip(v).map(|(&answer, &v)| answer + of(self.skip) * v);
                let share: Vec<F> = y.zip(z).zip(scales).map(|((y, &z), (&g, &o))| o * y * (z * g).silu()).collect();
                gated = sum(&gated, &share);
            }
            out.extend(gated);
            last_k.copy_from_slice(&k);
            last_v.copy_from_slice(&v);
        }
        self.out_proj.step(weights, &out)
    }
}
