//! The backward pass: gradients of queries. Probabilities are computed again.

use cubecl::prelude::{Array as Local, *};

use super::tile::{factor_of, load, operand, rounded, steps_seen, sum, write};
use super::{Form, PAIRS, ROWS};

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

        let end = steps_seen(begin + ROWS, steps, form);
        let seen = steps_seen(i + 1, steps, form);
        let mut start = 0usize;
        while start < end {
            sync_cube();
            load::<N>(qkv, turns, &mut keys, 0usize, row + width, 3 * width, start, steps, true, form);
            load::<N>(qkv, turns, &mut values, 0usize, row + 2 * width, 3 * width, start, steps, false, form);
            sync_cube();
            let mut r = 0usize;
            while i < steps && r < form.tile && start + r < seen {
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
                        scores[c] = scores[c] + q[v] * keys[(r + c) * form.vectors + v];
                        grads[c] = grads[c] + pull[v] * values[(r + c) * form.vectors + v];
                    }
                }
                #[unroll]
                for c in 0..PAIRS {
                    let j = start + r + c;
                    if j < seen {
                        let p = f32::exp(sum::<N>(scores[c]) * comptime!(form.scale()) - largest) * inverse;
                        let factor = factor_of(part, time, i, j, first, second, dropped, kept, form);
                        let grad = p * (sum::<N>(grads[c]) * factor - mean) * comptime!(form.scale());
                        let grad = Vector::<f32, N>::new(rounded(grad, form.operand_bits));
                        #[unroll(form.unroll)]
                        for v in 0..form.vectors {
                            result[v] = result[v] + grad * keys[(r + c) * form.vectors + v];
                        }
                    }
                }
                r += PAIRS;
            }
            start += form.tile;
        }
        if i < time {
            write::<N>(&result, turns, grad_qkv, row + i * 3 * width, i, true.runtime(), form);
        }
    }
}
