//! Validation: rewards of answers to items that are not trained on, each word of which is the likeliest.

use cwm_contract::{Context, Failure};
use cwm_generation::{Model, Sampling};
use cwm_models::parameters::Weights;
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{Device, DeviceWeights, Network};
use cwm_reasoning::RewardOptions;
use cwm_training::Validation;

use crate::outcome::Outcome;
use crate::questions::Question;
use crate::rollouts::{self, stream};

/// Items that are answered between two checks for cancellation.
const AT_ONCE: usize = 256;

/// Measures the rewards of the likeliest answers to some items.
pub struct RewardValidation<'a> {
    /// The model.
    pub network: &'a Network,
    /// The questions that it answers.
    pub questions: Vec<Question>,
    /// The settings of sampling; nothing is drawn.
    pub sampling: Sampling,
    /// The options of rewards.
    pub reward: RewardOptions,
    /// The device that passes run on.
    pub device: &'a Device,
    /// Threads.
    pub workers: &'a WorkerPool,
}

impl Validation<Outcome> for RewardValidation<'_> {
    fn measure(
        &mut self,
        context: &Context,
        weights: &Weights,
        _device_weights: &DeviceWeights<'_>,
    ) -> Result<Outcome, Failure> {
        let model = Model::new(self.network, weights, self.device);
        let mut outcome = Outcome::default();
        for questions in self.questions.chunks(AT_ONCE) {
            context.check_cancelled()?;
            let questions: Vec<&Question> = questions.iter().collect();
            let unused = |_, _| stream(0, 0);
            let sampling = (1, &self.sampling);
            let groups = rollouts::groups(&model, self.workers, &questions, sampling, &self.reward, &unused)?;
            groups.iter().for_each(|group| outcome.add(group));
        }
        Ok(outcome)
    }
}
