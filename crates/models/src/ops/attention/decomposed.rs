//! Attention decomposed into Burn's operations, all heads of all games at once.

use burn::tensor::activation::softmax;
use burn::tensor::{Bool, Tensor, TensorData};

use super::{Mask, Shape};
use crate::Precision;
use crate::counter_rng::indices;
use crate::ops::Dropout;
use crate::ops::aligned::VECTOR;
use crate::ops::attention::rotation::Rotation;
use crate::ops::dropout::dropout_at;
use crate::ops::padding::{fill_pairs, pairs, without_padding};
use crate::ops::product::{rounded_product, rounded_result};

/// Computes [`super::attention`] by Burn's operations.
pub fn decompose(
    qkv: Tensor<2>,
    shape: &Shape,
    rotation: &Rotation,
    dropout: Option<Dropout>,
    precision: Precision,
) -> Tensor<2> {
    let Shape { time, heads, head_width, .. } = *shape;
    let batch = shape.lengths.len();
    let parts = batch * heads;
    // Squares of scores have aligned rows. None sees the steps added.
    let steps = time.next_multiple_of(VECTOR);
    // A probability of zero does not remove NaN.
    let qkv = without_padding(qkv, time, &shape.lengths);
    let mut qkv = qkv.reshape([batch, time, 3 * heads * head_width]);
    if steps > time {
        let zeros = Tensor::zeros([batch, steps - time, 3 * heads * head_width], &qkv.device());
        qkv = Tensor::cat(vec![qkv, zeros], 1);
    }
    let qkv = qkv.reshape([batch, steps, 3, heads, head_width]).permute([2, 0, 3, 1, 4]);
    let qkv = qkv.reshape([3 * parts, steps, head_width]);
    let turned = rotation.rotate_all(qkv.clone().slice([0..2 * parts]));
    let (q, k) = (turned.clone().slice([0..parts]), turned.slice([parts..2 * parts]));
    let v = qkv.slice([2 * parts..3 * parts]);

    let scores = rounded_product(q, k.swap_dims(1, 2), precision) / (head_width as f32).sqrt();
    let mut probabilities = softmax(unseen(scores, shape), 2);
    if let Some(dropout) = dropout {
        let places = |count: usize, axis: usize| {
            let mut shape = [1; 3];
            shape[axis] = count;
            indices(count, &probabilities.device()).reshape(shape)
        };
        let ordinals = (places(parts, 0) * time as i64 + places(steps, 1)) * time as i64 + places(steps, 2);
        probabilities = dropout_at(probabilities, dropout, ordinals);
    }
    let mixed = rounded_result(rounded_product(probabilities, v, precision), precision);
    let mixed = mixed.reshape([batch, heads, steps, head_width]).slice([0..batch, 0..heads, 0..time]).swap_dims(1, 2);
    without_padding(mixed.reshape([shape.rows(), shape.width()]), time, &shape.lengths)
}

/// `scores` [games * heads, steps, steps], -∞ where the row does not see the column.
fn unseen(scores: Tensor<3>, shape: &Shape) -> Tensor<3> {
    let [parts, steps, _] = scores.dims();
    if shape.mask == Mask::Causal {
        let later = pairs(steps, |i, j| j > i, &scores.device());
        return fill_pairs(scores, later, f64::NEG_INFINITY);
    }
    // A game without steps sees its first row of padding: a softmax of nothing would be NaN.
    let of_head = |&length: &usize| (0..steps).map(move |j| j >= length.max(1));
    let padded = shape.lengths.iter().flat_map(|length| (0..shape.heads).flat_map(move |_| of_head(length)));
    let padded = TensorData::new(padded.collect::<Vec<bool>>(), [parts, 1, steps]);
    let padded = Tensor::<3, Bool>::from_data(padded, &scores.device());
    scores.mask_fill(padded.expand([parts, steps, steps]), f64::NEG_INFINITY)
}
