//! One step: answers are sampled and rewarded, and the weights are updated several times.

use cwm_contract::Failure;
use cwm_generation::{Model, Sampling};
use cwm_models::parameters::Weights;
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{Device, DeviceWeights};
use cwm_policy_gradient::has_signal;
use cwm_reasoning::RewardOptions;
use cwm_training::curves::{Line, number};
use cwm_training::order::Sampler;
use cwm_training::{Throughput, Trainer};
use serde_json::{Value, json};

use crate::answer_journal::AnswerJournal;
use crate::config::Config;
use crate::micro_batch::{AnswerBatch, MicroBatchOptions, Update};
use crate::outcome::Outcome;
use crate::policy::{Policy, PolicyMeasures};
use crate::questions::Question;
use crate::rollouts::{self, Group};

/// The values that all steps share.
pub struct Learner<'a> {
    /// Parameters.
    pub config: &'a Config,
    /// The model.
    pub policy: &'a Policy,
    /// Its weights at the start.
    pub start: &'a Weights,
    /// The questions to train on.
    pub questions: &'a [Question],
    /// The order of the questions.
    pub sampler: Sampler,
    /// The settings of sampling.
    pub sampling: Sampling,
    /// The options of rewards.
    pub reward: RewardOptions,
    /// The settings by which answers become passes.
    pub micro_batch_options: MicroBatchOptions,
    /// Answers that become an output.
    pub kept: &'a AnswerJournal,
    /// The device that passes run on.
    pub device: &'a Device,
    /// Threads of passes on the CPU.
    pub workers: &'a WorkerPool,
}

impl Learner<'_> {
    /// Makes the next step, and returns its line of the curves.
    ///
    /// # Errors
    /// An answer cannot be sampled, or an operation on the disk fails.
    pub fn step(&mut self, trainer: &mut Trainer<'_, Policy>, throughput: &mut Throughput) -> Result<Line, Failure> {
        let step = trainer.state.step;
        let first = step * self.config.batch_size;
        let places = self.sampler.batch(step);
        let groups = self.sample(&trainer.synced_state().weights, first, &places)?;
        self.kept.push(first, &groups)?;

        let mini_batch = self.config.mini_batch as usize;
        let mut updates: Vec<Update> =
            groups.chunks(mini_batch).map(|groups| self.micro_batch_options.update(groups)).collect();
        let entropy = self.measure(&trainer.synced_state().weights, &mut updates);
        let (mut is_good, mut norms, mut words) = (true, Vec::new(), 0);
        // Updates without a gradient would still move the weights by the moments of earlier ones.
        for update in updates.iter().filter(|update| !update.with_signal.is_empty()) {
            let (metrics, was_good) = trainer.update(&update.with_signal);
            norms.push(metrics.gradient_norm);
            words += metrics.positions;
            is_good = was_good;
            if !is_good {
                break;
            }
        }
        is_good = is_good && self.has_finite_outputs(&trainer.synced_state().weights, &updates);
        trainer.end_step(is_good);
        throughput.count(words);
        Ok(Line { kind: "reinforce", step: trainer.state.step, entries: self.entries(&groups, entropy, &norms) })
    }

    fn sample(&self, weights: &Weights, first: u64, places: &[usize]) -> Result<Vec<Group<'_>>, Failure> {
        let questions: Vec<&Question> = places.iter().map(|&place| &self.questions[place]).collect();
        let model = Model::new(&self.policy.network, weights, self.device);
        let (seed, rollouts) = (self.config.seed, self.config.rollouts);
        let stream =
            |place: usize, answer: usize| rollouts::stream(seed, (first + place as u64) * rollouts + answer as u64);
        rollouts::groups(&model, self.workers, &questions, (rollouts as usize, &self.sampling), &self.reward, &stream)
    }

    /// Sets the log-probabilities of all words under `weights`, which sampled them, and under the weights at the start where the
    /// loss needs them. Returns the mean entropy by word, in nats.
    fn measure(&self, weights: &Weights, updates: &mut [Update]) -> f64 {
        let mut batches: Vec<&mut AnswerBatch> = updates
            .iter_mut()
            .flat_map(|Update { with_signal, without_signal }| with_signal.iter_mut().chain(without_signal))
            .collect();
        let measured = self.measure_all(weights, &batches);
        let at_start = (self.policy.surrogate.kl != 0.0).then(|| self.measure_all(self.start, &batches));
        let (mut entropy, mut words) = (0.0, 0);
        for (number, (batch, measured)) in batches.iter_mut().zip(measured).enumerate() {
            entropy += measured.entropy;
            words += measured.log_probabilities.len();
            batch.old = measured.log_probabilities;
            batch.start = at_start.as_ref().map(|at_start| at_start[number].log_probabilities.clone());
        }
        entropy / words.max(1) as f64
    }

    fn measure_all(&self, weights: &Weights, batches: &[&mut AnswerBatch]) -> Vec<PolicyMeasures> {
        let device_weights = DeviceWeights::new(weights, self.device);
        self.workers.map(batches.len(), |index| self.policy.measure(&device_weights, batches[index]))
    }

    /// Returns true if log-probabilities under these weights are finite: weights can be finite and what they compute not. The first
    /// batch that was learnt from stands for all.
    fn has_finite_outputs(&self, weights: &Weights, updates: &[Update]) -> bool {
        let Some(batch) = updates.iter().flat_map(|update| &update.with_signal).next() else { return true };
        let device_weights = DeviceWeights::new(weights, self.device);
        let measured = self.workers.map(1, |_| self.policy.measure(&device_weights, batch));
        measured.iter().flat_map(|measured| &measured.log_probabilities).all(|value| value.is_finite())
    }

    fn entries(&self, groups: &[Group<'_>], entropy: f64, norms: &[f64]) -> Vec<(&'static str, Value)> {
        let mut outcome = Outcome::default();
        groups.iter().for_each(|group| outcome.add(group));
        let without_signal = groups.iter().filter(|group| !has_signal(&group.rewards())).count();
        let norm = (!norms.is_empty()).then(|| norms.iter().sum::<f64>() / norms.len() as f64);
        let mut entries = outcome.common_entries();
        entries.extend([
            ("entropy", number(entropy)),
            ("gradient_norm", norm.map_or(Value::Null, number)),
            ("learning_rate", number(self.config.lr)),
            ("groups_without_signal", json!(without_signal)),
        ]);
        entries
    }
}
