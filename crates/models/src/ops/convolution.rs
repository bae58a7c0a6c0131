//! Short causal convolutions, channel by channel, with SiLU.

#[cfg(feature = "gpu")]
mod gpu;

use std::sync::Arc;

use burn::tensor::Tensor;
use burn::tensor::activation::silu;

use super::exp::sigmoid;
use super::implementation::{Implementation, implementation};
use super::kernel::{Kernel, Operand, apply};
use super::padding::without_padding;
use crate::Tokens;

/// SiLU(bias + Σ_j weight_j ⊙ x_{t-W+1+j}) with zeros before each game's start; the last of the W weights is that of the
/// current step.
///
/// `x` is [batch * time, channels], `weight` [channels, 1, W] as PyTorch's depthwise convolutions have it, `bias`
/// [channels] if there is one. The result has the shape of `x` and is zero at padded steps.
pub fn short_convolution(x: Tensor<2>, weight: Tensor<3>, bias: Option<Tensor<1>>, tokens: &Tokens) -> Tensor<2> {
    let ([_, channels], [_, _, width]) = (x.dims(), weight.dims());
    let (time, lengths) = (tokens.time(), tokens.lengths().clone());
    match implementation(&x.device()) {
        Implementation::Cpu => {
            let bias = bias.unwrap_or_else(|| Tensor::zeros([channels], &weight.device().inner()));
            let kernel = Convolution { time, lengths, channels, width };
            apply([Operand::from(x), Operand::from(weight), Operand::from(bias)], kernel)
        }
        #[cfg(feature = "gpu")]
        Implementation::Gpu => {
            let (shape, kernel) = (x.dims(), gpu::Convolution { time, lengths, channels, width });
            let (x, weight) = (x.flatten(0, 1), weight.flatten(0, 2));
            let y = match bias {
                Some(bias) => crate::gpu::apply([x, weight, bias], kernel),
                None => crate::gpu::apply([x, weight], kernel),
            };
            y.reshape(shape)
        }
        Implementation::Decomposed => decompose(x, weight, bias, tokens),
    }
}

/// Computes [`short_convolution`] by Burn's operations.
fn decompose(x: Tensor<2>, weight: Tensor<3>, bias: Option<Tensor<1>>, tokens: &Tokens) -> Tensor<2> {
    let (batch, time) = (tokens.batch(), tokens.time());
    let [channels, _, width] = weight.dims();
    let x = x.reshape([batch, time, channels]);
    let before = Tensor::zeros([batch, width - 1, channels], &x.device());
    let x = Tensor::cat(vec![before, x], 1);
    let tap = |j: usize| {
        let of = weight.clone().slice([0..channels, 0..1, j..j + 1]).reshape([1, 1, channels]);
        x.clone().slice([0..batch, j..j + time, 0..channels]) * of
    };
    let mut y = (1..width).fold(tap(0), |sum, j| sum + tap(j));
    if let Some(bias) = bias {
        y = y + bias.reshape([1, 1, channels]);
    }
    without_padding(silu(y).reshape([batch * time, channels]), time, tokens.lengths())
}

#[derive(Debug)]
struct Convolution {
    time: usize,
    lengths: Arc<[usize]>,
    channels: usize,
    width: usize,
}

impl Convolution {
    /// Transposes [channels, W] to [W, channels], so that channels lie side by side.
    fn taps(&self, weight: &[f32]) -> Vec<f32> {
        let tap = |j: usize| weight.iter().skip(j).step_by(self.width).copied();
        (0..self.width).flat_map(tap).collect()
    }

    /// The values of each game: their first element in an array of rows, and the game's steps.
    fn games(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.lengths.iter().enumerate().map(|(game, &steps)| (game * self.time * self.channels, steps))
    }
}

impl Kernel<3> for Convolution {
    fn shape(&self) -> Vec<usize> {
        vec![self.lengths.len() * self.time, self.channels]
    }

    fn forward(&self, [x, weight, bias]: [&[f32]; 3], _keep: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let taps = self.taps(weight);
        let mut y = vec![0.0; x.len()];
        for (start, steps) in self.games() {
            let of = start..start + steps * self.channels;
            let (x, y) = (&x[of.clone()], &mut y[of]);
            for (t, y) in y.chunks_exact_mut(self.channels).enumerate() {
                convolve(x, &taps, bias, t, y);
                silu_row(y);
            }
        }
        (y, Vec::new())
    }

    fn backward(&self, [x, weight, bias]: [&[f32]; 3], _kept: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 3] {
        let taps = self.taps(weight);
        let mut grad_x = vec![0.0; x.len()];
        let mut grad_taps = vec![0.0; taps.len()];
        let mut grad_bias = vec![0.0; self.channels];
        let mut grads = vec![0.0; self.channels];
        for (start, steps) in self.games() {
            let of = start..start + steps * self.channels;
            let (x, grad_x, gradient) = (&x[of.clone()], &mut grad_x[of.clone()], &gradient[of]);
            for (t, gradient) in gradient.chunks_exact(self.channels).enumerate() {
                convolve(x, &taps, bias, t, &mut grads);
                silu_grads(&mut grads, gradient, &mut grad_bias);
                through_taps(x, &taps, &grads, t, grad_x, &mut grad_taps);
            }
        }
        let mut grad_weight = vec![0.0; weight.len()];
        for (j, grad_tap) in grad_taps.chunks_exact(self.channels).enumerate() {
            for (into, grad) in grad_weight.iter_mut().skip(j).step_by(self.width).zip(grad_tap) {
                *into = *grad;
            }
        }
        [grad_x, grad_weight, grad_bias]
    }
}

/// Each tap that reaches back to a real step at `t`, and that step's values as a range.
fn reached(channels: usize, taps: &[f32], t: usize) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
    let width = taps.len() / channels;
    (0..width).filter_map(move |j| {
        let step = (t + 1 + j).checked_sub(width)?;
        Some((j * channels, step * channels..(step + 1) * channels))
    })
}

/// bias + Σ_j tap_j ⊙ x_{t-W+1+j} for step `t` of a game.
#[macerator::with_simd]
fn convolve<S: macerator::Simd>(x: &[f32], taps: &[f32], bias: &[f32], t: usize, into: &mut [f32]) {
    into.copy_from_slice(bias);
    for (tap, step) in reached(bias.len(), taps, t) {
        for ((into, w), x) in into.iter_mut().zip(&taps[tap..]).zip(&x[step]) {
            *into += w * x;
        }
    }
}

#[macerator::with_simd]
fn silu_row<S: macerator::Simd>(values: &mut [f32]) {
    for value in values {
        *value *= sigmoid(*value);
    }
}

/// Turns the inputs of SiLU into their gradients; adds that of the bias.
#[macerator::with_simd]
fn silu_grads<S: macerator::Simd>(values: &mut [f32], gradient: &[f32], grad_bias: &mut [f32]) {
    for ((value, gradient), grad_bias) in values.iter_mut().zip(gradient).zip(grad_bias) {
        let s = sigmoid(*value);
        *value = gradient * s * (1.0 + *value * (1.0 - s));
        *grad_bias += *value;
    }
}

#[macerator::with_simd]
fn through_taps<S: macerator::Simd>(
    x: &[f32],
    taps: &[f32],
    grads: &[f32],
    t: usize,
    grad_x: &mut [f32],
    grad_taps: &mut [f32],
) {
    for (tap, step) in reached(grads.len(), taps, t) {
        let inputs = grads.iter().zip(&taps[tap..]).zip(&x[step.clone()]);
        for (((grad, w), x), (grad_x, grad_tap)) in inputs.zip(grad_x[step].iter_mut().zip(&mut grad_taps[tap..])) {
            *grad_x += grad * w;
            *grad_tap += grad * x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, assert_finite_differences, random, values};

    fn batch() -> Tokens {
        Tokens::padded([[1u16; 9].as_slice(), &[1; 5], &[1; 1]], 0)
    }

    #[test]
    fn the_kernel_equals_the_composed_form_and_so_do_its_gradients() {
        let tokens = batch();
        for (channels, width) in [(1, 1), (7, 4), (33, 4), (16, 12)] {
            let leaf = |seed| random::<1>([channels], seed, 1.0).autodiff().require_grad();
            let x = random::<2>([tokens.rows(), channels], 1, 1.0).autodiff().require_grad();
            let weight = random::<3>([channels, 1, width], 2, 1.0).autodiff().require_grad();
            let bias = leaf(3);
            let pull = random::<2>([tokens.rows(), channels], 4, 1.0);
            let kernel = short_convolution(x.clone(), weight.clone(), Some(bias.clone()), &tokens);
            let decomposed = decompose(x.clone(), weight.clone(), Some(bias.clone()), &tokens);
            assert_close(&values(&kernel), &values(&decomposed), 1e-6);
            let found = (kernel * pull.clone()).sum().backward();
            let expected = (decomposed * pull).sum().backward();
            assert_close(&values(&x.grad(&found).unwrap()), &values(&x.grad(&expected).unwrap()), 3e-6);
            assert_close(&values(&weight.grad(&found).unwrap()), &values(&weight.grad(&expected).unwrap()), 3e-6);
            assert_close(&values(&bias.grad(&found).unwrap()), &values(&bias.grad(&expected).unwrap()), 3e-6);
        }
    }

    #[test]
    fn its_gradient_is_its_slope_and_a_bias_may_be_missing() {
        let tokens = batch();
        let weight = random::<3>([5, 1, 4], 2, 1.0);
        let x = random::<2>([tokens.rows(), 5], 1, 1.0);
        assert_finite_differences(x.clone(), |x| short_convolution(x, weight.clone(), None, &tokens));
        assert_finite_differences(weight.clone(), |w| short_convolution(x.clone(), w, None, &tokens));
        let zeros = Some(Tensor::zeros([5], &crate::device::cpu()));
        let without = values(&short_convolution(x.clone(), weight.clone(), None, &tokens));
        assert_eq!(without, values(&short_convolution(x.clone(), weight.clone(), zeros, &tokens)));
        assert_close(&values(&decompose(x, weight, None, &tokens)), &without, 1e-6);
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn a_gpu_agrees_with_the_processor() {
        use crate::testing::assert_gpu_agrees;
        let long = [1u16; 131];
        // Ends and starts of games around the edges of tiles, 64 steps.
        let tokens = Tokens::padded([67, 131, 1, 64, 65, 130].map(|steps| &long[..steps]), 0);
        for (channels, width) in [(7, 4), (3, 1), (2, 12)] {
            let rows = tokens.rows();
            // Sums over 458 steps: those of the taps differ by 5e-6.
            let x = random::<1>([rows * channels], 1, 1.0);
            let (weight, bias) = (random::<1>([channels * width], 2, 1.0), random::<1>([channels], 3, 1.0));
            let run = |x: Tensor<1>, weight: Tensor<1>, bias| {
                let y =
                    short_convolution(x.reshape([rows, channels]), weight.reshape([channels, 1, width]), bias, &tokens);
                y.flatten(0, 1)
            };
            let inputs = [x.clone(), weight.clone(), bias];
            assert_gpu_agrees(inputs, 1e-5, |[x, weight, bias]| run(x, weight, Some(bias)));
            assert_gpu_agrees([x, weight], 1e-5, |[x, weight]| run(x, weight, None));
        }
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn on_a_gpu_padding_is_not_read() {
        let Some(gpu) = crate::testing::gpu() else { return };
        let tokens = Tokens::padded([[1u16; 9].as_slice(), &[1; 5]], 0);
        let padded = [vec![1.0; 14 * 3], vec![f32::NAN; 4 * 3]].concat();
        let x = Tensor::<1>::from_floats(padded.as_slice(), &gpu).reshape([18, 3]).autodiff().require_grad();
        let weight = Tensor::<3>::ones([3, 1, 4], &gpu);
        let y = short_convolution(x.clone(), weight, None, &tokens);
        let pull = Tensor::<1>::from_floats(padded.as_slice(), &gpu).reshape([18, 3]);
        let grads = values(&x.grad(&(y.clone() * pull).sum().backward()).unwrap());
        for all in [values(&y), grads] {
            assert!(
                all[..42].iter().all(|value| *value > 0.1) && all[42..].iter().all(|value| *value == 0.0),
                "{all:?}"
            );
        }
    }
}
