//! Attention on a GPU, without a matrix of scores in memory (Dao et al. 2022, FlashAttention).
//!
//! A thread has a query, or a key, of a head of a game: its channels and those of its sum are in registers. All threads of a
//! cube go through the same tiles of keys and values (of queries and gradients) in shared memory. The forward pass scales its
//! sums anew where it finds a larger score, and keeps the largest score and the inverse of the sum of each query; with these
//! the backward pass computes probabilities again. One kernel launch forward, three backward.
//!
//! Every sum has one order. Operands are rounded as on the CPU, but for the forward pass's probabilities: they are
//! rounded before they are divided by their sum, by the same relative error. With rounding, the mean of the gradients
//! of a query is the product of the output, as rounded, and its gradient.

mod forward;
mod keys;
mod means;
mod queries;
mod tile;
mod turns;

use cubecl::prelude::*;

use self::turns::turns;
use super::{Mask, Shape};
use crate::Precision;
use crate::gpu::{Array, Gpu, Operation, THREADS, cubes, cubes_of};
use crate::ops::Dropout;
use crate::ops::attention::rotation::{Layout, Rotation};

/// Queries, or keys, of a cube.
const ROWS: usize = 64;

/// Keys (queries) whose products a thread computes together: independent sums hide the latency of each.
const CHUNK: usize = 4;

/// [`CHUNK`] of the backward pass, where there are two products for each: registers are few.
const PAIRS: usize = 2;

/// Values of shared memory a cube.
const SHARED: usize = 4096;

/// The operation.
#[derive(Debug)]
pub struct Attention {
    pub shape: Shape,
    pub rotation: Rotation,
    pub dropout: Option<Dropout>,
    pub precision: Precision,
}

/// The compile-time parameters of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct KernelConfig {
    heads: usize,
    head_width: usize,
    /// True if a step attends only to itself and earlier ones.
    causal: bool,
    /// Vectors of a row of a head.
    vectors: usize,
    /// Keys or queries of a tile.
    tile: usize,
    /// Channels 2i and 2i + 1 are partners, or else j and j + D/2.
    neighbours: bool,
    /// Last bits of mantissas that operands lose.
    operand_bits: u32,
    /// Last bits of mantissas that results lose.
    result_bits: u32,
    drops: bool,
    /// Unroll loops over vectors.
    unroll: bool,
}

impl KernelConfig {
    /// 1/√D.
    fn scale(self) -> f32 {
        1.0 / (self.head_width as f32).sqrt()
    }
}

/// Returns true if these kernels can do it: channels have partners, and heads need room in shared memory.
pub fn fits(shape: &Shape) -> bool {
    shape.head_width.is_multiple_of(2) && tile(shape.head_width) >= CHUNK
}

/// Rows of a tile: two matrices, and three values a row, fit in shared memory.
fn tile(head_width: usize) -> usize {
    (SHARED / (2 * head_width + 3) / CHUNK * CHUNK).min(32)
}

impl Attention {
    fn kernel_config(&self) -> KernelConfig {
        let head_width = self.shape.head_width;
        let vectors = head_width / self.vector();
        let bits = |precision: Precision| match precision {
            Precision::Fp32 => 0,
            Precision::Tf32 => 13,
            Precision::Bf16 => 16,
        };
        KernelConfig {
            heads: self.shape.heads,
            head_width,
            causal: self.shape.mask == Mask::Causal,
            vectors,
            tile: tile(head_width),
            neighbours: self.rotation.layout() == Layout::Upstream,
            operand_bits: bits(self.precision),
            result_bits: bits(self.precision.of_results()),
            drops: self.dropout.is_some(),
            unroll: vectors <= 16,
        }
    }

    /// Channels of a vector: partners are in the same, or at the same place of two.
    fn vector(&self) -> usize {
        let whole = match self.rotation.layout() {
            Layout::Upstream => self.shape.head_width,
            Layout::Standard | Layout::None => self.shape.head_width / 2,
        };
        [4, 2].into_iter().find(|size| whole.is_multiple_of(*size)).unwrap_or(1)
    }

    fn parts(&self) -> usize {
        self.shape.lengths.len() * self.shape.heads
    }

    /// One for each tile of rows of each head of each game.
    fn cubes(&self) -> CubeCount {
        cubes(self.parts() * self.shape.time.div_ceil(ROWS))
    }

    fn dropout(&self) -> ([u32; 2], u32, f32) {
        self.dropout.map_or(([0; 2], 0, 1.0), Dropout::words)
    }
}

impl Operation<1> for Attention {
    fn forward(&self, gpu: &Gpu, [qkv]: [&Array; 1], _save: bool) -> (Array, Vec<Array>) {
        let (turns, lengths) = (turns(gpu, &self.rotation), gpu.lengths(&self.shape.lengths));
        let out = gpu.empty(self.shape.rows() * self.shape.width());
        let norms = gpu.empty(2 * self.parts() * self.shape.time);
        if out.len() == 0 {
            return (out, vec![turns, lengths, gpu.empty(0), norms]);
        }
        let ([first, second], dropped, kept) = self.dropout();
        forward::forward::launch(
            gpu.client(),
            self.cubes(),
            CubeDim::new_1d(ROWS as u32),
            self.vector(),
            qkv.arg(),
            turns.arg(),
            lengths.arg(),
            out.arg(),
            norms.arg(),
            self.parts() as u32,
            self.shape.time as u32,
            first,
            second,
            dropped,
            kept,
            self.kernel_config(),
        );
        let saved = vec![turns, lengths, out.clone(), norms];
        (out, saved)
    }

    fn backward(&self, gpu: &Gpu, [qkv]: [&Array; 1], saved: &[Array], g: &Array, _: [bool; 1]) -> [Option<Array>; 1] {
        let [turns, lengths, out, norms] = saved else { unreachable!("the forward pass saves four arrays") };
        let grad_qkv = gpu.empty(qkv.len());
        if qkv.len() == 0 {
            return [Some(grad_qkv)];
        }
        let rows = self.parts() * self.shape.time;
        let means = gpu.empty(rows);
        let (vector, config) = (self.vector(), self.kernel_config());
        let (dim, time) = (CubeDim::new_1d(THREADS), self.shape.time as u32);
        let (client, count) = (gpu.client(), cubes_of(rows));
        means::means::launch(client, count, dim, vector, out.arg(), g.arg(), means.arg(), rows as u32, time, config);
        let ([first, second], dropped, kept) = self.dropout();
        queries::grad_queries::launch(
            client,
            self.cubes(),
            CubeDim::new_1d(ROWS as u32),
            vector,
            qkv.arg(),
            turns.arg(),
            lengths.arg(),
            g.arg(),
            norms.arg(),
            means.arg(),
            grad_qkv.arg(),
            self.parts() as u32,
            time,
            first,
            second,
            dropped,
            kept,
            config,
        );
        keys::grad_keys_and_values::launch(
            client,
            self.cubes(),
            CubeDim::new_1d(2 * ROWS as u32),
            vector,
            qkv.arg(),
            turns.arg(),
            lengths.arg(),
            g.arg(),
            norms.arg(),
            means.arg(),
            grad_qkv.arg(),
            self.parts() as u32,
            time,
            first,
            second,
            dropped,
            kept,
            config,
        );
        [Some(grad_qkv)]
    }
}
