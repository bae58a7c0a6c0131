//! Attention of steps that go on from others, whose keys and values are known: causal. It turns nothing: queries and keys with
//! rotary positions are turned before.

use std::sync::Arc;

use burn::tensor::activation::softmax;
use burn::tensor::{Bool, Int, Tensor, TensorData};

use super::Shape;
use super::kernel::{scaled_softmax, weighted_sum};
use crate::Precision;
use crate::ops::dot;
use crate::ops::implementation::{Implementation, implementation};
use crate::ops::kernel::{Kernel, Operand, apply};
use crate::ops::padding::without_padding;
use crate::ops::product::{rounded_product, rounded_result};

/// The place at which a sequence continues: after the first `steps` steps of a sequence that was passed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContinuationPoint {
    /// The sequence, by its place in its batch.
    pub sequence: usize,
    /// The number of its steps that come first.
    pub steps: usize,
}

/// The steps before those of a batch.
#[derive(Clone, Debug)]
pub struct EarlierSteps {
    /// Their queries, keys and values: [sequences * time, 3 * width].
    pub qkv: Tensor<2>,
    /// Steps of each of these sequences, padding included.
    pub time: usize,
    /// The place at which each sequence of the batch continues.
    pub after: Arc<[ContinuationPoint]>,
}

/// Computes [`super::attention`] for the steps of `qkv`, each of which sees all earlier ones of its sequence too. Without
/// gradients.
pub fn continued(qkv: Tensor<2>, earlier: EarlierSteps, shape: Shape, precision: Precision) -> Tensor<2> {
    match implementation(&qkv.device()) {
        Implementation::Cpu => {
            let EarlierSteps { qkv: before, time, after } = earlier;
            apply([qkv.into(), Operand::from(before)], ContinuedKernel { time, after, shape, precision })
        }
        _ => decompose(qkv, earlier, &shape, precision),
    }
}

/// The operation on the CPU: each row is computed as the whole pass computes it.
#[derive(Debug)]
struct ContinuedKernel {
    time: usize,
    after: Arc<[ContinuationPoint]>,
    shape: Shape,
    precision: Precision,
}

impl ContinuedKernel {
    /// Appends the queries (0), keys (1) or values (2) of some rows of a head, as operands of a product.
    fn gather(&self, qkv: &[f32], rows: std::ops::Range<usize>, head: usize, which: usize, into: &mut Vec<f32>) {
        let (width, d, first) = (self.shape.width(), self.shape.head_width, into.len());
        for row in rows {
            let start = (3 * row + which) * width + head * d;
            into.extend_from_slice(&qkv[start..start + d]);
        }
        self.precision.round(&mut into[first..]);
    }
}

impl Kernel<2> for ContinuedKernel {
    fn shape(&self) -> Vec<usize> {
        vec![self.shape.rows(), self.shape.width()]
    }

    fn forward(&self, [qkv, before]: [&[f32]; 2], _save: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let (width, d, time) = (self.shape.width(), self.shape.head_width, self.shape.time);
        let mut out = vec![0.0; self.shape.rows() * width];
        let seen = self.after.iter().zip(&*self.shape.lengths).map(|(after, &steps)| after.steps + steps);
        let mut row = vec![0.0; seen.max().unwrap_or(0)];
        let (mut q, mut k, mut v) = (Vec::new(), Vec::new(), Vec::new());
        for head in 0..self.shape.heads {
            k.clear();
            v.clear();
            let mut last = ContinuationPoint { sequence: 0, steps: 0 };
            for (sequence, (after, &steps)) in self.after.iter().zip(&*self.shape.lengths).enumerate() {
                let (first, first_before) = (sequence * time, after.sequence * self.time);
                // Sequences that go on from one are side by side.
                let there = if last.sequence == after.sequence { last.steps.min(after.steps) } else { 0 };
                for (which, into) in [(1, &mut k), (2, &mut v)] {
                    into.truncate(there * d);
                    self.gather(before, first_before + there..first_before + after.steps, head, which, into);
                    self.gather(qkv, first..first + steps, head, which, into);
                }
                last = *after;
                q.clear();
                self.gather(qkv, first..first + steps, head, 0, &mut q);
                for (i, q) in q.chunks_exact(d).enumerate() {
                    let row = &mut row[..after.steps + i + 1];
                    probabilities(q, &k, self.shape.scale(), row);
                    self.precision.round(row);
                    let start = (first + i) * width + head * d;
                    let out = &mut out[start..start + d];
                    weighted_sum(row, &v, out);
                    self.precision.of_results().round(out);
                }
            }
        }
        (out, Vec::new())
    }

    fn backward(&self, _: [&[f32]; 2], _: Vec<Vec<f32>>, _: &[f32]) -> [Vec<f32>; 2] {
        unreachable!("passes that go on from others have no gradients")
    }
}

/// softmax of scale * (q · k_j) for all keys [row, head width].
#[macerator::with_simd]
fn probabilities<S: macerator::Simd>(q: &[f32], k: &[f32], scale: f32, row: &mut [f32]) {
    for (p, k) in row.iter_mut().zip(k.chunks_exact(q.len())) {
        *p = dot(q, k);
    }
    scaled_softmax(scale, row);
}

/// Computes [`continued`] by Burn's operations.
fn decompose(qkv: Tensor<2>, earlier: EarlierSteps, shape: &Shape, precision: Precision) -> Tensor<2> {
    let Shape { time, heads, head_width, .. } = *shape;
    let batch = shape.lengths.len();
    let most = earlier.after.iter().map(|after| after.steps).max().unwrap_or(0);
    let sequences = earlier.qkv.dims()[0] / earlier.time;
    // Queries, keys and values: [sequences, heads, steps, head width] each.
    let split = |qkv: Tensor<2>, sequences: usize, time: usize, steps: usize| {
        let parts = qkv.reshape([sequences, time, 3, heads, head_width]).slice([0..sequences, 0..steps]);
        let parts = parts.permute([2, 0, 3, 1, 4]);
        [0, 1, 2].map(|which| {
            let part = parts.clone().slice([which..which + 1]);
            part.reshape([sequences, heads, steps, head_width])
        })
    };
    let [q, k, v] = split(qkv, batch, time, time);
    let [_, k_before, v_before] = split(earlier.qkv, sequences, earlier.time, most);
    let places: Vec<i32> = earlier.after.iter().map(|after| after.sequence as i32).collect();
    let places = Tensor::<1, Int>::from_data(TensorData::new(places, [batch]), &q.device());
    let with = |before: Tensor<4>, new: Tensor<4>| Tensor::cat(vec![before.select(0, places.clone()), new], 2);
    let (k, v) = (with(k_before, k), with(v_before, v));

    let scores = rounded_product(q, k.swap_dims(2, 3), precision) / (head_width as f32).sqrt();
    let is_unseen =
        |after: &ContinuationPoint, i: usize, j: usize| if j < most { j >= after.steps } else { j - most > i };
    let steps = most + time;
    let of_row = |after, i| (0..steps).map(move |j| is_unseen(after, i, j));
    let unseen = earlier.after.iter().flat_map(|after| (0..time).flat_map(move |i| of_row(after, i)));
    let unseen = TensorData::new(unseen.collect::<Vec<bool>>(), [batch, 1, time, steps]);
    let unseen = Tensor::<4, Bool>::from_data(unseen, &scores.device()).expand([batch, heads, time, steps]);
    let probabilities = softmax(scores.mask_fill(unseen, f64::NEG_INFINITY), 3);
    let mixed = rounded_result(rounded_product(probabilities, v, precision), precision);
    without_padding(mixed.swap_dims(1, 2).reshape([shape.rows(), shape.width()]), time, &shape.lengths)
}
