//! States step by step: a thread for each channel.

use cubecl::prelude::*;

/// States [games * time, width] of `channels` channels a cube. The state is in shared memory twice: threads write that of a
/// step while others still read the one before.
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
    #[comptime] channels: usize,
) {
    let (time, width) = (time as usize, width as usize);
    let across = width.div_ceil(channels);
    let (game, unit) = (CUBE_POS / across, UNIT_POS as usize);
    let channel = CUBE_POS % across * channels + unit;
    if game < games as usize {
        let is_inside = channel < width;
        let steps = lengths[game] as usize;
        let mut state = Shared::<[f32]>::new_slice(2 * channels);
        if is_inside {
            state[unit] = init[channel];
        }
        sync_cube();
        let (first, i) = (unit / block * block, unit % block);
        for t in 0..steps {
            let (before, after) = (t % 2 * channels, (t + 1) % 2 * channels);
            if is_inside {
                let at = (game * time + t) * width + channel;
                let mut total = 0.0f32;
                #[unroll]
                for j in 0..block {
                    let a = transitions[at * block + j];
                    // I + A is formed first, as the authors' code does: it rounds.
                    let m = if i == j { 1.0f32 + a } else { a };
                    total += m * state[before + first + j];
                }
                let y = total + inputs[at];
                state[after + unit] = y;
                states[at] = y;
            }
            sync_cube();
        }
        if is_inside {
            for t in steps..time {
                states[(game * time + t) * width + channel] = 0.0f32;
            }
        }
    }
}
