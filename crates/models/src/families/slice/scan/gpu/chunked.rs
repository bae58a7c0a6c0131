//! States by products of transitions, in the order of the authors' scan, so that a product overflows here where it does there.
//!
//! That scan (see `../prefix.rs`) has the maps of all steps of a chunk in memory. Its products do not need them all at once. The
//! first n steps are cut into segments as the binary digits of n are: 6 steps are 4 and 2. The map of a segment is that of its
//! right half after that of its left half. The map of the first n steps is that of the last segment after that of the steps
//! before it. So a cube goes from step to step with the maps of one left half of each size and of the steps up to each
//! segment's end, in shared memory: two products a step, and each transition is read once.

use cubecl::prelude::*;

use super::super::CHUNK;

/// Sizes of segments: 1, 2, .., 256 steps.
const LEVELS: usize = CHUNK.ilog2() as usize + 1;

/// Places of maps in shared memory: a left half of each size; two of right halves in turn; the steps up to the end of
/// segments of each size. (A map up to the end of the first segment is that segment's.)
const RIGHT: usize = LEVELS;
const PREFIX: usize = RIGHT + 2;
const PLACES: usize = PREFIX + LEVELS - 2;

/// Blocks of a cube: one, or several if they are small.
pub fn blocks(block: usize) -> usize {
    (64 / (block * block)).max(1)
}

/// Threads of a cube: one for each number of its maps, if they are not too many.
pub fn threads(block: usize) -> usize {
    numbers(block).next_multiple_of(32).min(256)
}

/// Numbers of the maps of a cube at one step: a row of M and one of c for each channel.
fn numbers(block: usize) -> usize {
    blocks(block) * block * (block + 1)
}

/// States [games * time, width] of `blocks` blocks a cube. A map is [channels of the cube, block + 1]: rows of M, each followed
/// by c.
#[allow(clippy::too_many_arguments)]
#[cube(launch)]
pub fn run(
    init: &[f32],
    transitions: &[f32],
    inputs: &[f32],
    lengths: &[u32],
    states: &mut [f32],
    games: u32,
    time: u32,
    width: u32,
    #[comptime] block: usize,
    #[comptime] blocks: usize,
) {
    let channels = comptime!(blocks * block);
    let columns = comptime!(block + 1);
    let size = comptime!(channels * columns);
    let (time, width) = (time as usize, width as usize);
    let across = width.div_ceil(channels);
    let (game, unit) = (CUBE_POS / across, UNIT_POS as usize);
    let first = CUBE_POS % across * channels;
    let threads = comptime!(threads(block));
    if game < games as usize {
        let steps = lengths[game] as usize;
        let mut maps = Shared::<[f32]>::new_slice(PLACES * size);
        // The state before the chunk, and room for that after it.
        let mut start = Shared::<[f32]>::new_slice(2 * channels);
        let mut i = unit;
        while i < channels {
            start[i] = if first + i < width { init[first + i] } else { 0.0f32.runtime() };
            i += threads;
        }
        for t in 0..steps {
            let row = game * time + t;
            let n = t % CHUNK + 1;

            // The step alone.
            let mut level = 0usize.runtime();
            let mut segment = place_of(n, level) * size;
            let mut e = unit;
            while e < size {
                let (channel, column) = (first + e / columns, e % columns);
                let mut value = 0.0f32;
                if channel < width {
                    let at = row * width + channel;
                    if column == block {
                        value = inputs[at];
                    } else {
                        let a = transitions[at * block + column];
                        value = if e / columns % block == column { 1.0f32 + a } else { a };
                    }
                }
                maps[segment + e] = value;
                e += threads;
            }
            sync_cube();

            // The segment that ends here.
            while (n >> level) % 2 == 0 {
                let into = place_of(n, level + 1) * size;
                combine(&mut maps, segment, level * size, into, block, blocks);
                sync_cube();
                segment = into;
                level += 1;
            }

            // All steps up to here.
            let mut prefix = segment;
            let rest = n - (1usize.runtime() << level);
            if rest > 0 {
                let mut above = level + 1;
                while (n >> above) % 2 == 0 {
                    above += 1;
                }
                let mut earlier = above * size;
                if rest != 1usize.runtime() << above {
                    earlier = (PREFIX + above) * size;
                }
                prefix = (PREFIX + level) * size;
                combine(&mut maps, segment, earlier, prefix, block, blocks);
                sync_cube();
            }

            let mut i = unit;
            while i < channels {
                let of_row = prefix + i * columns;
                let mut total = 0.0f32;
                #[unroll]
                for k in 0..block {
                    total += maps[of_row + k] * start[i / block * block + k];
                }
                let y = total + maps[of_row + block];
                if first + i < width {
                    states[row * width + first + i] = y;
                }
                start[channels + i] = y;
                i += threads;
            }
            if n == CHUNK {
                sync_cube();
                let mut i = unit;
                while i < channels {
                    start[i] = start[channels + i];
                    i += threads;
                }
            }
        }
        let mut i = unit;
        while i < channels {
            if first + i < width {
                for t in steps..time {
                    states[(game * time + t) * width + first + i] = 0.0f32;
                }
            }
            i += threads;
        }
    }
}

/// The place of a segment of 2^level steps that ends after `n` steps: is it a left half, or the right half of a larger one?
#[cube]
fn place_of(n: usize, level: usize) -> usize {
    let mut place = level;
    if (n >> level) % 2 == 0 {
        place = RIGHT + level % 2;
    }
    place
}

/// The map of `earlier`, then `later`, goes to `into`; all are offsets.
#[cube]
fn combine(
    maps: &mut Shared<[f32]>,
    later: usize,
    earlier: usize,
    into: usize,
    #[comptime] block: usize,
    #[comptime] blocks: usize,
) {
    let columns = comptime!(block + 1);
    let size = comptime!(blocks * block * columns);
    let mut e = UNIT_POS as usize;
    while e < size {
        let (row, column) = (e / columns, e % columns);
        let of_block = row / block * block;
        let mut total = 0.0f32;
        #[unroll]
        for k in 0..block {
            total += maps[later + row * columns + k] * maps[earlier + (of_block + k) * columns + column];
        }
        if column == block {
            total += maps[later + e];
        }
        maps[into + e] = total;
        e += comptime!(threads(block));
    }
}
