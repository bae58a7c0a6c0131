//! The backward pass: gradients of queries. Probabilities are computed again.

use cubecl::prelude::{Array as Local, *};

use super::tile::{factor_of, load, operand, rounded, steps_seen, sum, write};
use super::{KernelConfig, PAIRS, ROWS};

/// The part of `grad_qkv` [batch, time, 3, width] that belongs to queries: a query a thread.
#[cube(launch)]
#[allow(clippy::too_many_arguments)]
pub fn grad_queries<N: Size>(
    qkv: &[Vector<f32, N>],
    turns: &[Vector<f32, N>],
    lengths: &[u32],
    g: &[Vector<f32, N>],
    norms: &[f32],
    means: &[f32],
    grad_qkv: &mut [Vector<f32, N>],
    parts: u32,
    time: u32,
    first: u32,
    second: u32,
    dropped: u32,
    kept: f32,
    #[comptime] config: KernelConfig,
) {
    let time = time as usize;
    let tiles = time.div_ceil(ROWS);
    let part = CUBE_POS / tiles;
    let mut keys = Shared::<[Vector<f32, N>]>::new_slice(comptime!(config.tile * config.vectors));
    let mut values = Shared::<[Vector<f32, N>]>::new_slice(comptime!(config.tile * config.vectors));
    if part < parts as usize {
        let game = part / config.heads;
        let steps = lengths[game] as usize;
        let begin = CUBE_POS % tiles * ROWS;
        let i = begin + UNIT_POS as usize;
        let width = comptime!(config.heads * config.vectors);
        let channel = part % config.heads * config.vectors;
        let row = game * time * 3 * width + channel;

        let mut q = Local::<Vector<f32, N>>::new(config.vectors);
        let mut pull = Local::<Vector<f32, N>>::new(config.vectors);
        let mut result = Local::<Vector<f32, N>>::new(config.vectors);
        #[unroll(config.unroll)]
        for v in 0..config.vectors {
            q[v] = Vector::new(0.0f32);
            pull[v] = Vector::new(0.0f32);
            result[v] = Vector::new(0.0f32);
        }
        let mut largest = 0.0f32;
        let mut inverse = 0.0f32;
        let mut mean = 0.0f32;
        if i < steps {
            #[unroll(config.unroll)]
            for v in 0..config.vectors {
                q[v] = operand::<N>(qkv, turns, row + i * 3 * width, i, v, true, config);
                pull[v] = operand::<N>(g, turns, (game * time + i) * width + channel, i, v, false, config);
            }
            largest = norms[2 * (part * time + i)];
            inverse = norms[2 * (part * time + i) + 1];
            mean = means[part * time + i];
        }

        let end = steps_seen(begin + ROWS, steps, config);
        let seen = steps_seen(i + 1, steps, config);
        let mut start = 0usize;
        while start < end {
            sync_cube();
            load::<N>(qkv, turns, &mut keys, 0usize, row + width, 3 * width, start, steps, true, config);
            load::<N>(qkv, turns, &mut values, 0usize, row + 2 * width, 3 * width, start, steps, false, config);
            sync_cube();
            let mut r = 0usize;
            while i < steps && r < config.tile && start + r < seen {
                let mut scores = Local::<Vector<f32, N>>::new(PAIRS);
                let mut grads = Local::<Vector<f32, N>>::new(PAIRS);
                #[unroll]
                for c in 0..PAIRS {
                    scores[c] = Vector::new(0.0f32);
                    grads[c] = Vector::new(0.0f32);
                }
                #[unroll(config.unroll)]
                for v in 0..config.vectors {
                    #[unroll]
                    for c in 0..PAIRS {
                        scores[c] = scores[c] + q[v] * keys[(r + c) * config.vectors + v];
                        grads[c] = grads[c] + pull[v] * values[(r + c) * config.vectors + v];
                    }
                }
                #[unroll]
                for c in 0..PAIRS {
                    let j = start + r + c;
                    if j < seen {
                        let p = f32::exp(sum::<N>(scores[c]) * comptime!(config.scale()) - largest) * inverse;
                        let factor = factor_of(part, time, i, j, first, second, dropped, kept, config);
                        let grad = p * (sum::<N>(grads[c]) * factor - mean) * comptime!(config.scale());
                        let grad = Vector::<f32, N>::new(rounded(grad, config.operand_bits));
                        #[unroll(config.unroll)]
                        for v in 0..config.vectors {
                            result[v] = result[v] + grad * keys[(r + c) * config.vectors + v];
                        }
                    }
                }
                r += PAIRS;
            }
            start += config.tile;
        }
        if i < time {
            write::<N>(&result, turns, grad_qkv, row + i * 3 * width, i, true.runtime(), config);
        }
    }
}
