//! Scores computed where the logits are: 75 bits and a number a position leave the device, not 1,878 logits.

use burn::tensor::{Bool, FloatDType, Int, Tensor, TensorData};

use super::super::{GROUPS, LABELS, LabelGroup, PositionScore};

/// Returns [`PositionScore::new`] for each row of `logits` [rows, 1878] and of `labels` [rows, 75].
pub fn scores(logits: &Tensor<2>, labels: &[u8]) -> Vec<PositionScore> {
    let (right, losses): (Vec<_>, Vec<_>) = GROUPS.iter().map(|group| group_scores(logits, labels, group)).unzip();
    let right = Tensor::cat(right, 1).into_data();
    let losses = losses.into_iter().reduce(|sum, losses| sum + losses).expect("there are groups").into_data();
    let losses = losses.as_slice::<f64>().expect("losses are f64 and contiguous");
    let bits: Vec<bool> = right.iter::<bool>().collect();
    let score = |(right, &loss_sum): (&[bool], &f64)| PositionScore {
        right: right.iter().rev().fold(0, |bits, &right| bits << 1 | u128::from(right)),
        loss_sum,
    };
    bits.chunks_exact(LABELS).zip(losses).map(score).collect()
}

/// Returns the right labels of a group, [rows, labels], and the sum of their cross-entropies in f64, [rows, 1].
fn group_scores(logits: &Tensor<2>, labels: &[u8], group: &LabelGroup) -> (Tensor<2, Bool>, Tensor<2>) {
    let ([rows, _], device) = (logits.dims(), logits.device());
    let shape = [rows * group.labels, group.classes];
    let end = group.first_logit + group.labels * group.classes;
    let x = logits.clone().slice([0..rows, group.first_logit..end]).reshape(shape);
    let of_row = |row: &[u8]| row[group.first..group.first + group.labels].to_vec();
    let labels: Vec<i32> = labels.chunks_exact(LABELS).flat_map(of_row).map(i32::from).collect();
    let labels = Tensor::<2, Int>::from_data(TensorData::new(labels, [shape[0], 1]), &device);
    let classes: Vec<i32> = (0..group.classes as i32).collect();
    let classes = Tensor::<2, Int>::from_data(TensorData::new(classes, [1, group.classes]), &device).expand(shape);

    // The first of the largest, written out: which of equals a device's own arg-max takes is not defined.
    let smaller = x.clone().lower(x.clone().max_dim(1).expand(shape));
    let first = classes.clone().mask_fill(smaller, group.classes as i32).min_dim(1);
    let has_nan = x.clone().is_nan().int().max_dim(1).equal_elem(1);
    let right = first.equal(labels.clone()).bool_and(has_nan.bool_not()).reshape([rows, group.labels]);

    let x = x.cast(FloatDType::F64);
    let others = classes.not_equal(labels.expand(shape));
    let differences = x.clone() - x.max_dim(1);
    let of_label = differences.clone().mask_fill(others, 0.0).sum_dim(1);
    let losses = differences.exp().sum_dim(1).log() - of_label;
    (right, losses.reshape([rows, group.labels]).sum_dim(1))
}
