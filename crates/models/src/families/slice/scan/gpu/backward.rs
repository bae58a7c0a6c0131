//! Gradients: the same kind of recurrence, from the last step to the first; a thread for each channel.

use cubecl::prelude::*;

/// λ_t = g_t + (I + A_{t+1})ᵀ λ_{t+1} is the gradient of c_t, and λ_t y_{t-1}ᵀ that of A_t. `grad_init` [games, width]
/// has the gradients of `init` of each game.
#[allow(clippy::too_many_arguments)]
#[cube(launch)]
pub fn run(
    init: &[f32],
    transitions: &[f32],
    states: &[f32],
    gradient: &[f32],
    lengths: &[u32],
    grad_init: &mut [f32],
    grad_transitions: &mut [f32],
    grad_inputs: &mut [f32],
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
        // Gradients of a step and the next: threads write the one while others still read the other.
        let mut grads = Shared::<[f32]>::new_slice(2 * channels);
        let (first, j) = (unit / block * block, unit % block);
        let mut earlier = 0.0f32;
        for step in 0..steps {
            let t = steps - 1 - step;
            let at = (game * time + t) * width + channel;
            let of_step = t % 2 * channels;
            if is_inside {
                earlier += gradient[at];
                grads[of_step + unit] = earlier;
                grad_inputs[at] = earlier;
            }
            sync_cube();
            if is_inside {
                let before = if t == 0 { init[channel] } else { states[at - width] };
                #[unroll]
                for i in 0..block {
                    let grad = grads[of_step + first + i];
                    let a = (at - j + i) * block + j;
                    grad_transitions[a] = grad * before;
                    earlier += grad * transitions[a];
                }
            }
        }
        if is_inside {
            grad_init[game * width + channel] = earlier;
            for t in steps..time {
                let at = (game * time + t) * width + channel;
                grad_inputs[at] = 0.0f32;
                #[unroll]
                for i in 0..block {
                    grad_transitions[(at - j + i) * block + j] = 0.0f32;
                }
            }
        }
    }
}
