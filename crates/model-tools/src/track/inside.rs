//! A model whose logits and residual stream are read.

use std::path::Path;

use cwm_contract::Failure;
use cwm_inside::{Batch, Model, WeightsSource};
use cwm_models::checkpoint::{DESCRIPTION_FILE, Description};
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{Sites, device};

use super::game_predictor::check_prefix;

/// A model of boards or of words on the CPU. It reads all tokens so far at every turn.
pub struct InspectedModel {
    /// The model.
    pub model: Model,
    workers: WorkerPool,
}

impl InspectedModel {
    /// Opens a checkpoint.
    ///
    /// # Errors
    /// It cannot be read, or is of a model of neither.
    pub fn open(checkpoint: &Path) -> Result<Self, Failure> {
        let model = Model::open(checkpoint, WeightsSource::Trained, &device::cpu())?;
        Ok(InspectedModel { model, workers: WorkerPool::new(1)? })
    }

    /// The logits after the last of these tokens.
    ///
    /// # Errors
    /// They are more than the model reads.
    pub fn logits(&self, tokens: &[u16]) -> Result<Vec<f32>, Failure> {
        self.pass(tokens, |batch, last| batch.logits(Sites::default(), &[last]).1)
    }

    /// The row of the stream at a site after the last of these tokens; `normed` as [`Batch::stream`] has it.
    ///
    /// # Errors
    /// They are more than the model reads.
    pub fn row(&self, tokens: &[u16], site: usize, normed: bool) -> Result<Vec<f32>, Failure> {
        self.pass(tokens, |batch, last| batch.stream(&[site], &[last], normed).concat())
    }

    fn pass(&self, tokens: &[u16], work: impl Fn(&Batch<'_>, usize) -> Vec<f32> + Sync) -> Result<Vec<f32>, Failure> {
        check_prefix(tokens.len())?;
        let last = tokens.len() - 1;
        let values = self
            .model
            .by_batch(&self.workers, tokens.len(), &[tokens], |batch| Ok(vec![work(batch, batch.row(0, last))]));
        Ok(values?.concat())
    }
}

/// True if the checkpoint is of `learn`, whose models read sequences of a form.
///
/// # Errors
/// Its description cannot be read.
pub fn reads_sequences(checkpoint: &Path) -> Result<bool, Failure> {
    Ok(Description::read(&checkpoint.join(DESCRIPTION_FILE))?.training.contains_key("vocabulary"))
}
