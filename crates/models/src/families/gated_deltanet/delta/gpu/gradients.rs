//! Gradients of queries, keys and gates: a chunk of a head of a game a cube.
//!
//! With D_ij the decay from after step j to after step i, S the state before the chunk, dS the gradient of that after it,
//! and d of anything its gradient:
//!
//! ```text
//! A_ij = D_ij (do_i · u_j) for j ≤ i;   B_ij = β_i D_ij (du_i · u_j) for j < i
//! dq_i = D_i S do_i + Σ_j A_ij k_j
//! dk_i = D_Ci dS u_i - β_i D_i S du_i + Σ_j A_ji q_j - Σ_j (B_ij + B_ji) k_j
//! ```
//!
//! The gradient of a log decay is the sum of all products of what was before it with what came after: no sum of anything
//! else is subtracted, so that it has its digits where nothing is left of the past.

use cubecl::prelude::*;

use super::rows::{PITCH, load_gates, load_rows, sum_of_row};
use super::{CHUNK, Sizes};

/// Threads of a cube: a pair of steps each, and the elements i, i + CHUNK, … of a step's query and key.
pub const THREADS: u32 = (CHUNK * CHUNK) as u32;

/// Into `into` go the gradients of `q` from 0, of `k` from `k_at` and of `gates` from `gates_at` on. `saved` are the errors
/// and states of the forward pass, `adjoint` the gradients of corrections and states.
#[cube(launch)]
#[allow(clippy::too_many_arguments)]
pub fn gradients(
    q: &[f32],
    k: &[f32],
    gates: &[f32],
    lengths: &[u32],
    grad_answers: &[f32],
    saved: &[f32],
    adjoint: &[f32],
    into: &mut [f32],
    games: usize,
    time: usize,
    k_at: usize,
    gates_at: usize,
    #[comptime] sizes: Sizes,
) {
    let (heads, key, value) = comptime!((sizes.heads, sizes.key, sizes.value));
    let pitch = comptime!(sizes.pitch());
    // Elements of a key for each thread.
    let elements = comptime!(sizes.key.div_ceil(CHUNK));
    let side = comptime!(elements * CHUNK * PITCH);
    // Tiles of answers, corrections and states; then queries and keys.
    let mut pool = Shared::<[f32]>::new_slice(comptime!((3 * CHUNK * PITCH + 2 * side).max(sizes.rows())));
    let mut factors = Shared::<[f32]>::new_slice(comptime!(2 * CHUNK));
    let mut decays = Shared::<[f32]>::new_slice(CHUNK);
    let mut strengths = Shared::<[f32]>::new_slice(CHUNK);
    // A, B, and products of what was written at a step with what was read at another.
    let mut grad_reads = Shared::<[f32]>::new_slice(comptime!(CHUNK * PITCH));
    let mut grad_errors = Shared::<[f32]>::new_slice(comptime!(CHUNK * PITCH));
    let mut pairs = Shared::<[f32]>::new_slice(comptime!(CHUNK * PITCH));
    // The same products where the one is before the chunk, or the other after it; or both.
    let mut from_before = Shared::<[f32]>::new_slice(CHUNK);
    let mut to_after = Shared::<[f32]>::new_slice(CHUNK);
    let mut across = Shared::<[f32]>::new_slice(CHUNK);

    let chunks = time.div_ceil(CHUNK);
    let (part, chunk) = (CUBE_POS / chunks, CUBE_POS % chunks);
    if part < games * heads {
        let (game, head) = (part / heads, part % heads);
        let length = lengths[game] as usize;
        let first = game * time + chunk * CHUNK;
        let (row, column) = (UNIT_POS as usize / CHUNK, UNIT_POS as usize % CHUNK);
        if chunk * CHUNK < length {
            let count = usize::min(CHUNK, length - chunk * CHUNK);
            let has_later = chunk * CHUNK + CHUNK < length;
            let states = games * time * heads * value + (part * (chunks - 1) + chunk) * key * value;
            load_gates(gates, &mut decays, &mut strengths, first, count, head, sizes);
            sync_cube();
            let strength = strengths[row];

            let (answers_at, corrections_at) = (comptime!(CHUNK * PITCH), comptime!(2 * CHUNK * PITCH));
            let (state_at, adjoint_at) = (comptime!(3 * CHUNK * PITCH), comptime!(3 * CHUNK * PITCH + side));
            // do_row · u_column and du_row · u_column; S do, S du and dS u at this thread's elements of a key.
            let mut answer_correction = 0.0f32;
            let mut gradient_correction = 0.0f32;
            let mut read = Array::<f32>::new(elements);
            let mut erased = Array::<f32>::new(elements);
            let mut written = Array::<f32>::new(elements);
            // Parts of the gradients of the strength, and of what passes the chunk.
            let mut grad_strength = 0.0f32;
            let mut passed = 0.0f32;
            for tile in 0..comptime!(sizes.value.div_ceil(CHUNK)) {
                let at = tile * CHUNK + column;
                sync_cube();
                let mut grad_answer = 0.0f32;
                let mut error = 0.0f32;
                let mut grad_correction = 0.0f32;
                if row < count && at < value {
                    let from = ((first + row) * heads + head) * value + at;
                    grad_answer = grad_answers[from];
                    error = saved[from];
                    grad_correction = adjoint[from];
                }
                pool[row * PITCH + column] = strength * error;
                pool[answers_at + row * PITCH + column] = grad_answer;
                pool[corrections_at + row * PITCH + column] = grad_correction;
                grad_strength += grad_correction * error;
                #[unroll]
                for element in 0..elements {
                    let i = element * CHUNK + row;
                    let mut state = 0.0f32;
                    let mut grad_state = 0.0f32;
                    if i < key && at < value {
                        if chunk > 0 {
                            state = saved[states - key * value + i * value + at];
                        }
                        if has_later {
                            grad_state = adjoint[states + i * value + at];
                        }
                    }
                    pool[state_at + i * PITCH + column] = state;
                    pool[adjoint_at + i * PITCH + column] = grad_state;
                    passed += state * grad_state;
                }
                sync_cube();
                for v in 0..CHUNK {
                    let of_correction = pool[row * PITCH + v];
                    let grad_answer = pool[answers_at + row * PITCH + v];
                    let grad_correction = pool[corrections_at + row * PITCH + v];
                    let correction = pool[column * PITCH + v];
                    answer_correction += grad_answer * correction;
                    gradient_correction += grad_correction * correction;
                    #[unroll]
                    for element in 0..elements {
                        let i = (element * CHUNK + column) * PITCH + v;
                        let state = pool[state_at + i];
                        read[element] += state * grad_answer;
                        erased[element] += state * grad_correction;
                        written[element] += pool[adjoint_at + i] * of_correction;
                    }
                }
            }

            load_rows(q, k, &mut pool, &mut factors, first, count, head, sizes);
            let (query, of_key) = (row * pitch, (CHUNK + row) * pitch);
            // Decays from before the chunk, to its end, and from `column` to `row`.
            let mut since = 1.0f32;
            let mut until = 1.0f32;
            let mut between = 1.0f32;
            for step in 0..CHUNK {
                let decay = decays[step];
                if step <= row {
                    since *= decay;
                    if step > column {
                        between *= decay;
                    }
                } else {
                    until *= decay;
                }
            }
            let mut before = 0.0f32;
            let mut after = 0.0f32;
            #[unroll]
            for element in 0..elements {
                let i = element * CHUNK + column;
                read[element] *= since;
                erased[element] *= since * strength;
                written[element] *= until;
                if i < key {
                    before += pool[query + i] * read[element] - pool[of_key + i] * erased[element];
                    after += pool[of_key + i] * written[element];
                }
            }
            let grad_strength = sum_of_row(grad_strength, &mut pairs);
            let before = sum_of_row(before, &mut pairs);
            let after = sum_of_row(after, &mut pairs);
            let passed = sum_of_row(passed, &mut pairs);
            if column == 0 {
                from_before[row] = before;
                to_after[row] = after;
                across[row] = passed * since * until;
            }

            let mut of_queries = 0.0f32;
            let mut of_keys = 0.0f32;
            for i in 0..key {
                let other = pool[(CHUNK + column) * pitch + i];
                of_queries += pool[query + i] * other;
                of_keys += pool[of_key + i] * other;
            }
            let grad_read = select(column <= row, between * answer_correction, 0.0f32);
            let grad_error = select(column < row, between * strength * gradient_correction, 0.0f32);
            let pair = grad_read * of_queries - grad_error * of_keys;
            grad_reads[row * PITCH + column] = grad_read;
            grad_errors[row * PITCH + column] = grad_error;
            pairs[row * PITCH + column] = select(column < row, pair, 0.0f32);
            sync_cube();

            if column == 0 && row < count {
                let mut grad_decay = 0.0f32;
                for step in 0..CHUNK {
                    grad_decay += across[step];
                    if step < row {
                        grad_decay += to_after[step];
                    } else {
                        grad_decay += from_before[step];
                        for earlier in 0..row {
                            grad_decay += pairs[step * PITCH + earlier];
                        }
                    }
                }
                let at = gates_at + (first + row) * 2 * heads + head;
                into[at] = grad_decay;
                into[at + heads] = grad_strength;
            }

            // Gradients of the row's query and key; and their products with these.
            let mut along_query = 0.0f32;
            let mut along_key = 0.0f32;
            #[unroll]
            for element in 0..elements {
                let i = element * CHUNK + column;
                if i < key {
                    let mut grad_query = read[element];
                    let mut grad_key = written[element] - erased[element];
                    for step in 0..CHUNK {
                        let other = pool[(CHUNK + step) * pitch + i];
                        let (here, there) = (row * PITCH + step, step * PITCH + row);
                        grad_query += grad_reads[here] * other;
                        grad_key += grad_reads[there] * pool[step * pitch + i];
                        grad_key -= (grad_errors[here] + grad_errors[there]) * other;
                    }
                    along_query += grad_query * pool[query + i];
                    along_key += grad_key * pool[of_key + i];
                    read[element] = grad_query;
                    written[element] = grad_key;
                }
            }
            sync_cube();
            let along_query = sum_of_row(along_query, &mut pairs) * comptime!(sizes.key as f32);
            let along_key = sum_of_row(along_key, &mut pairs);
            if row < count {
                #[unroll]
                for element in 0..elements {
                    let i = element * CHUNK + column;
                    if i < key {
                        let at = ((first + row) * heads + head) * key + i;
                        into[at] = factors[row] * (read[element] - pool[query + i] * along_query);
                        into[k_at + at] = factors[CHUNK + row] * (written[element] - pool[of_key + i] * along_key);
                    }
                }
            }
        }
        // Padding.
        let step = chunk * CHUNK + row;
        if step >= length && step < time {
            let mut i = column;
            while i < key {
                let at = ((first + row) * heads + head) * key + i;
                into[at] = 0.0f32;
                into[k_at + at] = 0.0f32;
                i += CHUNK;
            }
            if column < 2 {
                into[gates_at + (first + row) * 2 * heads + column * heads + head] = 0.0f32;
            }
        }
    }
}
