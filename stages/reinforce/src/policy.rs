//! The model as a policy: log-probabilities of words, and the loss over them.

use std::sync::Arc;

use burn::tensor::{Tensor, TensorData};
use cwm_models::heads::choice::{MicroBatch, cross_entropy};
use cwm_models::loss::Loss;
use cwm_models::parameters::Layout;
use cwm_models::{Architecture, DeviceWeights, ForwardPass, Network};
use cwm_policy_gradient::{Surrogate, TokenTerms};
use cwm_training::Objective;

use crate::micro_batch::AnswerBatch;
use crate::outcome::Outcome;

/// A network that is trained as a policy.
#[derive(Debug)]
pub struct Policy {
    /// The model.
    pub network: Network,
    /// The constants of the loss.
    pub surrogate: Surrogate,
}

/// Measures of the words of a batch under a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyMeasures {
    /// Log-probability of each word.
    pub log_probabilities: Vec<f32>,
    /// The sum of the entropies of the distributions that the words are of, in nats.
    pub entropy: f64,
}

impl Policy {
    /// Logits [words, outputs] of the distributions that the words of `answers` are of, and the log-probabilities [words] of these.
    /// Before and after an update they come from here, so that equal weights give equal bits.
    fn log_probabilities(&self, pass: &ForwardPass, answers: &MicroBatch) -> (Tensor<2>, Tensor<1>) {
        let logits = self.network.logits_at(pass, &answers.tokens, &answers.rows);
        (logits.clone(), -cross_entropy(logits, &answers.targets))
    }

    /// The words of a batch under these weights. The pass computes as that of training does: those of evaluation round otherwise in
    /// some families.
    pub fn measure(&self, weights: &DeviceWeights<'_>, batch: &AnswerBatch) -> PolicyMeasures {
        let (logits, of_words) = self.log_probabilities(&ForwardPass::untracked(weights), &batch.answers);
        let [_, outputs] = logits.dims();
        let (logits, of_words) = (logits.into_data(), of_words.into_data());
        let floats = |data: &TensorData| data.as_slice::<f32>().expect("tensors are f32 and contiguous").to_vec();
        PolicyMeasures {
            log_probabilities: floats(&of_words),
            entropy: floats(&logits).chunks_exact(outputs).map(entropy).sum(),
        }
    }
}

/// The entropy of the distribution of these logits, in nats.
fn entropy(logits: &[f32]) -> f64 {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let (mut sum, mut product) = (0.0, 0.0);
    for &logit in logits {
        let difference = f64::from(logit - largest);
        let weight = difference.exp();
        sum += weight;
        product += weight * difference;
    }
    sum.ln() - product / sum
}

impl Objective for Policy {
    type MicroBatch = AnswerBatch;
    type Metrics = Outcome;
    type Identity = Architecture;

    fn identity(&self) -> &Architecture {
        self.network.architecture()
    }

    fn layout(&self) -> &Arc<Layout> {
        self.network.layout()
    }

    fn positions(&self, batch: &AnswerBatch) -> usize {
        batch.answers.rows.len()
    }

    /// The weights of the words already divide by the number of answers or of words.
    fn denominator(&self, _positions: usize) -> f64 {
        1.0
    }

    fn loss(&self, pass: &ForwardPass, batch: &AnswerBatch, _positions: usize) -> Loss {
        let tensor =
            |values: &[f32]| Tensor::<1>::from_data(TensorData::new(values.to_vec(), [values.len()]), pass.device());
        let terms = TokenTerms {
            old: tensor(&batch.old),
            advantages: tensor(&batch.advantages),
            weights: tensor(&batch.weights),
            reference: batch.start.as_deref().map(tensor),
        };
        let (_, new) = self.log_probabilities(pass, &batch.answers);
        Loss::new(self.surrogate.losses(new, &terms), 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entropy_of_equal_logits_is_the_logarithm_of_their_number_and_of_one_word_is_nothing() {
        assert!((entropy(&[3.0; 8]) - 8f64.ln()).abs() < 1e-12);
        assert!(entropy(&[0.0, 1e4, 0.0]).abs() < 1e-12);
        assert!(entropy(&[f32::NAN, 0.0]).is_nan());
    }
}
