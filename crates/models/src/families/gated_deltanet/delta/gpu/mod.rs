//! The kernels of [`super::delta_rule`] on a GPU.
//!
//! The state goes from step to step, and no two of its columns meet: a thread has one, in registers. The gradient of the
//! state does the same backwards, and needs no state for it. What is left, gradients of queries, keys and gates, is then
//! computed for all chunks of 16 steps at once, as matrix products of states and corrections.
//!
//! | launch | cube | writes |
//! |---|---|---|
//! | forward | 32 columns of a head of a game | answers, errors v - Sᵀk, states between chunks |
//! | backward, [`adjoint`] | the same | gradients of v and u, and of the states between chunks |
//! | backward, [`gradients`] | a chunk of a head of a game | gradients of q, k and gates |

mod adjoint;
mod forward;
mod gradients;
mod rows;
#[cfg(test)]
mod tests;

use cubecl::prelude::CubeDim;

use super::Shape;
use crate::gpu::{Array, Gpu, Operation, cubes};

/// Steps of a chunk.
const CHUNK: usize = 16;

/// Columns of a state in a cube, one a thread.
const COLUMNS: u32 = 32;

/// Widest keys. A thread keeps a column of the state, and one of its gradient, in registers; and a chunk's rows and states
/// must have room in 16 KiB.
pub const MAX_KEY: usize = 64;

/// The constants that a kernel is compiled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Sizes {
    heads: usize,
    key: usize,
    value: usize,
}

impl Sizes {
    /// Cubes for the columns of a state.
    fn tiles(&self) -> usize {
        self.value.div_ceil(COLUMNS as usize)
    }

    /// Elements between rows of keys in shared memory: odd, so that a column of them lies in different banks.
    fn pitch(&self) -> usize {
        self.key | 1
    }

    /// Room for the queries and keys of a chunk.
    fn rows(&self) -> usize {
        2 * CHUNK * self.pitch()
    }

    fn state(&self) -> usize {
        self.key * self.value
    }
}

/// The rule, for keys of at most [`MAX_KEY`].
#[derive(Debug)]
pub struct DeltaRule {
    pub shape: Shape,
}

impl DeltaRule {
    fn sizes(&self) -> Sizes {
        let Shape { heads, key, value, .. } = self.shape;
        Sizes { heads, key, value }
    }

    fn parts(&self) -> usize {
        self.shape.lengths.len() * self.shape.heads
    }

    fn chunks(&self) -> usize {
        self.shape.time.div_ceil(CHUNK)
    }

    /// Values of all states between two chunks, [parts, chunks - 1, key, value].
    fn states(&self) -> usize {
        self.parts() * self.chunks().saturating_sub(1) * self.sizes().state()
    }
}

impl Operation<4> for DeltaRule {
    fn forward(&self, gpu: &Gpu, [q, k, v, gates]: [&Array; 4], save: bool) -> (Array, Vec<Array>) {
        let answers = gpu.empty(v.len());
        let lengths = gpu.lengths(&self.shape.lengths);
        // Errors, then states.
        let saved = gpu.empty(if save { v.len() + self.states() } else { 0 });
        if v.len() > 0 {
            forward::forward::launch(
                gpu.client(),
                cubes(self.parts() * self.sizes().tiles()),
                CubeDim::new_1d(COLUMNS),
                q.arg(),
                k.arg(),
                v.arg(),
                gates.arg(),
                lengths.arg(),
                answers.arg(),
                saved.arg(),
                self.shape.lengths.len(),
                self.shape.time,
                self.sizes(),
                save,
            );
        }
        (answers, if save { vec![lengths, saved] } else { Vec::new() })
    }

    fn backward(
        &self,
        gpu: &Gpu,
        [q, k, v, gates]: [&Array; 4],
        saved: &[Array],
        gradient: &Array,
        _wanted: [bool; 4],
    ) -> [Option<Array>; 4] {
        let (lengths, saved) = (&saved[0], &saved[1]);
        let grad_v = gpu.empty(v.len());
        let (into, [grad_q, grad_k, grad_gates], [_, k_at, gates_at]) = gpu.empty_parts([q, k, gates].map(Array::len));
        if v.len() > 0 {
            // Gradients of the corrections, then of the states.
            let adjoint = gpu.empty(saved.len());
            adjoint::adjoint::launch(
                gpu.client(),
                cubes(self.parts() * self.sizes().tiles()),
                CubeDim::new_1d(COLUMNS),
                q.arg(),
                k.arg(),
                gates.arg(),
                lengths.arg(),
                gradient.arg(),
                grad_v.arg(),
                adjoint.arg(),
                self.shape.lengths.len(),
                self.shape.time,
                self.sizes(),
            );
            gradients::gradients::launch(
                gpu.client(),
                cubes(self.parts() * self.chunks()),
                CubeDim::new_1d(gradients::THREADS),
                q.arg(),
                k.arg(),
                gates.arg(),
                lengths.arg(),
                gradient.arg(),
                saved.arg(),
                adjoint.arg(),
                into.arg(),
                self.shape.lengths.len(),
                self.shape.time,
                k_at,
                gates_at,
                self.sizes(),
            );
        }
        [grad_q, grad_k, grad_v, grad_gates].map(Some)
    }
}
