//! The recurrence of all games and heads of a batch, as one operation.

#[cfg(feature = "gpu")]
mod gpu;

use std::ops::Range;
use std::sync::Arc;

use burn::tensor::Tensor;
use burn::tensor::activation::softplus;

use crate::Tokens;
use crate::layers::mamba::MixerSize;
use crate::ops::implementation::{Implementation, implementation};
use crate::ops::kernel::{Kernel, Operand, apply};
use crate::ops::matrix::{Matrix, MatrixMut};
use crate::ops::padding::without_padding;
use crate::ops::state_space::decomposed::Sequences;
use crate::ops::state_space::{Group, Shape};
use crate::streaming::Real;

/// y_t = h_t C_t + D x_t with h_t = e^{ΔA} h_{t-1} + Δ x_t B_tᵀ, Δ = softplus(dt + dt_bias) and A = -exp(A_log).
///
/// `channels` [batch * time, inner + 2 state] are x, head by head, then B and C, which all heads share; `dt` is [batch *
/// time, heads]; the parameters dt_bias, A_log and D are [heads]. The result is [batch * time, inner] and zero at padded
/// steps.
pub fn scan(
    channels: Tensor<2>,
    dt: Tensor<2>,
    [dt_bias, a_log, skip]: [Tensor<1>; 3],
    size: MixerSize,
    tokens: &Tokens,
) -> Tensor<2> {
    let (time, lengths) = (tokens.time(), tokens.lengths().clone());
    match implementation(&channels.device()) {
        Implementation::Cpu => {
            let parameters = [dt_bias, a_log, skip].map(Operand::from);
            let [dt_bias, a_log, skip] = parameters;
            apply([Operand::from(channels), Operand::from(dt), dt_bias, a_log, skip], Scan { size, time, lengths })
        }
        #[cfg(feature = "gpu")]
        Implementation::Gpu => {
            let inputs = [channels.flatten(0, 1), dt.flatten(0, 1), dt_bias, a_log, skip];
            crate::gpu::apply(inputs, gpu::Scan { size, time, lengths }).reshape([tokens.rows(), size.inner])
        }
        Implementation::Decomposed => decompose(channels, dt, [dt_bias, a_log, skip], size, tokens),
    }
}

/// Computes [`scan`] by Burn's operations.
fn decompose(
    channels: Tensor<2>,
    dt: Tensor<2>,
    [dt_bias, a_log, skip]: [Tensor<1>; 3],
    size: MixerSize,
    tokens: &Tokens,
) -> Tensor<2> {
    let MixerSize { inner, heads, head_width, state, .. } = size;
    let (batch, time, rows) = (tokens.batch(), tokens.time(), tokens.rows());
    let part = |from: usize, width: usize| channels.clone().slice([0..rows, from..from + width]);
    let keys = |from: usize| part(from, state).reshape([batch, 1, time, state]);
    let by_head = |x: Tensor<2>| x.reshape([batch, time, heads]).swap_dims(1, 2);
    let sizes = softplus(dt + dt_bias.unsqueeze::<2>(), 1.0);
    let decays = sizes.clone() * a_log.exp().neg().unsqueeze::<2>();
    let all = Sequences {
        q: keys(inner + state),
        k: keys(inner),
        v: part(0, inner).reshape([batch, time, heads, head_width]).swap_dims(1, 2),
        decay: by_head(decays),
        own: None,
        later: by_head(sizes),
        skip,
    };
    let y = all.outputs(1).swap_dims(1, 2).reshape([rows, inner]);
    without_padding(y, time, tokens.lengths())
}

#[derive(Debug)]
struct Scan {
    size: MixerSize,
    time: usize,
    lengths: Arc<[usize]>,
}

/// The rates of one game, [steps, heads].
struct Rates {
    /// Δ
    sizes: Vec<f32>,
    /// ΔA
    decays: Vec<f32>,
}

impl Scan {
    fn columns(&self) -> usize {
        self.size.inner + 2 * self.size.state
    }

    /// The rows of each game's real steps.
    fn games(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.lengths.iter().enumerate().map(|(game, &steps)| game * self.time..game * self.time + steps)
    }

    fn rates(&self, rows: &Range<usize>, dt: &[f32], dt_bias: &[f32], a_log: &[f32]) -> Rates {
        let heads = self.size.heads;
        let dt = &dt[rows.start * heads..rows.end * heads];
        let sizes: Vec<f32> = dt.iter().zip(dt_bias.iter().cycle()).map(|(dt, bias)| (dt + bias).softplus()).collect();
        let decays = sizes.iter().zip(a_log.iter().cycle()).map(|(size, a_log)| -a_log.exp() * size).collect();
        Rates { sizes, decays }
    }

    fn group<'a>(&self, rows: &Range<usize>, channels: &'a [f32], rates: &'a Rates, skip: &'a [f32]) -> Group<'a> {
        let MixerSize { inner, heads, head_width, state, .. } = self.size;
        let (steps, columns) = (rows.len(), self.columns());
        let all = Matrix::new(&channels[rows.start * columns..rows.end * columns], steps, columns, columns);
        Group {
            shape: Shape { steps, ranks: 1, heads, state, width: head_width, chunk: Shape::usual_chunk(1) },
            q: all.columns(inner + state..columns),
            k: all.columns(inner..inner + state),
            v: all.columns(0..inner),
            decay: &rates.decays,
            own: &rates.sizes,
            later: &rates.sizes,
            skip,
        }
    }
}

impl Kernel<5> for Scan {
    fn shape(&self) -> Vec<usize> {
        vec![self.lengths.len() * self.time, self.size.inner]
    }

    fn forward(&self, [channels, dt, dt_bias, a_log, skip]: [&[f32]; 5], save: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let inner = self.size.inner;
        let mut y = vec![0.0; self.lengths.len() * self.time * inner];
        let mut saved = Vec::new();
        for rows in self.games() {
            let rates = self.rates(&rows, dt, dt_bias, a_log);
            let group = self.group(&rows, channels, &rates, skip);
            let mut states = Vec::new();
            let out = MatrixMut::new(&mut y[rows.start * inner..rows.end * inner], rows.len(), inner, inner);
            group.forward(out, save.then_some(&mut states));
            saved.push(states);
        }
        (y, saved)
    }

    fn backward(
        &self,
        [channels, dt, dt_bias, a_log, skip]: [&[f32]; 5],
        saved: Vec<Vec<f32>>,
        gradient: &[f32],
    ) -> [Vec<f32>; 5] {
        let MixerSize { inner, heads, state, .. } = self.size;
        let mut grad_channels = vec![0.0; channels.len()];
        let mut grad_dt = vec![0.0; dt.len()];
        let mut grad_parameters = [0; 3].map(|_| vec![0.0f32; heads]);
        let [grad_bias, grad_a_log, grad_skip] = &mut grad_parameters;
        for (rows, states) in self.games().zip(saved) {
            let rates = self.rates(&rows, dt, dt_bias, a_log);
            let group = self.group(&rows, channels, &rates, skip);
            let gradient = Matrix::new(&gradient[rows.start * inner..rows.end * inner], rows.len(), inner, inner);
            let found = group.backward(&states, gradient);

            let grad_rows = grad_channels[rows.start * self.columns()..].chunks_exact_mut(self.columns());
            for (t, grad_row) in grad_rows.take(rows.len()).enumerate() {
                let (grad_x, grad_keys) = grad_row.split_at_mut(inner);
                let (grad_k, grad_q) = grad_keys.split_at_mut(state);
                grad_x.copy_from_slice(&found.v[t * inner..(t + 1) * inner]);
                grad_k.copy_from_slice(&found.k[t * state..(t + 1) * state]);
                grad_q.copy_from_slice(&found.q[t * state..(t + 1) * state]);
            }
            for (i, grad_decay) in found.decay.iter().enumerate() {
                let (head, at) = (i % heads, rows.start * heads + i);
                let grad_size = found.own[i] + found.later[i] - grad_decay * a_log[head].exp();
                // The derivative of softplus is the logistic function.
                grad_dt[at] = grad_size * (dt[at] + dt_bias[head]).sigmoid();
                grad_bias[head] += grad_dt[at];
                grad_a_log[head] += grad_decay * rates.decays[i];
            }
            for (grad_skip, found) in grad_skip.iter_mut().zip(&found.skip) {
                *grad_skip += found;
            }
        }
        let [grad_bias, grad_a_log, grad_skip] = grad_parameters;
        [grad_channels, grad_dt, grad_bias, grad_a_log, grad_skip]
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::TensorData;

    use super::*;
    use crate::testing::{assert_close, assert_finite_differences, random, values};

    const SIZE: MixerSize = MixerSize { width: 6, inner: 12, heads: 3, head_width: 4, state: 5 };

    fn batch() -> Tokens {
        Tokens::padded([[1u16; 9].as_slice(), &[1; 5], &[1; 1]], 0)
    }

    fn valid(tokens: &Tokens) -> Tensor<2> {
        let valid: Vec<f32> = tokens.is_valid().map(|valid| f32::from(u8::from(valid))).collect();
        Tensor::from_data(TensorData::new(valid, [tokens.rows(), 1]), &crate::device::cpu())
    }

    /// Computes [`scan`] by Burn's operations, without a state: all steps weighed against all before them. Padded steps
    /// hold what they hold.
    fn reference(channels: Tensor<2>, dt: Tensor<2>, parameters: [Tensor<1>; 3], tokens: &Tokens) -> Tensor<2> {
        let [dt_bias, a_log, skip] = parameters;
        let MixerSize { inner, heads, head_width, state, .. } = SIZE;
        let (batch, time) = (tokens.batch(), tokens.time());
        let part = |from: usize, to: usize| channels.clone().slice([0..batch * time, from..to]);
        let x = part(0, inner).reshape([batch, time, heads, head_width]).swap_dims(1, 2);
        let keys = part(inner, inner + state).reshape([batch, 1, time, state]);
        let queries = part(inner + state, inner + 2 * state).reshape([batch, 1, time, state]);
        let sizes = softplus(dt + dt_bias.unsqueeze::<2>(), 1.0);
        let decays = -sizes.clone() * a_log.exp().unsqueeze::<2>();
        let by_head = |x: Tensor<2>| x.reshape([batch, time, heads, 1]).swap_dims(1, 2);
        let (sizes, sums) = (by_head(sizes), by_head(decays).cumsum(2));
        let differences = sums.clone() - sums.swap_dims(2, 3);
        let later: Vec<bool> = (0..time * time).map(|i| i % time > i / time).collect();
        let later =
            Tensor::<4, burn::tensor::Bool>::from_data(TensorData::new(later, [1, 1, time, time]), &channels.device());
        let weights = differences.mask_fill(later.expand([batch, heads, time, time]), f32::NEG_INFINITY).exp();
        let mixed = (queries.matmul(keys.swap_dims(2, 3)) * weights).matmul(x.clone() * sizes);
        (mixed + x * skip.reshape([1, heads, 1, 1])).swap_dims(1, 2).reshape([batch * time, inner])
    }

    fn inputs(tokens: &Tokens) -> (Tensor<2>, Tensor<2>, [Tensor<1>; 3]) {
        let channels = random::<2>([tokens.rows(), SIZE.inner + 2 * SIZE.state], 1, 1.0);
        let parameter = |seed| random::<1>([SIZE.heads], seed, 0.5);
        (channels, random::<2>([tokens.rows(), SIZE.heads], 2, 1.0), [parameter(3), parameter(4), parameter(5)])
    }

    #[test]
    fn both_forms_equal_the_reference_and_so_do_their_gradients() {
        let tokens = batch();
        let (channels, dt, parameters) = inputs(&tokens);
        let (channels, dt) = (channels.autodiff().require_grad(), dt.autodiff().require_grad());
        let parameters = parameters.map(|parameter| parameter.autodiff().require_grad());
        let pull = random::<2>([tokens.rows(), SIZE.inner], 6, 1.0) * valid(&tokens);
        let truth = reference(channels.clone(), dt.clone(), parameters.clone(), &tokens);
        let expected = (truth.clone() * pull.clone()).sum().backward();
        for form in [scan, decompose] {
            let found = form(channels.clone(), dt.clone(), parameters.clone(), SIZE, &tokens);
            assert_close(&values(&found), &values(&(truth.clone() * valid(&tokens))), 3e-6);
            let found = (found * pull.clone()).sum().backward();
            for tensor in [&channels, &dt] {
                assert_close(&values(&tensor.grad(&found).unwrap()), &values(&tensor.grad(&expected).unwrap()), 1e-5);
            }
            for tensor in &parameters {
                assert_close(&values(&tensor.grad(&found).unwrap()), &values(&tensor.grad(&expected).unwrap()), 1e-5);
            }
        }
    }

    #[test]
    fn its_gradients_are_slopes() {
        let tokens = Tokens::padded([[1u16; 4].as_slice(), &[1; 2]], 0);
        let (channels, dt, parameters) = inputs(&tokens);
        assert_finite_differences(channels.clone() * 0.5, |x| scan(x, dt.clone(), parameters.clone(), SIZE, &tokens));
        assert_finite_differences(dt.clone(), |dt| scan(channels.clone(), dt, parameters.clone(), SIZE, &tokens));
        for which in 0..3 {
            assert_finite_differences(parameters[which].clone(), |parameter| {
                let mut parameters = parameters.clone();
                parameters[which] = parameter;
                scan(channels.clone(), dt.clone(), parameters, SIZE, &tokens)
            });
        }
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn a_gpu_agrees_with_the_processor() {
        let long = Tokens::padded([[1u16; 37].as_slice(), &[1; 17], &[1; 16], &[]], 0);
        // The third has two tiles of columns; the last forgets nearly all at each step.
        for (size, tokens, steep, tolerance) in [
            (SIZE, batch(), 0.0, 3e-6),
            (SIZE, long.clone(), 0.0, 1e-5),
            (MixerSize { width: 70, inner: 140, heads: 2, head_width: 70, state: 19 }, long.clone(), 0.0, 3e-5),
            (SIZE, long, 2.5, 1e-5),
        ] {
            let (rows, columns) = (tokens.rows(), size.inner + 2 * size.state);
            let parameter = |seed| random::<1>([size.heads], seed, 0.5);
            let channels = random::<2>([rows, columns], 1, 0.5).flatten(0, 1);
            let dt = random::<2>([rows, size.heads], 2, 1.0).flatten(0, 1);
            let inputs = [channels, dt, parameter(3), parameter(4) + steep, parameter(5)];
            crate::testing::assert_gpu_agrees(inputs, tolerance, |[channels, dt, dt_bias, a_log, skip]| {
                let (channels, dt) = (channels.reshape([rows, columns]), dt.reshape([rows, size.heads]));
                scan(channels, dt, [dt_bias, a_log, skip], size, &tokens).flatten(0, 1)
            });
        }
    }

    #[test]
    fn a_game_without_steps_is_nothing() {
        let tokens = Tokens::padded([[].as_slice(), &[1; 2]], 0);
        let (channels, dt, parameters) = inputs(&tokens);
        for form in [scan, decompose] {
            let y = values(&form(channels.clone(), dt.clone(), parameters.clone(), SIZE, &tokens));
            assert!(y[..2 * SIZE.inner].iter().all(|&y| y == 0.0) && y[2 * SIZE.inner..].iter().any(|&y| y != 0.0));
        }
    }
}
