//! Tests of the objectives: golden values, slopes, and a policy that learns.

mod bandit;
mod golden;
mod gradients;

use burn::tensor::{DType, Device, Tensor, TensorData};

use crate::{Objective, Surrogate, TokenTerms};

pub(crate) const SURROGATE: Surrogate = Surrogate { clip_low: 0.2, clip_high: 0.28, kl: 0.0 };

/// A batch of answers: the group and the length of each, log-probabilities token by token.
#[derive(Debug)]
pub(crate) struct Batch {
    pub rewards: Vec<Vec<f64>>,
    pub lengths: Vec<usize>,
    pub longest: usize,
    pub old: Vec<f64>,
    pub reference: Option<Vec<f64>>,
}

/// A tensor of one axis.
pub(crate) fn tensor(values: &[f64], dtype: DType) -> Tensor<1> {
    let device = Device::flex();
    Tensor::from_data(TensorData::new(values.to_vec(), [values.len()]), (&device, dtype))
}

/// Values in f64.
pub(crate) fn values(tensor: &Tensor<1>) -> Vec<f64> {
    tensor.clone().into_data().convert::<f64>().try_to_vec().unwrap()
}

impl Batch {
    /// The terms of the loss, in this type.
    pub(crate) fn terms(&self, objective: Objective, dtype: DType) -> TokenTerms {
        let by_answer: Vec<f64> = self.rewards.iter().flat_map(|group| objective.advantages(group)).collect();
        let weights = objective.token_weights(&self.lengths, self.longest);
        let by_token = |by_answer: &[f64]| {
            let repeated = by_answer.iter().zip(&self.lengths).flat_map(|(&value, &length)| vec![value; length]);
            tensor(&repeated.collect::<Vec<f64>>(), dtype)
        };
        TokenTerms {
            old: tensor(&self.old, dtype),
            advantages: by_token(&by_answer),
            weights: by_token(&weights),
            reference: self.reference.as_ref().map(|start| tensor(start, dtype)),
        }
    }
}
