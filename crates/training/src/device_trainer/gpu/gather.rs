//! Puts several arrays into places of one.

use cubecl::prelude::*;
use cwm_models::gpu::{Array, Gpu, THREADS, cubes_of};

/// Arrays of one launch: a kernel has eight at most on some GPUs, with what it writes and its other arguments.
const MOST: usize = 6;

/// Writes each of `parts` to `into` from its place on, or adds it to what is there if `add`.
pub fn gather(gpu: &Gpu, mut parts: Vec<(Array, usize)>, into: &Array, add: bool) {
    // Arrays of like length together: a launch has as many threads as the longest has values.
    parts.sort_by_key(|(part, place)| (std::cmp::Reverse(part.len()), *place));
    for parts in parts.chunks(MOST) {
        let (mut arrays, mut lens, mut places) = (SequenceArg::new(), SequenceArg::new(), SequenceArg::new());
        for (part, place) in parts {
            arrays.push(part.arg());
            lens.push(part.len() as u32);
            places.push(*place as u32);
        }
        let (longest, threads) = (cubes_of(parts[0].0.len()), CubeDim::new_1d(THREADS));
        gather_kernel::launch(gpu.client(), longest, threads, arrays, lens, places, into.arg(), u32::from(add));
    }
}

#[cube(launch)]
fn gather_kernel(
    parts: &Sequence<Box<[f32]>>,
    lens: &Sequence<u32>,
    places: &Sequence<u32>,
    into: &mut [f32],
    add: u32,
) {
    let count = comptime!(parts.len());
    #[unroll]
    for i in 0..count {
        if ABSOLUTE_POS < lens[i] as usize {
            let place = places[i] as usize + ABSOLUTE_POS;
            let mut value = parts[i][ABSOLUTE_POS];
            if add == 1u32 {
                value += into[place];
            }
            into[place] = value;
        }
    }
}

/// Sets `len` values of `into` from `place` on to zero.
pub fn clear(gpu: &Gpu, into: &Array, place: usize, len: usize) {
    let threads = CubeDim::new_1d(THREADS);
    clear_kernel::launch(gpu.client(), cubes_of(len), threads, into.arg(), place as u32, len as u32);
}

#[cube(launch)]
fn clear_kernel(into: &mut [f32], place: u32, len: u32) {
    if ABSOLUTE_POS < len as usize {
        into[place as usize + ABSOLUTE_POS] = 0.0f32;
    }
}
