//! Attention on the CPU, one head of one game after the other.

use super::rows::{Columns, add_to_each, add_weighted};
use super::{Mask, Shape};
use crate::Precision;
use crate::ops::attention::rotation::Rotation;
use crate::ops::exp::exp;
use crate::ops::kernel::Kernel;
use crate::ops::{Dropout, LANES, dot, largest, sum};

/// The operation.
#[derive(Debug)]
pub struct AttentionKernel {
    pub shape: Shape,
    pub rotation: Rotation,
    pub dropout: Option<Dropout>,
    pub precision: Precision,
}

/// One head of one game: where its things lie.
struct HeadSequence {
    /// Real steps.
    steps: usize,
    /// First row of the game.
    row: usize,
    /// First channel of the head.
    channel: usize,
    /// Ordinal of (game, head).
    ordinal: usize,
}

impl AttentionKernel {
    fn parts(&self) -> impl Iterator<Item = HeadSequence> + '_ {
        let Shape { time, lengths, heads, head_width, .. } = &self.shape;
        lengths.iter().enumerate().flat_map(move |(game, &steps)| {
            (0..*heads).map(move |head| HeadSequence {
                steps,
                row: game * time,
                channel: head * head_width,
                ordinal: game * heads + head,
            })
        })
    }

    /// Copies queries (0), keys (1) or values (2) of a part into [steps, head width], turned by position if wanted, as
    /// operands of a product.
    fn gather(&self, qkv: &[f32], sequence: &HeadSequence, which: usize, into: &mut Vec<f32>) {
        let (width, d) = (self.shape.width(), self.shape.head_width);
        into.clear();
        into.resize(sequence.steps * d, 0.0);
        for (t, into) in into.chunks_exact_mut(d).enumerate() {
            let start = (sequence.row + t) * 3 * width + which * width + sequence.channel;
            let from = &qkv[start..start + d];
            if which == 2 {
                into.copy_from_slice(from);
            } else {
                self.rotation.rotate(t, from, into);
            }
        }
        self.precision.round(into);
    }

    /// Ordinal of the probabilities of step `i` among all of the batch, [game, head, time, time].
    fn ordinal(&self, sequence: &HeadSequence, i: usize) -> usize {
        (sequence.ordinal * self.shape.time + i) * self.shape.time
    }

    /// Number of steps that step `i` of `steps` sees.
    fn seen(&self, i: usize, steps: usize) -> usize {
        match self.shape.mask {
            Mask::Causal => i + 1,
            Mask::None => steps,
        }
    }

    /// Number of (step, seen step) pairs of the first `i` of `steps` steps.
    fn pairs(&self, i: usize, steps: usize) -> usize {
        match self.shape.mask {
            Mask::Causal => i * (i + 1) / 2,
            Mask::None => i * steps,
        }
    }
}

impl Kernel<1> for AttentionKernel {
    fn shape(&self) -> Vec<usize> {
        vec![self.shape.rows(), self.shape.width()]
    }

    fn forward(&self, [qkv]: [&[f32]; 1], save: bool) -> (Vec<f32>, Vec<Vec<f32>>) {
        let (width, d) = (self.shape.width(), self.shape.head_width);
        let mut out = vec![0.0; self.shape.rows() * width];
        let mut saved = Vec::new();
        let (mut q, mut k, mut v) = (Vec::new(), Vec::new(), Vec::new());
        let mut keys = Columns::default();
        let mut row = vec![0.0; self.shape.time.next_multiple_of(LANES)];
        for sequence in self.parts() {
            self.gather(qkv, &sequence, 0, &mut q);
            self.gather(qkv, &sequence, 1, &mut k);
            self.gather(qkv, &sequence, 2, &mut v);
            keys.set(&k, d);
            for i in 0..sequence.steps {
                let seen = self.seen(i, sequence.steps);
                probabilities(&q[i * d..(i + 1) * d], &keys, self.shape.scale(), seen, &mut row);
                let row = &mut row[..seen];
                if save {
                    saved.extend_from_slice(row);
                }
                if let Some(dropout) = self.dropout {
                    drop_out(row, dropout, self.ordinal(&sequence, i));
                }
                self.precision.round(row);
                let start = (sequence.row + i) * width + sequence.channel;
                let out = &mut out[start..start + d];
                weighted_sum(row, &v, out);
                self.precision.of_results().round(out);
            }
        }
        (out, if save { vec![saved] } else { Vec::new() })
    }

    fn backward(&self, [qkv]: [&[f32]; 1], saved: Vec<Vec<f32>>, gradient: &[f32]) -> [Vec<f32>; 1] {
        let (width, d) = (self.shape.width(), self.shape.head_width);
        let mut grad_qkv = vec![0.0; qkv.len()];
        let (mut q, mut k, mut v) = (Vec::new(), Vec::new(), Vec::new());
        let mut values = Columns::default();
        let (mut grads, mut weights) = (vec![0.0; self.shape.time.next_multiple_of(LANES)], vec![0.0; self.shape.time]);
        let mut factors = vec![1.0; self.shape.time];
        let mut pull = vec![0.0; d];
        let mut saved = saved[0].as_slice();
        for sequence in self.parts() {
            self.gather(qkv, &sequence, 0, &mut q);
            self.gather(qkv, &sequence, 1, &mut k);
            self.gather(qkv, &sequence, 2, &mut v);
            values.set(&v, d);
            let (probabilities, rest) = saved.split_at(self.pairs(sequence.steps, sequence.steps));
            saved = rest;
            let (mut grad_q, mut grad_k, mut grad_v) = (vec![0.0; q.len()], vec![0.0; k.len()], vec![0.0; v.len()]);
            for i in 0..sequence.steps {
                let seen = self.seen(i, sequence.steps);
                let p = &probabilities[self.pairs(i, sequence.steps)..][..seen];
                if let Some(dropout) = self.dropout {
                    factors[..seen].fill(1.0);
                    drop_out(&mut factors[..seen], dropout, self.ordinal(&sequence, i));
                }
                let start = (sequence.row + i) * width + sequence.channel;
                let at = i * d..(i + 1) * d;
                pull.copy_from_slice(&gradient[start..start + d]);
                self.precision.round(&mut pull);
                let of = Row {
                    p,
                    factors: &factors[..seen],
                    q: &q[at.clone()],
                    k: &k,
                    v: &values,
                    gradient: &pull,
                    precision: self.precision,
                };
                let into = Gradients { q: &mut grad_q[at], k: &mut grad_k, v: &mut grad_v };
                backward_row(of, self.shape.scale(), &mut grads, &mut weights[..seen], into);
            }
            for gradient in [&mut grad_q, &mut grad_k, &mut grad_v] {
                self.precision.of_results().round(gradient);
            }
            for t in 0..sequence.steps {
                let (at, start) = (t * d..(t + 1) * d, (sequence.row + t) * 3 * width + sequence.channel);
                let place = |which: usize| start + which * width..start + which * width + d;
                self.rotation.rotate_back(t, &grad_q[at.clone()], &mut grad_qkv[place(0)]);
                self.rotation.rotate_back(t, &grad_k[at.clone()], &mut grad_qkv[place(1)]);
                grad_qkv[place(2)].copy_from_slice(&grad_v[at]);
            }
        }
        [grad_qkv]
    }
}

/// softmax of scale * (q · k_j) for the first `seen` keys, as [seen] at the start of `row`.
#[macerator::with_simd]
fn probabilities<S: macerator::Simd>(q: &[f32], keys: &Columns, scale: f32, seen: usize, row: &mut [f32]) {
    keys.dots::<S>(q, seen, row);
    scaled_softmax(scale, &mut row[..seen]);
}

/// softmax of scale * x_j for all elements of `row`.
#[inline(always)]
pub fn scaled_softmax(scale: f32, row: &mut [f32]) {
    for p in row.iter_mut() {
        *p *= scale;
    }
    let largest = largest(row);
    for p in row.iter_mut() {
        *p = exp(*p - largest);
    }
    let inverse = 1.0 / sum(row);
    for p in row {
        *p *= inverse;
    }
}

/// Multiplies with the factors of dropout from element `first` on.
#[macerator::with_simd]
fn drop_out<S: macerator::Simd>(row: &mut [f32], dropout: Dropout, first: usize) {
    for (j, p) in row.iter_mut().enumerate() {
        *p *= dropout.factor(first + j);
    }
}

/// Σ_j p_j v_j
#[macerator::with_simd]
pub fn weighted_sum<S: macerator::Simd>(p: &[f32], v: &[f32], out: &mut [f32]) {
    add_weighted::<S>(p, v, out);
}

/// One query with all keys and values, and the gradient of its output.
struct Row<'a> {
    p: &'a [f32],
    factors: &'a [f32],
    q: &'a [f32],
    k: &'a [f32],
    v: &'a Columns,
    gradient: &'a [f32],
    precision: Precision,
}

/// The slices that receive the gradients of queries, keys and values.
struct Gradients<'a> {
    q: &'a mut [f32],
    k: &'a mut [f32],
    v: &'a mut [f32],
}

/// Adds the gradients of one query, its keys and values. `weights` is as long as `row.p`, and `grads` up to the next
/// multiple of [`LANES`]: both are scratch.
#[macerator::with_simd]
fn backward_row<'a, S: macerator::Simd>(
    row: Row<'a>,
    scale: f32,
    grads: &mut [f32],
    weights: &mut [f32],
    into: Gradients<'a>,
) {
    row.v.dots::<S>(row.gradient, row.p.len(), grads);
    let grads = &mut grads[..row.p.len()];
    for (((grad, weight), &factor), &p) in grads.iter_mut().zip(weights.iter_mut()).zip(row.factors).zip(row.p) {
        *grad *= factor;
        *weight = row.precision.rounded(p * factor);
    }
    add_to_each::<S>(weights, row.gradient, into.v);
    let mean = dot(row.p, grads);
    for (grad, &p) in grads.iter_mut().zip(row.p) {
        *grad = row.precision.rounded(p * (*grad - mean) * scale);
    }
    add_weighted::<S>(grads, row.k, into.q);
    add_to_each::<S>(grads, row.q, into.k);
}
