//! The backward pass: gradients of queries, then those of keys and values. Probabilities are computed again.

use cubecl::prelude::{Array as Local, *};

use super::tile::{all_rounded, factor_of, load, operand, rounded, sum, write};
use super::{Form, PAIRS, ROWS};

/// The mean slope of each query's scores, `means` [batch, heads, time]: the product of its output and its gradient, both
/// [batch, time, width].
#[cube(launch)]
pub fn means<N: Size>(
    out: &[Vector<f32, N>],
    g: &[Vector<f32, N>],
    means: &mut [f32],
    rows: u32,
    time: u32,
    #[comptime] form: Form,
) {
    // Neighbours have heads of one step.
    let (row, head) = (ABSOLUTE_POS / form.heads, ABSOLUTE_POS % form.heads);
    if ABSOLUTE_POS < rows as usize {
        let mut all = Vector::<f32, N>::new(0.0f32);
        #[unroll(form.unroll)]
        for v in 0..form.vectors {
            let at = ABSOLUTE_POS * form.vectors + v;
            all = all + out[at] * all_rounded::<N>(g[at], form.operand_bits);
        }
        let (game, t) = (row / time as usize, row % time as usize);
        means[(game * form.heads + head) * time as usize + t] = sum::<N>(all);
    }
}

/// The part of `for_qkv` [batch, time, 3, width] that belongs to queries: a query a thread.
#[cube(launch)]
#[allow(clippy::too_many_arguments)]
pub fn for_queries<N: Size>(
    qkv: &[Vector<f32, N>],
    turns: &[Vector<f32, N>],
    lengths: &[u32],
    g: &[Vector<f32, N>],
    norms: &[f32],
    means: &[f32],
    for_qkv: &mut [Vector<f32, N>],
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
    let mut keys = Shared::<[Vector<f32, N>]>::new_slice(comptime!(form.tile * form.vectors));
    let mut values = Shared::<[Vector<f32, N>]>::new_slice(comptime!(form.tile * form.vectors));
    if part < parts as usize {
        let game = part / form.heads;
        let steps = lengths[game] as usize;
        let begin = CUBE_POS % tiles * ROWS;
        let i = begin + UNIT_POS as usize;
        let width = comptime!(form.heads * form.vectors);
        let channel = part % form.heads * form.vectors;
        let row = game * time * 3 * width + channel;

        let mut q = Local::<Vector<f32, N>>::new(form.vectors);
        let mut pull = Local::<Vector<f32, N>>::new(form.vectors);
        let mut result = Local::<Vector<f32, N>>::new(form.vectors);
        #[unroll(form.unroll)]
        for v in 0..form.vectors {
            q[v] = Vector::new(0.0f32);
            pull[v] = Vector::new(0.0f32);
            result[v] = Vector::new(0.0f32);
        }
        let mut largest = 0.0f32;
        let mut inverse = 0.0f32;
        let mut mean = 0.0f32;
        if i < steps {
            #[unroll(form.unroll)]
            for v in 0..form.vectors {
                q[v] = operand::<N>(qkv, turns, row + i * 3 * width, i, v, true, form);
                pull[v] = operand::<N>(g, turns, (game * time + i) * width + channel, i, v, false, form);
            }
            largest = norms[2 * (part * time + i)];
            inverse = norms[2 * (part * time + i) + 1];
            mean = means[part * time + i];
        }

        let end = usize::min(steps, begin + ROWS);
        let mut start = 0usize;
        while start < end {
            sync_cube();
            load::<N>(qkv, turns, &mut keys, 0usize, row + width, 3 * width, start, steps, true, form);
            load::<N>(qkv, turns, &mut values, 0usize, row + 2 * width, 3 * width, start, steps, false, form);
            sync_cube();
            let mut r = 0usize;
            while i < steps && r < form.tile && start + r <= i {
                let mut scores = Local::<Vector<f32, N>>::new(PAIRS);
                let mut slopes = Local::<Vector<f32, N>>::new(PAIRS);
                #[unroll]
                for c in 0..PAIRS {
                    scores[c] = Vector::new(0.0f32);
                    slopes[c] = Vector::new(0.0f32);
                }
                #[unroll(form.unroll)]
                for v in 0..form.vectors {
                    #[unroll]
                    for c in 0..PAIRS {
                        scores[c] = scores[c] + q[v] * keys[(r + c) * form.vectors + v];
                        slopes[c] = slopes[c] + pull[v] * values[(r + c) * form.vectors + v];
                    }
                }
                #[unroll]
                for c in 0..PAIRS {
                    let j = start + r + c;
                    if j <= i {
                        let p = f32::exp(sum::<N>(scores[c]) * comptime!(form.scale()) - largest) * inverse;
                        let factor = factor_of(part, time, i, j, first, second, dropped, kept, form);
                        let slope = p * (sum::<N>(slopes[c]) * factor - mean) * comptime!(form.scale());
                        let slope = Vector::<f32, N>::new(rounded(slope, form.operand_bits));
                        #[unroll(form.unroll)]
                        for v in 0..form.vectors {
                            result[v] = result[v] + slope * keys[(r + c) * form.vectors + v];
                        }
                    }
                }
                r += PAIRS;
            }
            start += form.tile;
        }
        if i < time {
            write::<N>(&result, turns, for_qkv, row + i * 3 * width, i, true.runtime(), form);
        }
    }
}

/// The parts of `for_qkv` that belong to keys and to values: half of the threads have a key each, the others a value.
#[cube(launch)]
#[allow(clippy::too_many_arguments)]
pub fn for_keys_and_values<N: Size>(
    qkv: &[Vector<f32, N>],
    turns: &[Vector<f32, N>],
    lengths: &[u32],
    g: &[Vector<f32, N>],
    norms: &[f32],
    means: &[f32],
    for_qkv: &mut [Vector<f32, N>],
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
    // Of each query: the largest score, the inverse of the sum, the mean slope.
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

        let mut start = begin;
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
            if j > start {
                r = (j - start) / PAIRS * PAIRS;
            }
            while j < steps && r < form.tile && start + r < steps {
                let mut scores = Local::<Vector<f32, N>>::new(PAIRS);
                let mut slopes = Local::<Vector<f32, N>>::new(PAIRS);
                #[unroll]
                for c in 0..PAIRS {
                    scores[c] = Vector::new(0.0f32);
                    slopes[c] = Vector::new(0.0f32);
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
                            slopes[c] = slopes[c] + value[v] * tile[area + (r + c) * form.vectors + v];
                        }
                    }
                }
                #[unroll]
                for c in 0..PAIRS {
                    let i = start + r + c;
                    if i >= j && i < steps {
                        let at = 3 * (r + c);
                        let p = f32::exp(sum::<N>(scores[c]) * comptime!(form.scale()) - of_rows[at]) * of_rows[at + 1];
                        let factor = factor_of(part, time, i, j, first, second, dropped, kept, form);
                        let mut share = p * factor;
                        if is_key {
                            share = p * (sum::<N>(slopes[c]) * factor - of_rows[at + 2]) * comptime!(form.scale());
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
            write::<N>(&result, turns, for_qkv, to, j, is_key, form);
        }
    }
}
