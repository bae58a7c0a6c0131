//! The rule decomposed into Burn's operations: all chunks at once but for the state, which goes from one to the next.

use burn::tensor::Tensor;

use super::inverse::{BLOCK, inverse};
use super::{Shape, steps};
use crate::ops::decay::DecaySums;
use crate::ops::padding::{fill_pairs, pairs, without_padding};
use crate::ops::product::product;

/// Steps of a chunk of decomposed operations.
pub const CHUNK: usize = 64;

/// Computes [`super::delta_rule`] in chunks of at most `chunk` steps, a multiple of [`BLOCK`].
///
/// With the names of this module's parent: U₀ = (I + L)⁻¹ β V and W = (I + L)⁻¹ β e^G K do not depend on the state, so
/// that U = U₀ - W S alone is left to do chunk after chunk.
pub fn decompose([q, k, v, gates]: [Tensor<2>; 4], shape: &Shape, chunk: usize) -> Tensor<2> {
    let Shape { time, heads, key, value, .. } = *shape;
    let (rows, batch) = (shape.rows(), shape.lengths.len());
    let chunk = chunk.min(time.next_multiple_of(BLOCK));
    let chunks = time.div_ceil(chunk);
    let parts = batch * heads;
    // [rows, heads * width] to [chunks, batch * heads, steps, width]. Steps added at the end hold zeros: they correct
    // nothing and answer nothing.
    let by_chunk = |x: Tensor<2>, width: usize| {
        let mut x = x.reshape([batch, time, heads * width]);
        if chunks * chunk > time {
            let zeros = Tensor::zeros([batch, chunks * chunk - time, heads * width], &x.device());
            x = Tensor::cat(vec![x, zeros], 1);
        }
        let x = x.reshape([batch, chunks, chunk, heads, width]).permute([1, 0, 3, 2, 4]);
        x.reshape([chunks, parts, chunk, width])
    };
    let unit = |x: Tensor<4>| x.clone() / (x.square().sum_dim(3) + steps::EPSILON).sqrt();
    let (q, k, v) = (unit(by_chunk(q, key)) / (key as f32).sqrt(), unit(by_chunk(k, key)), by_chunk(v, value));
    let strengths = by_chunk(gates.clone().slice([0..rows, heads..2 * heads]), 1);
    let decays = by_chunk(gates.slice([0..rows, 0..heads]), 1);
    let sums = DecaySums::new(decays.reshape([chunks, parts, chunk]));
    let between = sums.between::<4>();

    let upper = pairs(chunk, |i, j| j >= i, &v.device());
    let transposed = k.clone().swap_dims(2, 3);
    let lower = product(k.clone(), transposed.clone()) * between.clone() * strengths.clone();
    let inverse = inverse(fill_pairs(lower, upper, 0.0));
    let weights = product(q.clone(), transposed) * between;
    let free = product(inverse.clone(), v * strengths.clone());
    let answers = if chunks == 1 {
        product(weights, free)
    } else {
        let since = sums.since_start().unsqueeze_dim::<4>(3);
        let held = product(inverse, k.clone() * (strengths * since.clone()));
        let written = (k * sums.until_end().unsqueeze_dim::<4>(3)).swap_dims(2, 3);
        let (states, corrections) = carry(free, held, written, sums.whole().unsqueeze_dim::<4>(3));
        product(weights, corrections) + product(q * since, states)
    };
    let answers = answers.reshape([chunks, batch, heads, chunk, value]).permute([1, 0, 3, 2, 4]);
    let answers = answers.reshape([batch, chunks * chunk, heads * value]).slice([0..batch, 0..time]);
    without_padding(answers.reshape([rows, heads * value]), time, &shape.lengths)
}

/// The state before each chunk, and the corrections in it, [chunks, parts, ...].
fn carry(free: Tensor<4>, held: Tensor<4>, written: Tensor<4>, whole: Tensor<4>) -> (Tensor<4>, Tensor<4>) {
    let ([chunks, parts, _, value], [_, _, key, _]) = (free.dims(), written.dims());
    let of = |x: &Tensor<4>, chunk: usize| x.clone().slice([chunk..chunk + 1]);
    let mut states = vec![Tensor::zeros([1, parts, key, value], &free.device())];
    let mut corrections = vec![of(&free, 0)];
    for chunk in 1..chunks {
        let kept = states[chunk - 1].clone() * of(&whole, chunk - 1);
        let state = kept + product(of(&written, chunk - 1), corrections[chunk - 1].clone());
        corrections.push(of(&free, chunk) - product(of(&held, chunk), state.clone()));
        states.push(state);
    }
    (Tensor::cat(states, 0), Tensor::cat(corrections, 0))
}
