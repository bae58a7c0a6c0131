//! Both forms decomposed into Burn's operations.
//!
//! The chunked form combines maps in the order of the kernel's, which is that of the authors', so that a product
//! overflows at the same steps on any device.

use burn::tensor::Tensor;

use super::{CHUNK, ScanAlgorithm, Shape};
use crate::ops::padding::without_padding;
use crate::ops::product::product;

/// Computes [`super::scan`] by Burn's operations.
pub fn decompose(
    init: Tensor<1>,
    transitions: Tensor<2>,
    inputs: Tensor<2>,
    shape: &Shape,
    algorithm: ScanAlgorithm,
) -> Tensor<2> {
    let Shape { time, width, block, .. } = *shape;
    let (batch, blocks, lengths) = (shape.lengths.len(), width / block, &shape.lengths);
    // At padded steps the state stays what it was: stepping on, it could overflow, and its gradient with it.
    let linear = without_padding(transitions, time, lengths).reshape([batch, time, blocks, block, block]);
    let linear = linear + Tensor::<2>::eye(block, &init.device()).unsqueeze::<5>();
    let shift = without_padding(inputs, time, lengths).reshape([batch, time, blocks, block, 1]);
    let mut start = init.reshape([1, 1, blocks, block, 1]).expand([batch, 1, blocks, block, 1]);
    let steps = match algorithm {
        ScanAlgorithm::Chunked => CHUNK,
        ScanAlgorithm::Sequential => 1,
    };
    let mut states = Vec::new();
    for first in (0..time).step_by(steps) {
        let of = |x: &Tensor<5>| x.clone().slice_dim(1, first..(first + steps).min(time));
        let maps = Maps { linear: of(&linear), shift: of(&shift) }.prefixes();
        let of_chunk = applied(&maps.linear, start.clone()) + maps.shift;
        let count = of_chunk.dims()[1];
        start = of_chunk.clone().slice_dim(1, count - 1..count);
        states.push(of_chunk);
    }
    without_padding(Tensor::cat(states, 1).reshape([batch * time, width]), time, lengths)
}

/// Affine maps of the blocks at some steps: M [batch, steps, blocks, block, block] and c [batch, steps, blocks, block, 1].
#[derive(Clone)]
struct Maps {
    linear: Tensor<5>,
    shift: Tensor<5>,
}

impl Maps {
    /// Each step's map after those of all steps before it. Neighbours are combined, then neighbours of those, and gaps are
    /// filled on the way back (PyTorch's generic `associative_scan`).
    fn prefixes(self) -> Maps {
        let steps = self.linear.dims()[1];
        if steps < 2 {
            return self;
        }
        let odd = self.every_other(1).after(&self.every_other(0).first(steps / 2)).prefixes();
        let mut even = self.every_other(0);
        let count = steps.div_ceil(2);
        if count > 1 {
            let filled = even.from(1).after(&odd.first(count - 1));
            even = even.first(1).and(filled);
        }
        even.interleaved(odd)
    }

    /// First `earlier`, then these: (M, c) after (M', c') is (M M', M c' + c).
    fn after(&self, earlier: &Maps) -> Maps {
        Maps {
            linear: applied(&self.linear, earlier.linear.clone()),
            shift: applied(&self.linear, earlier.shift.clone()) + self.shift.clone(),
        }
    }

    fn map(&self, change: impl Fn(Tensor<5>) -> Tensor<5>) -> Maps {
        Maps { linear: change(self.linear.clone()), shift: change(self.shift.clone()) }
    }

    /// The steps 0, 2, .. or 1, 3, ..
    fn every_other(&self, from: usize) -> Maps {
        self.map(|x| {
            let [batch, steps, blocks, rows, columns] = x.dims();
            let pairs = steps / 2;
            let of_pairs = x.clone().slice_dim(1, 0..2 * pairs).reshape([batch, pairs, 2, blocks, rows * columns]);
            let chosen = of_pairs.slice_dim(2, from..from + 1).reshape([batch, pairs, blocks, rows, columns]);
            if from == 0 && steps % 2 == 1 {
                return Tensor::cat(vec![chosen, x.slice_dim(1, steps - 1..steps)], 1);
            }
            chosen
        })
    }

    fn first(&self, count: usize) -> Maps {
        self.map(|x| x.slice_dim(1, 0..count))
    }

    fn from(&self, first: usize) -> Maps {
        self.map(|x| {
            let steps = x.dims()[1];
            x.slice_dim(1, first..steps)
        })
    }

    /// Returns these maps, then the others.
    fn and(self, others: Maps) -> Maps {
        Maps {
            linear: Tensor::cat(vec![self.linear, others.linear], 1),
            shift: Tensor::cat(vec![self.shift, others.shift], 1),
        }
    }

    /// Returns these maps at steps 0, 2, .. and the others at steps 1, 3, ..
    fn interleaved(self, others: Maps) -> Maps {
        let both = |even: Tensor<5>, odd: Tensor<5>| {
            let [batch, pairs, blocks, rows, columns] = odd.dims();
            let of_pairs = |x: Tensor<5>| x.reshape([batch, pairs, 1, blocks, rows * columns]);
            let count = even.dims()[1];
            let first = even.clone().slice_dim(1, 0..pairs);
            let mixed = Tensor::cat(vec![of_pairs(first), of_pairs(odd)], 2);
            let mixed = mixed.reshape([batch, 2 * pairs, blocks, rows, columns]);
            if count == pairs { mixed } else { Tensor::cat(vec![mixed, even.slice_dim(1, pairs..count)], 1) }
        };
        Maps { linear: both(self.linear, others.linear), shift: both(self.shift, others.shift) }
    }
}

/// M x, block by block; blocks of one channel need no product of matrices.
fn applied(linear: &Tensor<5>, x: Tensor<5>) -> Tensor<5> {
    if linear.dims()[4] == 1 { linear.clone() * x } else { product(linear.clone(), x) }
}
