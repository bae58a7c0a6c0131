//! The recurrence decomposed into Burn's operations: batches of products, without a loop over steps or chunks.
//!
//! Inside a chunk steps are weighed against each other as in the kernel. Between chunks the state before each is a sum
//! over what all earlier ones wrote, decayed: a masked product too.

use burn::tensor::Tensor;

use crate::ops::decay::DecaySums;
use crate::ops::padding::pairs;
use crate::ops::product::product;

/// Rows (steps times ranks) of a chunk of decomposed operations.
const CHUNK_ROWS: usize = 64;

/// All heads of all games.
pub(crate) struct Sequences {
    /// Queries, [games, groups, steps * ranks, state]: one for all heads, or one for each.
    pub q: Tensor<4>,
    /// Keys, of the same shape.
    pub k: Tensor<4>,
    /// Values, [games, heads, steps * ranks, width].
    pub v: Tensor<4>,
    /// Log decays, at most 0, [games, heads, steps].
    pub decay: Tensor<3>,
    /// Weight of each step's write for itself, [games, heads, steps]; as `later` if there is none.
    pub own: Option<Tensor<3>>,
    /// Weight of each step's write for later steps, [games, heads, steps].
    pub later: Tensor<3>,
    /// Share of the values that goes straight to the output, [heads].
    pub skip: Tensor<1>,
}

impl Sequences {
    /// Outputs [games, heads, steps * ranks, width].
    pub fn outputs(self, ranks: usize) -> Tensor<4> {
        self.outputs_in(ranks, (CHUNK_ROWS / ranks).max(1))
    }

    /// Computes `outputs` in chunks of this many steps.
    pub(super) fn outputs_in(self, ranks: usize, chunk: usize) -> Tensor<4> {
        let ([games, heads, rows, width], [_, groups, ..]) = (self.v.dims(), self.q.dims());
        let chunk = chunk.min(rows / ranks);
        let chunks = (rows / ranks).div_ceil(chunk);
        // Steps added at the end write nothing and come after all others.
        let by_chunk = |x: Tensor<4>| {
            let [games, heads, _, width] = x.dims();
            with_zeros(x, chunks * chunk * ranks).reshape([games, heads, chunks, chunk * ranks, width])
        };
        let rates = |x: Tensor<3>| with_zeros(x, chunks * chunk).reshape([games, heads, chunks, chunk]);
        let (q, k, v) = (by_chunk(self.q), by_chunk(self.k), by_chunk(self.v));
        let sums = DecaySums::new(rates(self.decay));
        let later = rates(self.later);

        let weights = weights(&sums, self.own.map(rates), later.clone(), ranks);
        let scores = product(q.clone(), k.clone().swap_dims(3, 4));
        let mut y = product(scores * weights, v.clone()) + v.clone() * self.skip.reshape([1, heads, 1, 1, 1]);
        if chunks > 1 {
            let by_row = |x: Tensor<4>| {
                let x = x.reshape([games * heads, chunks, chunk, 1]).expand([games * heads, chunks, chunk, ranks]);
                x.reshape([games, heads, chunks, chunk * ranks, 1])
            };
            let weighed = v * by_row(sums.until_end() * later);
            let written = apart(product(k.swap_dims(3, 4), together(weighed, groups)), heads);
            let read = product(q, together(carried(written, &sums), groups));
            y = y + apart(read, heads) * by_row(sums.since_start());
        }
        let y = y.reshape([games, heads, chunks * chunk * ranks, width]);
        y.slice([0..games, 0..heads, 0..rows])
    }
}

/// Returns the weight of each row of a chunk for each later one, [games, heads, chunks, rows, rows].
fn weights(sums: &DecaySums<4>, own: Option<Tensor<4>>, later: Tensor<4>, ranks: usize) -> Tensor<5> {
    let [games, heads, chunks, steps] = later.dims();
    let shape = [games, heads, chunks, steps, steps];
    let by_column = |x: Tensor<4>| x.unsqueeze_dim::<5>(3).expand(shape);
    let mut factors = by_column(later);
    if let Some(own) = own {
        let diagonal = pairs(steps, |i, j| i == j, &own.device()).unsqueeze::<5>().expand(shape);
        factors = factors.mask_where(diagonal, by_column(own));
    }
    let weights = sums.between::<5>() * factors;
    if ranks == 1 {
        return weights;
    }
    let all = games * heads * chunks;
    let weights = weights.reshape([all, steps, 1, steps, 1]).expand([all, steps, ranks, steps, ranks]);
    weights.reshape([games, heads, chunks, steps * ranks, steps * ranks])
}

/// States before each chunk from what each wrote, both [games, heads, chunks, state, width].
fn carried(written: Tensor<5>, sums: &DecaySums<4>) -> Tensor<5> {
    let shape = written.dims();
    let [games, heads, chunks, state, width] = shape;
    let decays = sums.of_ends::<3>().before::<4>();
    product(decays, written.reshape([games, heads, chunks, state * width])).reshape(shape)
}

/// The heads of a group side by side: [games, heads, chunks, rows, width] to [games, groups, chunks, rows, columns]. What
/// they share is then one matrix, not one for each.
fn together(x: Tensor<5>, groups: usize) -> Tensor<5> {
    let [games, heads, chunks, rows, width] = x.dims();
    if groups == heads {
        return x;
    }
    let x = x.reshape([games, groups, heads / groups, chunks, rows, width]).permute([0, 1, 3, 4, 2, 5]);
    x.reshape([games, groups, chunks, rows, heads / groups * width])
}

/// The way back.
fn apart(x: Tensor<5>, heads: usize) -> Tensor<5> {
    let [games, groups, chunks, rows, columns] = x.dims();
    if groups == heads {
        return x;
    }
    let (of_group, width) = (heads / groups, columns * groups / heads);
    let x = x.reshape([games, groups, chunks, rows, of_group, width]).permute([0, 1, 4, 2, 3, 5]);
    x.reshape([games, heads, chunks, rows, width])
}

/// `x` with zeros at the end of its third axis.
fn with_zeros<const D: usize>(x: Tensor<D>, size: usize) -> Tensor<D> {
    let mut shape = x.dims();
    if shape[2] == size {
        return x;
    }
    shape[2] = size - shape[2];
    let zeros = Tensor::zeros(shape, &x.device());
    Tensor::cat(vec![x, zeros], 2)
}
