//! The forward pass: a query a thread.

use cubecl::prelude::{Array as Local, *};

use super::tile::{all_rounded, factor_of, load, operand, rounded, steps_seen, sum};
use super::{CHUNK, KernelConfig, ROWS};

/// Below all scores, yet finite: infinity less infinity is no number.
const LOWEST: f32 = -3.0e38;

/// `out` [batch, time, width] from `qkv` [batch, time, 3, width], and `norms` [batch, heads, time, 2]: the largest score
/// of each query, and the inverse of the sum of its exponentials.
#[cube(launch)]
#[allow(clippy::too_many_arguments)]
pub fn forward<N: Size>(
    qkv: &[Vector<f32, N>],
    turns: &[Vector<f32, N>],
    lengths: &[u32],
    out: &mut [Vector<f32, N>],
    norms: &mut [f32],
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
        // Vectors of queries, of keys or of values in a row.
        let width = comptime!(config.heads * config.vectors);
        let row = game * time * 3 * width + part % config.heads * config.vectors;

        let mut q = Local::<Vector<f32, N>>::new(config.vectors);
        let mut mixed = Local::<Vector<f32, N>>::new(config.vectors);
        #[unroll(config.unroll)]
        for v in 0..config.vectors {
            mixed[v] = Vector::new(0.0f32);
            q[v] = Vector::new(0.0f32);
        }
        if i < steps {
            #[unroll(config.unroll)]
            for v in 0..config.vectors {
                q[v] = operand::<N>(qkv, turns, row + i * 3 * width, i, v, true, config);
            }
        }
        let mut largest = LOWEST.runtime();
        let mut total = 0.0f32;
        let mut scores = Local::<f32>::new(CHUNK);

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
                scores_of::<N>(&q, &keys, r, &mut scores, config);
                let mut top = largest;
                #[unroll]
                for c in 0..CHUNK {
                    if start + r + c < seen && scores[c] > top {
                        top = scores[c];
                    }
                }
                if top > largest {
                    let shrink = f32::exp(largest - top);
                    largest = top;
                    total *= shrink;
                    #[unroll(config.unroll)]
                    for v in 0..config.vectors {
                        mixed[v] = mixed[v] * Vector::new(shrink);
                    }
                }
                #[unroll]
                for c in 0..CHUNK {
                    // What later steps hold, even NaN, is not seen.
                    let j = start + r + c;
                    if j < seen {
                        let p = f32::exp(scores[c] - largest);
                        total += p;
                        let p = p * factor_of(part, time, i, j, first, second, dropped, kept, config);
                        let p = Vector::<f32, N>::new(rounded(p, config.operand_bits));
                        #[unroll(config.unroll)]
                        for v in 0..config.vectors {
                            mixed[v] = mixed[v] + p * values[(r + c) * config.vectors + v];
                        }
                    }
                }
                r += CHUNK;
            }
            start += config.tile;
        }

        if i < time {
            let mut inverse = 0.0f32;
            if i < steps {
                inverse = 1.0f32 / total;
            }
            let to = (game * time + i) * width + part % config.heads * config.vectors;
            #[unroll(config.unroll)]
            for v in 0..config.vectors {
                out[to + v] = all_rounded::<N>(mixed[v] * Vector::new(inverse), config.result_bits);
            }
            norms[2 * (part * time + i)] = largest;
            norms[2 * (part * time + i) + 1] = inverse;
        }
    }
}

/// The scores of `q` with the keys at rows `r`.. of the tile.
#[cube]
fn scores_of<N: Size>(
    q: &Local<Vector<f32, N>>,
    keys: &Shared<[Vector<f32, N>]>,
    r: usize,
    scores: &mut Local<f32>,
    #[comptime] config: KernelConfig,
) {
    let mut sums = Local::<Vector<f32, N>>::new(CHUNK);
    #[unroll]
    for c in 0..CHUNK {
        sums[c] = Vector::new(0.0f32);
    }
    #[unroll(config.unroll)]
    for v in 0..config.vectors {
        #[unroll]
        for c in 0..CHUNK {
            sums[c] = sums[c] + q[v] * keys[(r + c) * config.vectors + v];
        }
    }
    #[unroll]
    for c in 0..CHUNK {
        scores[c] = sum::<N>(sums[c]) * comptime!(config.scale());
    }
}
