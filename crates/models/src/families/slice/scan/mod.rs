//! The linear recurrence y_t = (I + A_t) y_{t-1} + c_t with block-diagonal A, as one operation.

mod backward;
mod decomposed;
#[cfg(feature = "gpu")]
mod gpu;
mod prefix;
mod steps;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use burn::tensor::Tensor;

pub use self::steps::advance;
use crate::Tokens;
use crate::ops::implementation::{Implementation, implementation};
use crate::ops::kernel::{Kernel, Operand, apply};

/// The algorithm that computes states. The two differ in rounding, and in what becomes of states that explode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanAlgorithm {
    /// Products of transitions over [`CHUNK`] steps by an associative scan, applied to the state before the chunk.
    ///
    /// This is what the authors' code does. A product of transitions can overflow where no state does, and then gives NaN.
    Chunked,
    /// One step after the other.
    Sequential,
}

/// Steps of a chunk in the authors' code.
const CHUNK: usize = 256;

/// Shape of a batch of recurrences.
#[derive(Clone, Debug)]
pub struct Shape {
    time: usize,
    lengths: Arc<[usize]>,
    width: usize,
    block: usize,
}

impl Shape {
    /// For this batch.
    pub fn new(tokens: &Tokens, width: usize, block: usize) -> Self {
        Shape { time: tokens.time(), lengths: tokens.lengths().clone(), width, block }
    }

    fn rows(&self) -> usize {
        self.lengths.len() * self.time
    }

    /// First row and number of real steps of each game.
    fn games(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.lengths.iter().enumerate().map(|(game, &steps)| (game * self.time, steps))
    }
}

/// States [batch * time, width] from the first one's predecessor `init` [width], the transitions A [batch * time, width *
/// block], row by row within a block, and the inputs c [batch * time, width]. Zero at padded steps.
pub fn scan(
    init: Tensor<1>,
    transitions: Tensor<2>,
    inputs: Tensor<2>,
    shape: Shape,
    algorithm: ScanAlgorithm,
) -> Tensor<2> {
    match implementation(&transitions.device()) {
        Implementation::Cpu => {
            apply([Operand::from(init), Operand::from(transitions), Operand::from(inputs)], Scan { shape, algorithm })
        }
        #[cfg(feature = "gpu")]
        Implementation::Gpu if shape.block <= gpu::LARGEST_BLOCK => {
            let sizes = [shape.rows(), shape.width];
            let operands = [init, transitions.flatten(0, 1), inputs.flatten(0, 1)];
            crate::gpu::apply(operands, Scan { shape, algorithm }).reshape(sizes)
        }
        _ => decomposed::decompose(init, transitions, inputs, &shape, algorithm),
    }
}

#[derive(Debug)]
struct Scan {
    shape: Shape,
    algorithm: ScanAlgorithm,
}

/// One game: its real steps alone.
#[derive(Clone, Copy)]
struct Game<'a> {
    width: usize,
    block: usize,
    init: &'a [f32],
    /// [steps, width * block]
    transitions: &'a [f32],
}

impl Scan {
    fn game<'a>(&self, row: usize, steps: usize, init: &'a [f32], transitions: &'a [f32]) -> Game<'a> {
        let Shape { width, block, .. } = self.shape;
        Game { width, block, init, transitions: &transitions[row * width * block..(row + steps) * width * block] }
    }

    fn states(&self, [init, transitions, inputs]: [&[f32]; 3]) -> Vec<f32> {
        let width = self.shape.width;
        let mut states = vec![0.0; self.shape.rows() * width];
        for (row, steps) in self.shape.games() {
            let game = self.game(row, steps, init, transitions);
            let of = row * width..(row + steps) * width;
            match self.algorithm {
                ScanAlgorithm::Chunked => prefix::chunked(game, &inputs[of.clone()], &mut states[of]),
                ScanAlgorithm::Sequential => steps::sequential(game, &inputs[of.clone()], &mut states[of]),
            }
        }
        states
    }
}

impl Kernel<3> for Scan {
    fn shape(&self) -> Vec<usize> {
        vec![self.shape.rows(), self.shape.width]
    }

    fn forward(&self, inputs: [&[f32]; 3], save: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let states = self.states(inputs);
        let saved = if save { vec![states.clone()] } else { Vec::new() };
        (states, saved)
    }

    fn backward(&self, inputs: [&[f32]; 3], saved: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 3] {
        let [init, transitions, _] = inputs;
        let Shape { width, block, .. } = self.shape;
        let mut grad_init = vec![0.0; width];
        let mut grad_transitions = vec![0.0; transitions.len()];
        let mut grad_inputs = vec![0.0; gradient.len()];
        for (row, steps) in self.shape.games() {
            let of = row * width..(row + steps) * width;
            let into = backward::Gradients {
                init: &mut grad_init,
                transitions: &mut grad_transitions[row * width * block..(row + steps) * width * block],
                inputs: &mut grad_inputs[of.clone()],
            };
            let game = self.game(row, steps, init, transitions);
            backward::backward(game, &saved[0][of.clone()], &gradient[of], into);
        }
        [grad_init, grad_transitions, grad_inputs]
    }
}
