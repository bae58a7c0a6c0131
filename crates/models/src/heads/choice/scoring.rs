//! Sequences through a model, target by target.

use super::MicroBatch;
use crate::{DeviceWeights, ForwardPass, Network};

/// The score of the logits of a position against its target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// -ln of the probability of the target.
    pub loss: f64,
    /// True if the target is the likeliest; of equals the first counts. Never with a NaN among the logits.
    pub is_likeliest: bool,
}

impl Score {
    /// Scores the logits of a position against its target, in f64.
    pub fn new(logits: &[f32], target: usize) -> Self {
        let mut likeliest = 0;
        for (class, &logit) in logits.iter().enumerate() {
            if logit > logits[likeliest] {
                likeliest = class;
            }
        }
        let largest = f64::from(logits[likeliest]);
        let sum: f64 = logits.iter().map(|&logit| (f64::from(logit) - largest).exp()).sum();
        Score {
            loss: largest + sum.ln() - f64::from(logits[target]),
            is_likeliest: likeliest == target && !logits.iter().any(|logit| logit.is_nan()),
        }
    }
}

/// The scores of all targets of each sequence of `sequences`, in its order.
pub fn score(network: &Network, device_weights: &DeviceWeights<'_>, sequences: &MicroBatch) -> Vec<Vec<Score>> {
    let pass = ForwardPass::evaluation(device_weights);
    let logits = network.logits_at(&pass, &sequences.tokens, &sequences.rows);
    let [_, outputs] = logits.dims();
    let logits = logits.into_data();
    let logits = logits.as_slice::<f32>().expect("logits are f32 and contiguous");
    let rows = logits.chunks_exact(outputs).zip(sequences.targets.iter().flatten());
    sequences.by_sequence(rows.map(|(logits, target)| Score::new(logits, target)))
}

#[cfg(test)]
mod tests {
    use super::super::{NONE, Targets, cross_entropy};
    use super::*;
    use crate::testing::{assert_close, values};
    use crate::{Architecture, Tokens, device};

    #[test]
    fn the_first_of_equals_is_likeliest_and_nan_is_wrong() {
        let score = |logits: &[f32], target| Score::new(logits, target);
        assert!(score(&[1.0, 1.0, 0.0], 0).is_likeliest && !score(&[1.0, 1.0, 0.0], 1).is_likeliest);
        assert!((score(&[0.0; 4], 2).loss - 4f64.ln()).abs() < 1e-15);
        assert!(score(&[1e4, 0.0], 0).loss == 0.0 && score(&[1e4, 0.0], 1).loss == 1e4);
        let broken = score(&[3.0, f32::NAN], 0);
        assert!(broken.loss.is_nan() && !broken.is_likeliest);
    }

    /// Scores by sequence are those of the whole padded batch, computed row by row.
    #[test]
    fn scores_are_those_of_the_rows_with_a_target() {
        let architecture = Architecture {
            family: "gpt".to_owned(),
            size: "d16/l1".parse().unwrap(),
            vocabulary: 9,
            dropout: 0.0,
            options: Default::default(),
        };
        let network = Network::build(architecture, 7).unwrap();
        let weights = network.initial_weights(1);
        let device_weights = DeviceWeights::new(&weights, &device::cpu());
        let sequences: [(&[u16], &[u16]); 3] =
            [(&[1, 2, 3], &[NONE, 6, 0]), (&[4], &[5]), (&[8, 7, 6, 5], &[NONE, NONE, 2, NONE])];
        let micro_batch = MicroBatch::new(&sequences, &[2, 0], 8);
        let scores = score(&network, &device_weights, &micro_batch);
        assert_eq!(scores.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);

        let tokens = Tokens::padded([sequences[2].0, sequences[0].0], 8);
        let logits = network.flat_logits(&ForwardPass::evaluation(&device_weights), &tokens);
        let targets = Targets::new([NONE, NONE, 2, NONE, NONE, 6, 0, NONE]);
        let losses = values(&cross_entropy(logits, &targets));
        let found: Vec<f32> = scores.iter().flatten().map(|score| score.loss as f32).collect();
        assert_close(&found, &[losses[2], losses[5], losses[6]], 1e-6);
    }
}
