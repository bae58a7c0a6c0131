//! The loss of tokens.

use burn::tensor::Tensor;

/// The constants of the loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surrogate {
    /// A ratio below 1 by more than this has no gradient where the advantage is negative.
    pub clip_low: f64,
    /// A ratio above 1 by more than this has no gradient where the advantage is positive.
    pub clip_high: f64,
    /// Coefficient of the divergence from the reference policy; 0 for none.
    pub kl: f64,
}

/// The terms of the loss beside the log-probabilities of the policy; each [tokens], without gradients.
#[derive(Clone, Debug)]
pub struct TokenTerms {
    /// Log-probabilities of the policy that sampled the tokens.
    pub old: Tensor<1>,
    /// The advantage of each token's answer ([`Objective::advantages`](crate::Objective::advantages)).
    pub advantages: Tensor<1>,
    /// The weight of each token ([`Objective::token_weights`](crate::Objective::token_weights)).
    pub weights: Tensor<1>,
    /// Log-probabilities of the reference policy, where `kl` is not 0.
    pub reference: Option<Tensor<1>>,
}

impl Surrogate {
    /// The loss of each token [tokens], whose sum is the loss of the batch; `new` are the policy's log-probabilities [tokens].
    ///
    /// With the ratio ρ = exp(new - old) and the advantage A: -weight · min(ρ A, clip(ρ) A). With `kl`, weight · kl ·
    /// (exp(d) - d - 1) is added, d = reference - new: an estimate of the divergence KL(policy ‖ reference) that is never negative
    /// (Schulman 2020), as GRPO has it.
    pub fn losses(&self, new: Tensor<1>, terms: &TokenTerms) -> Tensor<1> {
        let TokenTerms { old, advantages, weights, reference } = terms;
        let ratio = (new.clone() - old.clone()).exp();
        let clipped = ratio.clone().clamp(1.0 - self.clip_low, 1.0 + self.clip_high);
        let gain = (ratio * advantages.clone()).min_pair(clipped * advantages.clone());
        let loss = match reference {
            Some(reference) if self.kl != 0.0 => {
                let difference = reference.clone() - new;
                (difference.clone().exp() - difference - 1.0) * self.kl - gain
            }
            _ => -gain,
        };
        loss * weights.clone()
    }
}
