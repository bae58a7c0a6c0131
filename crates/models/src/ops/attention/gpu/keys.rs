//! The backward pass: gradients of keys and of values. Probabilities are computed again.

use cubecl::prelude::{Array as Local, *};

use super::tile::{factor_of, load, operand, rounded, sum, write};
use super::{Form, PAIRS, ROWS};

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
    #[comptime] form: Form,
) {
    let time = time as usize;
    let tiles = time.div_ceil(ROWS);
    let part = CUBE_POS / tiles;
    let area = comptime!(form.tile * form.vectors);
    // Queries, then gradients of the output.
    let mut tile = Shared::<[Vector<f32, N>]>::new_slice(comptime!(2 * form.tile * form.vectors));
    // Of each query: the largest score, the inverse of the sum, the mean grad.
    let mut of_rows = Shared::<[f32]>::new_slice(comptime!(3 * form.tile));
    if part < parts as usize {
        let game = part / form.heads;
        let steps = lengths[game] as usize;
        let begin = CUBE_POS % tiles * ROWS;
        let j = begin + UNIT_POS as usize % ROWS;
        let is_key = (UNIT_POS as usize) < ROWS;
        let width = comptime!(form.heads * form.vectors);
        let channel = part % form.heads * form.vectors;
        let row = game * time * 3 * width + channel;

        let mut key = Local::<Vector<f32, N>>::new(form.vectors);
        let mut value = Local::<Vector<f32, N>>::new(form.vectors);
        let mut result = Local::<Vector<f32, N>>::new(form.vectors);
        #[unroll(form.unroll)]
        for v in 0..form.vectors {
            key[v] = Vector::new(0.0f32);
            value[v] = Vector::new(0.0f32);
            result[v] = Vector::new(0.0f32);
        }
        if j < steps {
            #[unroll(form.unroll)]
            for v in 0..form.vectors {
                key[v] = operand::<N>(qkv, turns, row + j * 3 * width + width, j, v, true, form);
                value[v] = operand::<N>(qkv, turns, row + j * 3 * width + 2 * width, j, v, false, form);
            }
        }
        // Keys' threads add queries, values' threads gradients.
        let mut addends = 0usize;
        if !is_key {
            addends = area.runtime();
        }

        let mut start = 0usize;
        if comptime!(form.causal) {
            start = begin;
        }
        while start < steps {
            sync_cube();
            load::<N>(qkv, turns, &mut tile, 0usize, row, 3 * width, start, steps, true, form);
            load::<N>(g, turns, &mut tile, area, game * time * width + channel, width, start, steps, false, form);
            let r = UNIT_POS as usize;
            if r < form.tile && start + r < steps {
                let at = part * time + start + r;
                of_rows[3 * r] = norms[2 * at];
                of_rows[3 * r + 1] = norms[2 * at + 1];
                of_rows[3 * r + 2] = means[at];
            }
            sync_cube();
            let mut r = 0usize;
            if comptime!(form.causal) && j > start {
                r = (j - start) / PAIRS * PAIRS;
            }
            while j < steps && r < form.tile && start + r < steps {
                let mut scores = Local::<Vector<f32, N>>::new(PAIRS);
                let mut grads = Local::<Vector<f32, N>>::new(PAIRS);
                #[unroll]
                for c in 0..PAIRS {
                    scores[c] = Vector::new(0.0f32);
                    grads[c] = Vector::new(0.0f32);
                }
                #[unroll(form.unroll)]
                for v in 0..form.vectors {
                    #[unroll]
                    for c in 0..PAIRS {
                        scores[c] = scores[c] + key[v] * tile[(r + c) * form.vectors + v];
                    }
                }
                if is_key {
                    #[unroll(form.unroll)]
                    for v in 0..form.vectors {
                        #[unroll]
                        for c in 0..PAIRS {
                            grads[c] = grads[c] + value[v] * tile[area + (r + c) * form.vectors + v];
                        }
                    }
                }
                #[unroll]
                for c in 0..PAIRS {
                    let i = start + r + c;
                    if (comptime!(!form.causal) || i >= j) && i < steps {
                        let at = 3 * (r + c);
                        let p = f32::exp(sum::<N>(scores[c]) * comptime!(form.scale()) - of_rows[at]) * of_rows[at + 1];
                        let factor = factor_of(part, time, i, j, first, second, dropped, kept, form);
                        let mut share = p * factor;
                        if is_key {
                            share = p * (sum::<N>(grads[c]) * factor - of_rows[at + 2]) * comptime!(form.scale());
                        }
                        let share = Vector::<f32, N>::new(rounded(share, form.operand_bits));
                        #[unroll(form.unroll)]
                        for v in 0..form.vectors {
                            result[v] = result[v] + share * tile[addends + (r + c) * form.vectors + v];
                        }
                    }
                }
                r += PAIRS;
            }
            start += form.tile;
        }
        if j < time {
            let mut to = row + j * 3 * width + width;
            if !is_key {
                to += width;
            }
            write::<N>(&result, turns, grad_qkv, to, j, is_key, form);
        }
    }
}
