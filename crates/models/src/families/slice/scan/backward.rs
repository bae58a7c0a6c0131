//! Gradients: the same kind of recurrence, from the last step to the first.

use super::Game;

/// The slices that receive the gradients of one game; that of `init` is added.
pub struct Gradients<'a> {
    pub init: &'a mut [f32],
    /// [steps, width * block]
    pub transitions: &'a mut [f32],
    /// [steps, width]
    pub inputs: &'a mut [f32],
}

/// λ_t = g_t + (I + A_{t+1})ᵀ λ_{t+1} is the gradient of c_t, and λ_t y_{t-1}ᵀ that of A_t.
#[macerator::with_simd]
pub fn backward<'a, 'b, S: macerator::Simd>(game: Game<'a>, states: &[f32], gradient: &[f32], into: Gradients<'b>) {
    // The same code for each; naming the frequent blocks lets the compiler unroll them.
    match game.block {
        1 => sweep(1, game, states, gradient, into),
        8 => sweep(8, game, states, gradient, into),
        block => sweep(block, game, states, gradient, into),
    }
}

#[inline(always)]
fn sweep(block: usize, game: Game<'_>, states: &[f32], gradient: &[f32], into: Gradients<'_>) {
    let Game { width, init, transitions, .. } = game;
    let mut grad = vec![0.0; width];
    let mut earlier = vec![0.0; width];
    for t in (0..states.len() / width).rev() {
        let (of, of_linear) = (t * width..(t + 1) * width, t * width * block..(t + 1) * width * block);
        let before = if t == 0 { init } else { &states[(t - 1) * width..t * width] };
        for ((grad, into), (gradient, earlier)) in
            grad.iter_mut().zip(&mut into.inputs[of.clone()]).zip(gradient[of].iter().zip(&earlier))
        {
            *grad = gradient + earlier;
            *into = *grad;
        }
        earlier.copy_from_slice(&grad);
        let linear = transitions[of_linear.clone()].chunks_exact(block * block);
        let linear = linear.zip(into.transitions[of_linear].chunks_exact_mut(block * block));
        let blocks = grad.chunks_exact(block).zip(before.chunks_exact(block)).zip(earlier.chunks_exact_mut(block));
        for (((grad, before), earlier), (a, grad_a)) in blocks.zip(linear) {
            let rows = a.chunks_exact(block).zip(grad_a.chunks_exact_mut(block));
            for (&grad, (a, grad_a)) in grad.iter().zip(rows) {
                let columns = grad_a.iter_mut().zip(before).zip(a.iter().zip(earlier.iter_mut()));
                for ((grad_a, before), (a, earlier)) in columns {
                    *grad_a = grad * before;
                    *earlier += grad * a;
                }
            }
        }
    }
    for (into, earlier) in into.init.iter_mut().zip(earlier) {
        *into += earlier;
    }
}
