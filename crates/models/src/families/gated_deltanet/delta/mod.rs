//! The gated delta rule as one operation, in chunks of matrix products.
//!
//! One head, with q and k of length 1 (q also over √K), log decays g ≤ 0 and strengths β, goes from a state S [K, V] of
//! zeros by
//!
//! ```text
//! S ← e^g S;   u = β (v - Sᵀ k);   S ← S + k uᵀ;   o = Sᵀ q
//! ```
//!
//! Over a chunk with D_ij = e^{G_i - G_j}, G the sums of g in it, and S the state before it, all u at once solve
//!
//! ```text
//! (I + L) U = β (V - e^G K S),   L_ij = β_i (k_i · k_j) D_ij below the diagonal
//! O = e^G Q S + (Q Kᵀ ⊙ D, up to the diagonal) U
//! S ← e^{G_C} S + (e^{G_C - G} K)ᵀ U
//! ```
//!
//! The triangle is solved by forward substitution, never by a series: with equal keys and strengths near 2 that is off by
//! any number, while substitution is as exact as the steps (protocol.md, "Numerics"). The decomposed form inverts it, by
//! substitution too.

mod backward;
mod chunk;
mod decomposed;
mod forward;
#[cfg(feature = "gpu")]
mod gpu;
mod inverse;
mod steps;
#[cfg(test)]
mod tests;
mod triangle;

use std::ops::Range;
use std::sync::Arc;

use burn::tensor::Tensor;

pub use self::steps::advance;
use super::mixer::Size;
use crate::Tokens;
use crate::ops::dot;
use crate::ops::implementation::{Implementation, implementation};
use crate::ops::kernel::{Kernel, Operand, apply};

/// Steps of a chunk. From 16 to 80 all are about as fast.
const CHUNK: usize = 32;

/// Shape of a batch.
#[derive(Clone, Debug)]
pub struct Shape {
    time: usize,
    lengths: Arc<[usize]>,
    heads: usize,
    /// Width of a head's queries and keys.
    key: usize,
    /// Width of a head's values.
    value: usize,
    /// Steps of a chunk; no result depends on it but for rounding.
    chunk: usize,
}

impl Shape {
    /// For this batch.
    pub fn new(tokens: &Tokens, size: &Size) -> Self {
        let Size { heads, key, value, .. } = *size;
        Shape { time: tokens.time(), lengths: tokens.lengths().clone(), heads, key, value, chunk: CHUNK }
    }

    fn rows(&self) -> usize {
        self.lengths.len() * self.time
    }

    fn state(&self) -> usize {
        self.key * self.value
    }

    /// The chunks of a game, as ranges of its steps.
    fn chunks(&self, steps: usize) -> impl DoubleEndedIterator<Item = Range<usize>> + use<> {
        let chunk = self.chunk;
        (0..steps.div_ceil(chunk)).map(move |index| index * chunk..((index + 1) * chunk).min(steps))
    }

    /// Every head of every game.
    fn parts(&self) -> impl Iterator<Item = HeadSequence> + '_ {
        let games = self.lengths.iter().enumerate();
        games.flat_map(move |(game, &steps)| {
            (0..self.heads).map(move |head| HeadSequence { row: game * self.time, steps, head })
        })
    }
}

/// One head of one game.
#[derive(Clone, Copy, Debug)]
struct HeadSequence {
    /// First row of the game.
    row: usize,
    /// Real steps.
    steps: usize,
    head: usize,
}

/// Answers [batch * time, heads * value] to queries and keys [batch * time, heads * key], of any length, values
/// [batch * time, heads * value] and gates [batch * time, 2 * heads]: log decays, then strengths. Zero at padded steps.
pub fn delta_rule(q: Tensor<2>, k: Tensor<2>, v: Tensor<2>, gates: Tensor<2>, shape: Shape) -> Tensor<2> {
    match implementation(&q.device()) {
        Implementation::Cpu => {
            apply([Operand::from(q), Operand::from(k), Operand::from(v), Operand::from(gates)], DeltaRule { shape })
        }
        #[cfg(feature = "gpu")]
        Implementation::Gpu if shape.key <= gpu::MAX_KEY => {
            let dims = v.dims();
            let operands = [q, k, v, gates].map(|operand| operand.flatten(0, 1));
            crate::gpu::apply(operands, gpu::DeltaRule { shape }).reshape(dims)
        }
        _ => decomposed::decompose([q, k, v, gates], &shape, decomposed::CHUNK),
    }
}

#[derive(Debug)]
struct DeltaRule {
    shape: Shape,
}

impl Kernel<4> for DeltaRule {
    fn shape(&self) -> Vec<usize> {
        vec![self.shape.rows(), self.shape.heads * self.shape.value]
    }

    fn forward(&self, inputs: [&[f32]; 4], save: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let mut answers = vec![0.0; inputs[2].len()];
        let mut saved = forward::SavedForBackward::default();
        for sequence in self.shape.parts() {
            forward::forward(&self.shape, sequence, inputs, &mut answers, save.then_some(&mut saved));
        }
        (answers, if save { vec![saved.states, saved.corrections] } else { Vec::new() })
    }

    fn backward(&self, inputs: [&[f32]; 4], saved: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 4] {
        let mut into = inputs.map(|input| vec![0.0; input.len()]);
        let [mut states, mut corrections] = [saved[0].as_slice(), saved[1].as_slice()];
        for sequence in self.shape.parts() {
            let chunks = sequence.steps.div_ceil(self.shape.chunk);
            let of_sequence = backward::SavedForBackward {
                states: states.split_off(..chunks.saturating_sub(1) * self.shape.state()).expect("saved"),
                corrections: corrections.split_off(..sequence.steps * self.shape.value).expect("saved"),
            };
            backward::backward(&self.shape, sequence, inputs, of_sequence, gradient, &mut into);
        }
        into
    }
}

/// `x` over its length times `scale`; and the factor that did it.
#[inline(always)]
fn normalise(x: &[f32], scale: f32, into: &mut [f32]) -> f32 {
    let factor = scale / (dot(x, x) + steps::EPSILON).sqrt();
    for (into, x) in into.iter_mut().zip(x) {
        *into = x * factor;
    }
    factor
}
