//! The backward pass: gradients of keys and of values. Probabilities are computed again.

use cubecl::prelude::{Array as Local, *};

use super::tile::{factor_of, load, operand, rounded, sum, write};
use super::{KernelConfig, PAIRS, ROWS};

/// The parts of `grad_qkv` that belong to keys and to values: half of the threads have a key each, the others a value.
#[cube(launch)]
#[allow(clippy::too_many_arguments)]
pub fn grad_keys_and_values<N: Size>(
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
    let area = comptime!(config.tile * config.vectors);
    // Queries, then gradients of the output.
    let mut tile = Shared::<[Vector<f32, N>]>::new_slice(comptime!(2 * config.tile * config.vectors));
    // Of each query: the largest score, the inverse of the sum, the mean gradient.
    let mut of_rows = Shared::<[f32]>::new_slice(comptime!(3 * config.tile));
    if part < parts as usize {
        let game = part / config.heads;
        let steps = lengths[game] as usize;
        let begin = CUBE_POS % tiles * ROWS;
        let j = begin + UNIT_POS as usize % ROWS;
        let is_key = (UNIT_POS as usize) < ROWS;
        let width = comptime!(config.heads * config.vectors);
        let channel = part % config.heads * config.vectors;
        let row = game * time * 3 * width + channel;

        let mut key = Local::<Vector<f32, N>>::new(config.vectors);
        let mut value = Local::<Vector<f32, N>>::new(config.vectors);
        let mut result = Local::<Vector<f32, N>>::new(config.vectors);
        #[unroll(config.unroll)]
        for v in 0..config.vectors {
            key[v] = Vector::new(0.0f32);
            value[v] = Vector::new(0.0f32);
            result[v] = Vector::new(0.0f32);
        }
        if j < steps {
            #[unroll(config.unroll)]
            for v in 0..config.vectors {
                key[v] = operand::<N>(qkv, turns, row + j * 3 * width + width, j, v, true, config);
                value[v] = operand::<N>(qkv, turns, row + j * 3 * width + 2 * width, j, v, false, config);
            }
        }
        // Keys' threads add queries, values' threads gradients.
        let mut addends = 0usize;
        if !is_key {
            addends = area.runtime();
        }

        let mut start = 0usize;
        if comptime!(config.causal) {
            start = begin;
        }
        while start < steps {
            sync_cube();
            load::<N>(qkv, turns, &mut tile, 0usize, row, 3 * width, start, steps, true, config);
            load::<N>(g, turns, &mut tile, area, game * time * width + channel, width, start, steps, false, config);
            let r = UNIT_POS as usize;
            if r < config.tile && start + r < steps {
                let at = part * time + start + r;
                of_rows[3 * r] = norms[2 * at];
                of_rows[3 * r + 1] = norms[2 * at + 1];
                of_rows[3 * r + 2] = means[at];
            }
            sync_cube();
            let mut r = 0usize;
            if comptime!(config.causal) && j > start {
                r = (j - start) / PAIRS * PAIRS;
            }
            while j < steps && r < config.tile && start + r < steps {
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
                        scores[c] = scores[c] + key[v] * tile[(r + c) * config.vectors + v];
                    }
                }
                if is_key {
                    #[unroll(config.unroll)]
                    for v in 0..config.vectors {
                        #[unroll]
                        for c in 0..PAIRS {
                            grads[c] = grads[c] + value[v] * tile[area + (r + c) * config.vectors + v];
                        }
                    }
                }
                #[unroll]
                for c in 0..PAIRS {
                    let i = start + r + c;
                    if (comptime!(!config.causal) || i >= j) && i < steps {
                        let at = 3 * (r + c);
                        let p =
                            f32::exp(sum::<N>(scores[c]) * comptime!(config.scale()) - of_rows[at]) * of_rows[at + 1];
                        let factor = factor_of(part, time, i, j, first, second, dropped, kept, config);
                        let mut share = p * factor;
                        if is_key {
                            share = p * (sum::<N>(grads[c]) * factor - of_rows[at + 2]) * comptime!(config.scale());
                        }
                        let share = Vector::<f32, N>::new(rounded(share, config.operand_bits));
                        #[unroll(config.unroll)]
                        for v in 0..config.vectors {
                            result[v] = result[v] + share * tile[addends + (r + c) * config.vectors + v];
                        }
                    }
                }
                r += PAIRS;
            }
            start += config.tile;
        }
        if j < time {
            let mut to = row + j * 3 * width + width;
            if !is_key {
                to += width;
            }
            write::<N>(&result, turns, grad_qkv, to, j, is_key, config);
        }
    }
}
