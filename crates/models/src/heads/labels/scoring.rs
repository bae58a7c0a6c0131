//! Games through a model, position by position.

mod decomposed;
#[cfg(feature = "gpu")]
mod gpu;

use super::{LABELS, LOGITS, MicroBatch, PositionScore};
use crate::ops::implementation::{Implementation, implementation};
use crate::{DeviceWeights, ForwardPass, Network};

/// Scores of all real positions of each game of `games`, in its order.
pub fn score(network: &Network, device_weights: &DeviceWeights<'_>, games: &MicroBatch) -> Vec<Vec<PositionScore>> {
    let logits = network.flat_logits(&ForwardPass::evaluation(device_weights), &games.tokens);
    let labels = &games.targets.labels;
    let scores = match implementation(&logits.device()) {
        Implementation::Cpu => {
            let logits = logits.into_data();
            let logits = logits.as_slice::<f32>().expect("logits are f32 and contiguous");
            return by_game(games, |row| {
                PositionScore::new(&logits[row * LOGITS..(row + 1) * LOGITS], &labels[row * LABELS..(row + 1) * LABELS])
            });
        }
        #[cfg(feature = "gpu")]
        Implementation::Gpu => gpu::scores(&logits, &games.targets),
        Implementation::Decomposed => decomposed::scores(&logits, labels),
    };
    by_game(games, |row| scores[row])
}

/// The scores of real positions alone.
fn by_game(games: &MicroBatch, of_row: impl Fn(usize) -> PositionScore) -> Vec<Vec<PositionScore>> {
    let time = games.tokens.time();
    let of_game = |(game, &length): (usize, &usize)| (game * time..game * time + length).map(&of_row).collect();
    games.tokens.lengths().iter().enumerate().map(of_game).collect()
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, Tensor, TensorData};

    use super::super::{SPANS, Targets};
    use super::*;
    use crate::parameters::InitRng;

    /// Compares with the CPU's what `scores` finds on `device`, losses within `tolerance`.
    fn check(device: &Device, tolerance: f64, scores: impl Fn(&Tensor<2>, &Targets) -> Vec<PositionScore>) {
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
        let tensor = Tensor::from_data(TensorData::new(logits.clone(), [rows, LOGITS]), device);
        let found = scores(&tensor, &Targets { labels: labels.clone().into(), valid: vec![true; rows].into() });
        assert_eq!(found.len(), rows);
        let (mut right, mut wrong) = (0, 0);
        for (row, found) in found.iter().enumerate() {
            let of = |width: usize| row * width..(row + 1) * width;
            let exact = PositionScore::new(&logits[of(LOGITS)], &labels[of(LABELS)]);
            assert_eq!(found.right, exact.right, "row {row}");
            let near = (found.loss_sum - exact.loss_sum).abs() <= tolerance * exact.loss_sum.abs();
            let both_nan = found.loss_sum.is_nan() && exact.loss_sum.is_nan();
            assert!(near || both_nan || found.loss_sum == exact.loss_sum, "row {row}: {found:?} for {exact:?}");
            right += exact.correct();
            wrong += LABELS as u32 - exact.correct();
        }
        assert!(right > 500 && wrong > 500, "{right} right, {wrong} wrong");
    }

    #[test]
    fn decomposed_scores_are_those_that_the_processor_computes() {
        check(&crate::device::cpu(), 1e-12, |logits, targets| decomposed::scores(logits, &targets.labels));
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn a_gpu_agrees_with_the_processor() {
        let Some(gpu) = crate::testing::gpu() else { return };
        check(&gpu, 1e-6, gpu::scores);
    }

    /// A model that is nearly always sure, and right: a sum of exponentials near one would have lost these losses.
    #[cfg(feature = "gpu")]
    #[test]
    fn losses_near_zero_keep_their_digits_on_a_gpu() {
        let Some(gpu) = crate::testing::gpu() else { return };
        let mut logits = vec![0.0; 3 * LOGITS];
        SPANS.iter().for_each(|&(start, _)| logits[start] = 20.0);
        SPANS.iter().for_each(|&(start, _)| logits[LOGITS + start] = 9.0);
        let valid = [true, true, false];
        let tensor = Tensor::from_data(TensorData::new(logits.clone(), [3, LOGITS]), &gpu);
        let found = gpu::scores(&tensor, &Targets { labels: vec![0; 3 * LABELS].into(), valid: valid.into() });
        for (found, logits) in found.iter().zip(logits.chunks_exact(LOGITS)).take(2) {
            let exact = PositionScore::new(logits, &[0; LABELS]);
            assert!(found.is_exact() && exact.loss_sum > 0.0);
            assert!((found.loss_sum / exact.loss_sum - 1.0).abs() < 1e-6, "{} for {}", found.loss_sum, exact.loss_sum);
        }
        assert_eq!(found[2], PositionScore { right: 0, loss_sum: 0.0 });
    }
}
