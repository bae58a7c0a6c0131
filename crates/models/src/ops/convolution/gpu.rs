//! The kernels of [`super::short_convolution`] on a GPU: forward an element a thread, backward a channel of some steps.

use std::sync::Arc;

use cubecl::prelude::*;

use crate::gpu::math::{sigmoid, silu_grad};
use crate::gpu::{Array, Gpu, Operation, THREADS, cubes_of, sum_over_rows, sums_over_rows};

/// Steps of a thread of the backward pass. It adds the gradients of its taps over them, and computes the gradients of W - 1
/// more.
const TILE: usize = 64;

/// The convolution of `x` [games * time, channels] by `weight` [channels, W] and, if there is one, `bias` [channels].
#[derive(Debug)]
pub struct Convolution {
    pub time: usize,
    pub lengths: Arc<[usize]>,
    pub channels: usize,
    pub width: usize,
}

impl Convolution {
    fn convolve(&self, gpu: &Gpu, x: &Array, weight: &Array, bias: Option<&Array>) -> (Array, Vec<Array>) {
        let (y, lengths) = (gpu.empty(x.len()), gpu.lengths(&self.lengths));
        if x.len() == 0 {
            return (y, vec![lengths]);
        }
        forward::launch(
            gpu.client(),
            cubes_of(x.len()),
            CubeDim::new_1d(THREADS),
            x.arg(),
            weight.arg(),
            bias.unwrap_or(weight).arg(),
            lengths.arg(),
            y.arg(),
            self.time as u32,
            self.channels as u32,
            self.width,
            bias.is_some(),
        );
        (y, vec![lengths])
    }

    /// Gradients of `x`, `weight` and `bias`.
    fn gradients(&self, gpu: &Gpu, [x, weight, g, lengths]: [&Array; 4], bias: Option<&Array>) -> [Option<Array>; 3] {
        let tiles = self.time.div_ceil(TILE);
        let (rows, channels) = (self.lengths.len() * tiles, self.channels);
        let grad_x = gpu.empty(x.len());
        let (grad_weight, grad_bias) = (channels * self.width, if bias.is_some() { channels } else { 0 });
        let partial = gpu.empty(rows * (grad_weight + grad_bias));
        if x.len() > 0 {
            backward::launch(
                gpu.client(),
                cubes_of(rows * channels),
                CubeDim::new_1d(THREADS),
                x.arg(),
                weight.arg(),
                bias.unwrap_or(weight).arg(),
                lengths.arg(),
                g.arg(),
                grad_x.arg(),
                partial.arg(),
                self.lengths.len() as u32,
                self.time as u32,
                channels as u32,
                self.width,
                bias.is_some(),
            );
        }
        if bias.is_some() {
            let [grad_weight, grad_bias] = sums_over_rows(gpu, &partial, rows, [grad_weight, grad_bias]);
            [Some(grad_x), Some(grad_weight), Some(grad_bias)]
        } else {
            [Some(grad_x), Some(sum_over_rows(gpu, &partial, rows, grad_weight)), None]
        }
    }
}

impl Operation<2> for Convolution {
    fn forward(&self, gpu: &Gpu, [x, weight]: [&Array; 2], _save: bool) -> (Array, Vec<Array>) {
        self.convolve(gpu, x, weight, None)
    }

    fn backward(
        &self,
        gpu: &Gpu,
        [x, weight]: [&Array; 2],
        saved: &[Array],
        g: &Array,
        _: [bool; 2],
    ) -> [Option<Array>; 2] {
        let [grad_x, grad_weight, _] = self.gradients(gpu, [x, weight, g, &saved[0]], None);
        [grad_x, grad_weight]
    }
}

impl Operation<3> for Convolution {
    fn forward(&self, gpu: &Gpu, [x, weight, bias]: [&Array; 3], _save: bool) -> (Array, Vec<Array>) {
        self.convolve(gpu, x, weight, Some(bias))
    }

    fn backward(
        &self,
        gpu: &Gpu,
        [x, weight, bias]: [&Array; 3],
        saved: &[Array],
        g: &Array,
        _: [bool; 3],
    ) -> [Option<Array>; 3] {
        self.gradients(gpu, [x, weight, g, &saved[0]], Some(bias))
    }
}

#[cube(launch)]
fn forward(
    x: &[f32],
    weight: &[f32],
    bias: &[f32],
    lengths: &[u32],
    y: &mut [f32],
    time: u32,
    channels: u32,
    #[comptime] width: usize,
    #[comptime] biased: bool,
) {
    if ABSOLUTE_POS < y.len() {
        let row = ABSOLUTE_POS as u32 / channels;
        let channel = ABSOLUTE_POS as u32 % channels;
        let t = row % time;
        let mut out = 0.0f32;
        if t < lengths[(row / time) as usize] {
            let mut sum = 0.0f32;
            if biased {
                sum = bias[channel as usize];
            }
            #[unroll]
            for j in 0..width {
                // Steps back from this one.
                let back = comptime!((width - 1 - j) as u32);
                if t >= back {
                    sum += weight[channel as usize * width + j] * x[ABSOLUTE_POS - (back * channels) as usize];
                }
            }
            out = sum * sigmoid(sum);
        }
        y[ABSOLUTE_POS] = out;
    }
}

/// A thread walks through its steps and W - 1 more: it sees the inputs of the last W steps, so the gradient at this
/// one, and the gradients of the last W steps are what the gradient of the first of them needs.
#[cube(launch)]
fn backward(
    x: &[f32],
    weight: &[f32],
    bias: &[f32],
    lengths: &[u32],
    g: &[f32],
    grad_x: &mut [f32],
    partial: &mut [f32],
    games: u32,
    time: u32,
    channels: u32,
    #[comptime] width: usize,
    #[comptime] biased: bool,
) {
    let tiles = time.div_ceil(TILE as u32);
    let place = ABSOLUTE_POS as u32;
    let channel = place % channels;
    let tile = place / channels % tiles;
    let game = place / channels / tiles;
    if game < games {
        let length = lengths[game as usize];
        let start = tile * TILE as u32;
        let end = u32::min(start + TILE as u32, time);
        let first = game * time * channels + channel;
        let mut taps = cubecl::prelude::Array::<f32>::new(width);
        let mut seen = cubecl::prelude::Array::<f32>::new(width);
        let mut grads = cubecl::prelude::Array::<f32>::new(width);
        let mut grad_taps = cubecl::prelude::Array::<f32>::new(width);
        let mut grad_shift = 0.0f32;
        let mut shift = 0.0f32;
        if biased {
            shift = bias[channel as usize];
        }
        #[unroll]
        for j in 0..width {
            taps[j] = weight[channel as usize * width + j];
            grad_taps[j] = 0.0f32;
            grads[j] = 0.0f32;
            // The inputs before `start`, one place further than they are seen at first.
            let back = comptime!((width - j) as u32);
            seen[j] = 0.0f32;
            if start >= back && start - back < length {
                seen[j] = x[(first + (start - back) * channels) as usize];
            }
        }
        let ahead = comptime!((width - 1) as u32);
        let mut t = start;
        while t < end + ahead {
            #[unroll]
            for j in 0..width - 1 {
                seen[j] = seen[j + 1];
                grads[j] = grads[j + 1];
            }
            let mut grad = 0.0f32;
            if t < length {
                let at = (first + t * channels) as usize;
                seen[width - 1] = x[at];
                let mut sum = shift;
                #[unroll]
                for j in 0..width {
                    sum += taps[j] * seen[j];
                }
                grad = g[at] * silu_grad(sum, sigmoid(sum));
                if t < end {
                    grad_shift += grad;
                    #[unroll]
                    for j in 0..width {
                        grad_taps[j] += grad * seen[j];
                    }
                }
            }
            grads[width - 1] = grad;
            if t >= start + ahead {
                let before = t - ahead;
                let mut sum = 0.0f32;
                // Not what a gradient of zero times an infinite tap would be.
                if before < length {
                    #[unroll]
                    for j in 0..width {
                        sum += grads[width - 1 - j] * taps[j];
                    }
                }
                grad_x[(first + before * channels) as usize] = sum;
            }
            t += 1;
        }
        let taps_of_row = channels * width as u32;
        let row = game * tiles + tile;
        if biased {
            partial[(row * (taps_of_row + channels) + taps_of_row + channel) as usize] = grad_shift;
        }
        let at = if biased { row * (taps_of_row + channels) } else { row * taps_of_row };
        let at = at as usize + channel as usize * width;
        #[unroll]
        for j in 0..width {
            partial[at + j] = grad_taps[j];
        }
    }
}
