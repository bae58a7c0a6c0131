//! The recurrence of all games and heads of a batch, as one operation.

mod decomposed;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use burn::tensor::Tensor;

use super::Widths;
use super::rates::{HeadGradients, Rates};
use super::rotation::Rotations;
use crate::Tokens;
use crate::ops::implementation::{Implementation, implementation};
use crate::ops::kernel::{Kernel, Operand, apply};
use crate::ops::matrix::{Matrix, MatrixMut};
use crate::ops::state_space::{Group, Shape};

/// The inputs of the recurrence, row by row.
pub struct Inputs {
    /// Normed keys B of all ranks, [rows, ranks * state].
    pub keys: Tensor<2>,
    /// Normed queries C of all ranks, [rows, ranks * state].
    pub queries: Tensor<2>,
    /// Values before they are scaled, [rows, heads * head width].
    pub x: Tensor<2>,
    /// Step sizes, decays and trapezoid shares of each head and the speeds of the angles, [rows, 3 heads + state / 4].
    pub rates: Tensor<2>,
}

/// Its parameters.
pub struct Parameters {
    /// [heads]
    pub dt_bias: Tensor<1>,
    /// B_bias, [heads, ranks, state]
    pub key_bias: Tensor<3>,
    /// C_bias, [heads, ranks, state]
    pub query_bias: Tensor<3>,
    /// [heads, ranks, head width]
    pub mimo_x: Tensor<3>,
    /// D, [heads]
    pub skip: Tensor<1>,
}

/// y_t = h_t q_t + D v_t with h_t = e^{ΔA} (h_{t-1} + (1-τ)Δ v_{t-1} k_{t-1}ᵀ) + τΔ v_t k_tᵀ, keys and queries with biases
/// and turned by angles that grow by Δ π tanh(ang) (models.md §7). The result is [rows, heads * ranks * head width] and
/// zero at padded steps.
pub fn scan(inputs: Inputs, parameters: Parameters, widths: Widths, tokens: &Tokens) -> Tensor<2> {
    let (time, lengths) = (tokens.time(), tokens.lengths().clone());
    match implementation(&inputs.keys.device()) {
        Implementation::Cpu => {
            let operands = [
                Operand::from(inputs.keys),
                Operand::from(inputs.queries),
                Operand::from(inputs.x),
                Operand::from(inputs.rates),
                Operand::from(parameters.dt_bias),
                Operand::from(parameters.key_bias),
                Operand::from(parameters.query_bias),
                Operand::from(parameters.mimo_x),
                Operand::from(parameters.skip),
            ];
            apply(operands, Scan { widths, time, lengths })
        }
        #[cfg(feature = "gpu")]
        Implementation::Gpu => {
            let [keys, queries, x, rates] =
                [inputs.keys, inputs.queries, inputs.x, inputs.rates].map(|input| input.flatten(0, 1));
            let [key_bias, query_bias, mimo_x] =
                [parameters.key_bias, parameters.query_bias, parameters.mimo_x].map(|block| block.flatten(0, 2));
            let (dt_bias, skip) = (parameters.dt_bias, parameters.skip);
            let operands = [keys, queries, x, rates, dt_bias, key_bias, query_bias, mimo_x, skip];
            let shape = [tokens.rows(), widths.size.heads * widths.values()];
            crate::gpu::apply(operands, gpu::Scan { widths, time, lengths }).reshape(shape)
        }
        Implementation::Decomposed => decomposed::decompose(inputs, parameters, widths, tokens),
    }
}

#[derive(Debug)]
struct Scan {
    widths: Widths,
    time: usize,
    lengths: Arc<[usize]>,
}

/// Keys, queries and values of one head of one game, [steps * ranks, ...].
struct Rows {
    k: Vec<f32>,
    q: Vec<f32>,
    v: Vec<f32>,
}

impl Scan {
    /// The rows of each game's real steps.
    fn games(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.lengths.iter().enumerate().map(|(game, &steps)| game * self.time..game * self.time + steps)
    }

    fn rates(&self, rows: &Range<usize>, [_, _, _, raw, dt_bias, ..]: [&[f32]; 9]) -> Rates {
        let columns = self.widths.rates();
        Rates::new(&self.widths, &raw[rows.start * columns..rows.end * columns], dt_bias)
    }

    fn rotations<'a>(&self, rates: &'a Rates, head: usize) -> Rotations<'a> {
        Rotations { pairing: self.widths.pairing, cosines: &rates.cosines[head], sines: &rates.sines[head] }
    }

    fn gather(&self, rows: &Range<usize>, head: usize, rates: &Rates, inputs: [&[f32]; 9]) -> Rows {
        let [keys, queries, x, _, _, key_bias, query_bias, mimo_x, _] = inputs;
        let Widths { size, ranks, .. } = self.widths;
        let (all_keys, all_values) = (self.widths.keys(), self.widths.values());
        let turned = |source: &[f32], bias: &[f32]| {
            let mut turned = vec![0.0; rows.len() * all_keys];
            let source = &source[rows.start * all_keys..rows.end * all_keys];
            let bias = &bias[head * all_keys..(head + 1) * all_keys];
            rotate_rows(source, bias, ranks, self.rotations(rates, head), &mut turned);
            turned
        };
        let mut v = vec![0.0; rows.len() * all_values];
        let scales = &mimo_x[head * all_values..(head + 1) * all_values];
        for (row, v) in rows.clone().zip(v.chunks_exact_mut(all_values)) {
            let x = &x[row * size.inner + head * size.head_width..][..size.head_width];
            for (v, scales) in v.chunks_exact_mut(size.head_width).zip(scales.chunks_exact(size.head_width)) {
                for ((v, scale), x) in v.iter_mut().zip(scales).zip(x) {
                    *v = scale * x;
                }
            }
        }
        Rows { k: turned(keys, key_bias), q: turned(queries, query_bias), v }
    }

    fn group<'a>(&self, steps: usize, head: usize, rates: &'a Rates, rows: &'a Rows, skip: &'a [f32]) -> Group<'a> {
        let Widths { size, ranks, .. } = self.widths;
        let chunk = Shape::usual_chunk(ranks);
        Group {
            shape: Shape { steps, ranks, heads: 1, state: size.state, width: size.head_width, chunk },
            q: Matrix::new(&rows.q, steps * ranks, size.state, size.state),
            k: Matrix::new(&rows.k, steps * ranks, size.state, size.state),
            v: Matrix::new(&rows.v, steps * ranks, size.head_width, size.head_width),
            decay: &rates.decay[head],
            own: &rates.own[head],
            later: &rates.later[head],
            skip: &skip[head..=head],
        }
    }

    /// Returns the range of a row and head in the output.
    fn place(&self, row: usize, head: usize) -> Range<usize> {
        let values = self.widths.values();
        let start = (row * self.widths.size.heads + head) * values;
        start..start + values
    }
}

impl Kernel<9> for Scan {
    fn shape(&self) -> Vec<usize> {
        vec![self.lengths.len() * self.time, self.widths.size.heads * self.widths.values()]
    }

    fn forward(&self, inputs: [&[f32]; 9], save: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let Widths { size, ranks, .. } = self.widths;
        let values = self.widths.values();
        let mut y = vec![0.0; self.lengths.len() * self.time * size.heads * values];
        let mut saved = Vec::new();
        let mut out = vec![0.0; self.time * values];
        for rows in self.games() {
            let rates = self.rates(&rows, inputs);
            for head in 0..size.heads {
                let gathered = self.gather(&rows, head, &rates, inputs);
                let group = self.group(rows.len(), head, &rates, &gathered, inputs[8]);
                let mut states = Vec::new();
                let into = MatrixMut::new(&mut out, rows.len() * ranks, size.head_width, size.head_width);
                group.forward(into, save.then_some(&mut states));
                saved.push(states);
                for (row, out) in rows.clone().zip(out.chunks_exact(values)) {
                    y[self.place(row, head)].copy_from_slice(out);
                }
            }
        }
        (y, saved)
    }

    fn backward(&self, inputs: [&[f32]; 9], saved: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 9] {
        let Widths { size, ranks, .. } = self.widths;
        let (all_keys, values, columns) = (self.widths.keys(), self.widths.values(), self.widths.rates());
        let mut into = inputs.map(|input| vec![0.0; input.len()]);
        let [_, _, x, raw, dt_bias, _, _, mimo_x, skip] = inputs;
        let [
            grad_keys,
            grad_queries,
            grad_x,
            grad_raw,
            grad_dt_bias,
            grad_key_bias,
            grad_query_bias,
            grad_mimo_x,
            grad_skip,
        ] = &mut into;
        let mut saved = saved.iter();
        let mut pull = vec![0.0; self.time * values];
        for rows in self.games() {
            let rates = self.rates(&rows, inputs);
            for head in 0..size.heads {
                let gathered = self.gather(&rows, head, &rates, inputs);
                let group = self.group(rows.len(), head, &rates, &gathered, skip);
                for (row, pull) in rows.clone().zip(pull.chunks_exact_mut(values)) {
                    pull.copy_from_slice(&gradient[self.place(row, head)]);
                }
                let states = saved.next().expect("states of each game and head");
                let pull = Matrix::new(&pull, rows.len() * ranks, size.head_width, size.head_width);
                let mut found = group.backward(states, pull);

                let mut grad_angles = vec![0.0; rates.cosines[head].len()];
                let rotations = self.rotations(&rates, head);
                for (turned, gradient, grad_source, grad_bias) in [
                    (&gathered.k, &mut found.k, &mut *grad_keys, &mut *grad_key_bias),
                    (&gathered.q, &mut found.q, &mut *grad_queries, &mut *grad_query_bias),
                ] {
                    rotate_rows_backward(turned, gradient, ranks, size.state, rotations, &mut grad_angles);
                    let grad_source = &mut grad_source[rows.start * all_keys..rows.end * all_keys];
                    add_rows(gradient, grad_source, &mut grad_bias[head * all_keys..(head + 1) * all_keys]);
                }
                let scales = &mimo_x[head * values..(head + 1) * values];
                let grad_scales = &mut grad_mimo_x[head * values..(head + 1) * values];
                for (row, grad_v) in rows.clone().zip(found.v.chunks_exact(values)) {
                    let at = row * size.inner + head * size.head_width;
                    let at = at..at + size.head_width;
                    through_scales(grad_v, scales, &x[at.clone()], &mut grad_x[at], grad_scales);
                }
                grad_skip[head] += found.skip[0];
                let found =
                    HeadGradients { decay: found.decay, own: found.own, later: found.later, angles: grad_angles };
                let of = rows.start * columns..rows.end * columns;
                let into = [&mut grad_raw[of.clone()], grad_dt_bias.as_mut_slice()];
                rates.backward(&self.widths, head, &found, [&raw[of], dt_bias], into);
            }
        }
        into
    }
}

/// Rows [steps, ranks * state] plus their bias, turned by each step's angles.
#[macerator::with_simd]
fn rotate_rows<'a, S: macerator::Simd>(
    rows: &[f32],
    bias: &[f32],
    ranks: usize,
    rotations: Rotations<'a>,
    into: &mut [f32],
) {
    let state = bias.len() / ranks;
    for (t, (row, into)) in rows.chunks_exact(bias.len()).zip(into.chunks_exact_mut(bias.len())).enumerate() {
        for ((into, row), bias) in into.iter_mut().zip(row).zip(bias) {
            *into = row + bias;
        }
        let (cosines, sines) = rotations.at(t, state);
        for row in into.chunks_exact_mut(state) {
            rotations.pairing.rotate(row, cosines, sines);
        }
    }
}

/// Turns the gradient of turned rows into that of the rows; adds that of the angles [steps, angles] to `grads`.
#[macerator::with_simd]
fn rotate_rows_backward<'a, S: macerator::Simd>(
    turned: &[f32],
    gradient: &mut [f32],
    ranks: usize,
    state: usize,
    rotations: Rotations<'a>,
    grads: &mut [f32],
) {
    for (row, (turned, gradient)) in turned.chunks_exact(state).zip(gradient.chunks_exact_mut(state)).enumerate() {
        let (cosines, sines) = rotations.at(row / ranks, state);
        let grads = &mut grads[row / ranks * cosines.len()..][..cosines.len()];
        rotations.pairing.rotate_back(turned, gradient, cosines, sines, grads);
    }
}

/// Adds rows to others, and their sum to the bias that all have in common.
#[macerator::with_simd]
fn add_rows<S: macerator::Simd>(rows: &[f32], into: &mut [f32], grad_bias: &mut [f32]) {
    for (row, into) in rows.chunks_exact(grad_bias.len()).zip(into.chunks_exact_mut(grad_bias.len())) {
        for ((row, into), grad_bias) in row.iter().zip(into).zip(grad_bias.iter_mut()) {
            *into += row;
            *grad_bias += row;
        }
    }
}

/// Adds the gradients of a head's values before they were scaled, and of the scales.
#[macerator::with_simd]
fn through_scales<S: macerator::Simd>(
    grad_v: &[f32],
    scales: &[f32],
    x: &[f32],
    grad_x: &mut [f32],
    grad_scales: &mut [f32],
) {
    let ranks = grad_v.chunks_exact(x.len()).zip(scales.chunks_exact(x.len()));
    for ((grad_v, scales), grad_scales) in ranks.zip(grad_scales.chunks_exact_mut(x.len())) {
        let inputs = grad_v.iter().zip(scales).zip(x);
        for (((grad_v, scale), x), (grad_x, grad_scale)) in inputs.zip(grad_x.iter_mut().zip(grad_scales)) {
            *grad_x += grad_v * scale;
            *grad_scale += grad_v * x;
        }
    }
}
