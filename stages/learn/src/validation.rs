//! Measuring on sequences that are not learnt from.

use cwm_contract::{Context, Failure};
use cwm_models::heads::choice::score;
use cwm_models::parameters::Weights;
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{DeviceWeights, Network};
use cwm_training::{Validation, ValidationSet};

use crate::data::Rows;
use crate::metrics::{AnswerUnit, ChoiceMetrics};

/// Sequences measured on.
pub struct ChoiceValidation<'a> {
    network: &'a Network,
    workers: &'a WorkerPool,
    answer: AnswerUnit,
    rows: ValidationSet<Rows>,
}

impl<'a> ChoiceValidation<'a> {
    /// The first `limit` of `rows`.
    ///
    /// # Errors
    /// One of them cannot be read, or the model cannot.
    pub fn new(rows: Rows, limit: u64, network: &'a Network, workers: &'a WorkerPool) -> Result<Self, Failure> {
        let count = rows.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
        let answer = AnswerUnit::of(rows.vocabulary());
        Ok(ChoiceValidation { network, workers, answer, rows: ValidationSet::new(rows, count)? })
    }
}

impl Validation<ChoiceMetrics> for ChoiceValidation<'_> {
    fn measure(
        &mut self,
        context: &Context,
        _weights: &Weights,
        device_weights: &DeviceWeights<'_>,
    ) -> Result<ChoiceMetrics, Failure> {
        let ChoiceValidation { network, workers, answer, rows } = self;
        let mut metrics = ChoiceMetrics::default();
        rows.measure(
            context,
            workers,
            |sequences| sequences.sequences.iter().copied().zip(score(network, device_weights, sequences)).collect(),
            |scores| metrics.add(&scores, *answer),
        )?;
        Ok(metrics)
    }
}
