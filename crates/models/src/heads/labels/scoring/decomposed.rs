//! Scores computed where the logits are: 75 bits and a number a position leave the device, not 1,878 logits.

use burn::tensor::{Bool, FloatDType, Int, Tensor, TensorData};

use super::super::{GROUPS, LABELS, LabelGroup, PositionScore};

/// As [`PositionScore::new`] for each row of `logits` [rows, 1878] and of `labels` [rows, 75].
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

    // The first of the largest, written out: which of equals a device's own arg-max takes is not said.
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

#[cfg(test)]
mod tests {
    use super::super::super::{LOGITS, SPANS};
    use super::*;
    use crate::parameters::InitRng;

    #[test]
    fn scores_are_those_that_the_processor_computes() {
        let mut draw = InitRng::seeded(3);
        let rows = 40;
        // Few values, so that many classes tie.
        let mut logits: Vec<f32> = (0..rows * LOGITS).map(|_| (draw.normal() * 2.0).round() as f32).collect();
        let mut labels: Vec<u8> = (0..rows * LABELS).map(|i| ((i * 31) % SPANS[i % LABELS].1) as u8).collect();
        for (row, of_row) in logits.chunks_exact_mut(LOGITS).enumerate() {
            // From row 20 on the largest logit is often that of the label.
            for (&(start, _), &label) in SPANS.iter().zip(&labels[row * LABELS..]).skip(row % 7).filter(|_| row >= 20) {
                of_row[start + usize::from(label)] += 7.0;
            }
            match row {
                3 => of_row[5] = f32::NAN,
                23 => of_row[SPANS[64].0] = f32::NAN,
                24 => of_row.iter_mut().for_each(|logit| *logit = f32::NAN),
                25 => of_row[SPANS[70].0 + 1] = f32::INFINITY,
                26 => of_row[SPANS[71].0 + 9] = f32::NEG_INFINITY,
                27 => of_row.iter_mut().for_each(|logit| *logit *= 1e30),
                28 => of_row.iter_mut().for_each(|logit| *logit = 0.0),
                29 => labels[29 * LABELS..30 * LABELS].fill(0),
                _ => {}
            }
        }
        let tensor = Tensor::from_data(TensorData::new(logits.clone(), [rows, LOGITS]), &crate::device::cpu());
        let found = scores(&tensor, &labels);
        assert_eq!(found.len(), rows);
        let (mut right, mut wrong) = (0, 0);
        for (row, found) in found.iter().enumerate() {
            let of = |width: usize| row * width..(row + 1) * width;
            let exact = PositionScore::new(&logits[of(LOGITS)], &labels[of(LABELS)]);
            assert_eq!(found.right, exact.right, "row {row}");
            let near = (found.loss_sum - exact.loss_sum).abs() <= 1e-12 * exact.loss_sum.abs();
            let both_nan = found.loss_sum.is_nan() && exact.loss_sum.is_nan();
            assert!(near || both_nan || found.loss_sum == exact.loss_sum, "row {row}: {found:?} for {exact:?}");
            right += exact.correct();
            wrong += LABELS as u32 - exact.correct();
        }
        assert!(right > 500 && wrong > 500, "{right} right, {wrong} wrong");
    }
}
