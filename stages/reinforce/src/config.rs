//! Parameters of `reinforce`.

use cwm_contract::{Failure, ParameterError, Type, parameters};
use cwm_models::Precision;
use cwm_policy_gradient::{Objective, Surrogate};
use cwm_reasoning::{ReadingRule, RewardOptions, Scaling};
use cwm_training::Settings;
use cwm_training::optimiser::AdamWOptions;
use cwm_training::order::Batching;
use cwm_training::schedule::{Schedule, Shape};

parameters! {
    /// Parameters of `reinforce`.
    pub struct Config {
        /// The objective: `dr_grpo` (the paper's), `grpo` or `dapo`.
        pub objective: String = "dr_grpo".into(), kind = Type::Choice(Objective::NAMES),
        /// Items of a step. Each item is trained on once.
        pub batch_size: u64 = 64, kind = Type::Integer { min: 1, max: 1 << 20 },
        /// Answers that are sampled to each item.
        pub rollouts: u64 = 8, kind = Type::Integer { min: 2, max: 1 << 12 },
        /// Items of an update; a step makes an update for each so many of its items.
        pub mini_batch: u64 = 4, kind = Type::Integer { min: 1, max: 1 << 20 },
        /// Learning rate, constant.
        pub lr: f64 = 1e-4,
        /// Lower clip: where the ratio of a word's new to old probability is below 1 less this, an answer with a negative
        /// advantage has no gradient.
        pub clip_low: f64 = 0.2,
        /// Upper clip: where that ratio is above 1 plus this, an answer with a positive advantage has no gradient.
        pub clip_high: f64 = 0.28,
        /// Coefficient of the KL divergence from the model at the start; the paper has none.
        pub kl: f64 = 0.0,
        /// Tokens of an answer, its end included, at most; longer ones are cut and judged as they stand.
        pub max_tokens: u64 = 64, kind = Type::Integer { min: 1, max: 1 << 12 },
        /// The rule by which answers are read: `release`, or `lenient`.
        pub reading: String = "release".into(), kind = Type::Choice(&["release", "lenient"]),
        /// The scale of the rewards of legal moves: `normalise` or `linear`.
        pub scaling: String = "normalise".into(), kind = Type::Choice(&["normalise", "linear"]),
        /// A legal move whose reward is below this gets 0.
        pub cut: f64 = 0.3,
        /// Number of steps between validations; there is another one at the end.
        pub validation_every: u64 = 10, kind = Type::Integer { min: 1, max: 1 << 40 },
        /// Number of sampled answers in the output `answers`, each to another item, evenly from all steps.
        pub keep_answers: u64 = 200, kind = Type::Integer { min: 0, max: 1 << 20 },
        /// Seed of the order of items, and of the words that are drawn.
        pub seed: u64 = 0,
        /// Largest number of padded words in one pass through the model, as in `learn`.
        pub micro_batch_tokens: u64 = 768, kind = Type::Integer { min: 1, max: 1 << 30 },
        /// Number of steps between checkpoints; there is another one every ten minutes. Not part of the key.
        pub checkpoint_every: u64 = 10, kind = Type::Integer { min: 1, max: 1 << 40 },
    }
}

/// AdamW as the release's trainer has it.
pub const ADAMW: AdamWOptions = AdamWOptions { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.01 };
/// Largest global norm of a gradient, likewise.
pub const CLIP: f64 = 1.0;

impl Config {
    /// Returns the faults of the values.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut faults = Vec::new();
        let mut expect = |parameter: &str, holds: bool, message: &str| {
            if !holds {
                faults.push(ParameterError::new(parameter, message));
            }
        };
        expect("mini_batch", self.mini_batch <= self.batch_size, "must not be more than `batch_size`");
        expect("lr", self.lr >= 0.0 && self.lr.is_finite(), "must be 0 or more");
        expect("clip_low", (0.0..1.0).contains(&self.clip_low), "must be from 0 to below 1");
        expect("clip_high", self.clip_high >= 0.0 && self.clip_high.is_finite(), "must be 0 or more");
        expect("kl", self.kl >= 0.0 && self.kl.is_finite(), "must be 0 or more");
        expect("cut", (0.0..=1.0).contains(&self.cut), "must be from 0 to 1");
        faults
    }

    /// The objective.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn objective(&self) -> Result<Objective, Failure> {
        Objective::of_name(&self.objective).ok_or_else(|| unknown("objective", &self.objective))
    }

    /// The constants of the loss.
    pub fn surrogate(&self) -> Surrogate {
        Surrogate { clip_low: self.clip_low, clip_high: self.clip_high, kl: self.kl }
    }

    /// Returns the options of rewards.
    ///
    /// # Errors
    /// A name is unknown.
    pub fn reward(&self) -> Result<RewardOptions, Failure> {
        let reading = ReadingRule::of_name(&self.reading).ok_or_else(|| unknown("reading", &self.reading))?;
        let scaling = Scaling::of_name(&self.scaling).ok_or_else(|| unknown("scaling", &self.scaling))?;
        Ok(RewardOptions { reading, scaling, cut: self.cut })
    }

    /// Settings of the training loop for a run of `total_steps`.
    pub fn settings(&self, total_steps: u64) -> Settings {
        Settings {
            total_steps,
            batching: Batching::Exact,
            schedule: Schedule { shape: Shape::Constant, rate: self.lr, warmup: 0, horizon: total_steps, floor: 1.0 },
            adamw: ADAMW,
            clip: CLIP,
            precision: Precision::Fp32,
            dropout_seed: None,
            validation_every: self.validation_every,
            checkpoint_every: self.checkpoint_every,
            curve_every: 1,
            keeps_best: false,
        }
    }
}

fn unknown(parameter: &str, name: &str) -> Failure {
    Failure::input(format!("parameter `{parameter}`: {name:?} is unknown"))
}
