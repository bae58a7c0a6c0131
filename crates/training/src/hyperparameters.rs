//! The parameters that every stage that trains has, and what they mean together.

use cwm_contract::{ParameterError, Type, parameters};
use cwm_models::Precision;
use serde_json::{Map, Value, json};

use crate::Settings;
use crate::optimiser::AdamWOptions;
use crate::order::{Batching, Sampler};
use crate::schedule::{Schedule, Shape};

parameters! {
    /// Parameters of a training, whatever is trained.
    pub struct Hyperparameters {
        /// Passes over the training examples; 1 if neither this nor `steps` is given.
        pub epochs: Option<u64> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 1_000_000 })),
        /// End after this many steps instead; epochs repeat until then. A step is a drawn batch, including skipped
        /// ones.
        pub steps: Option<u64> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 1 << 40 })),
        /// Examples in a batch; the last of an epoch may have fewer.
        pub batch_size: u64 = 128, kind = Type::Integer { min: 1, max: 1 << 20 },
        /// Learning rate after warm-up.
        pub lr: f64 = 1e-3,
        /// Updates over which the learning rate grows to `lr`.
        pub warmup: u64 = 100,
        /// Learning rate after warm-up.
        pub schedule: String = "cosine".into(), kind = Type::Choice(&["constant", "cosine", "linear"]),
        /// Learning rate at the end, as a share of `lr`.
        pub lr_floor: f64 = 0.1,
        /// Number of updates after which the learning rate is at its floor, more than `warmup`; by default the number
        /// of steps.
        pub horizon: Option<u64> = None,
        /// Weight decay, decoupled.
        pub weight_decay: f64 = 0.01,
        /// Decay of AdamW's second moment; that of the first is 0.9.
        pub beta2: f64 = 0.95,
        /// Largest global norm of a gradient; longer ones are shortened to it.
        pub clip: f64 = 1.0,
        /// Probability of dropout, where the family has any.
        pub dropout: f64 = 0.1,
        /// Seed of everything random.
        pub seed: u64 = 0,
        /// Seed of the initial weights, if it differs from `seed`.
        pub seed_init: Option<u64> = None,
        /// Seed of the order of examples, if it differs from `seed`.
        pub seed_data: Option<u64> = None,
        /// Seed of dropout, if it differs from `seed`.
        pub seed_dropout: Option<u64> = None,
        /// Order of examples in batches: `exact` (consecutive examples of the order) or `bucketed` (examples of similar
        /// length, from `bucket_batches` consecutive batches), which is faster and a departure from the paper.
        pub batching: String = "exact".into(), kind = Type::Choice(&["exact", "bucketed"]),
        /// For `batching: bucketed`: the number of consecutive batches whose examples are sorted by length together. The
        /// lengths of their examples are read before the first of these batches.
        pub bucket_batches: u64 = 64, kind = Type::Integer { min: 1, max: 1 << 12 },
        /// Number of steps between validations; there is another one after each epoch.
        pub validation_every: u64 = 5_000, kind = Type::Integer { min: 1, max: 1 << 40 },
        /// Type to which operands of matrix products are rounded, in training and validation: `fp32` (none), `tf32` or
        /// `bf16`. Weights, recurrences, norms and loss are fp32 in all.
        pub precision: String = "fp32".into(), kind = Type::Choice(Precision::NAMES),
        /// Largest number of padded tokens in one pass through the model. Batches are sorted by length and cut into
        /// micro-batches of at most this size, whose gradients add up to the batch's; only rounding and the choice of
        /// elements that drop out differ. Cores work on different micro-batches.
        pub micro_batch_tokens: u64 = 768, kind = Type::Integer { min: 1, max: 1 << 30 },
        /// Number of steps between checkpoints; there is another one every ten minutes. Not part of the key.
        pub checkpoint_every: u64 = 5_000, kind = Type::Integer { min: 1, max: 1 << 40 },
        /// Weights of the model: those of the `last` step, as in the paper, or the `best`, those with the lowest
        /// validation loss, which is a departure from the paper and marked as one.
        pub checkpoint: String = "last".into(), kind = Type::Choice(&["last", "best"]),
        /// Number of steps between entries of the curves.
        pub curve_every: u64 = 10, kind = Type::Integer { min: 1, max: 1 << 40 },
    }
}

/// Steps that the schedule's rates are probed over, where the parameters give none.
const PROBED_STEPS: u64 = 10_000;

impl Hyperparameters {
    /// Returns the faults of the values.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut faults = Vec::new();
        let mut expect = |parameter: &str, holds: bool, message: &str| {
            if !holds {
                faults.push(ParameterError::new(parameter, message));
            }
        };
        expect("steps", self.epochs.is_none() || self.steps.is_none(), "must not be given together with `epochs`");
        expect("lr", self.lr > 0.0 && self.lr.is_finite(), "must be a positive number");
        let has_time_to_fall = self.schedule == "constant" || self.horizon.is_none_or(|horizon| horizon > self.warmup);
        expect("horizon", has_time_to_fall, "must be more than `warmup`, after which the learning rate begins to fall");
        expect("lr_floor", (0.0..=1.0).contains(&self.lr_floor), "must be from 0 to 1");
        expect("weight_decay", self.weight_decay >= 0.0 && self.weight_decay.is_finite(), "must be 0 or more");
        expect("beta2", (0.0..1.0).contains(&self.beta2), "must be from 0 to below 1");
        expect("clip", self.clip > 0.0, "must be a positive number");
        expect("dropout", (0.0..1.0).contains(&self.dropout), "must be from 0 to below 1");
        faults
    }

    /// Parameters that these values make no use of, or that do not change what comes out.
    pub fn unused_parameters(&self) -> Vec<&'static str> {
        let mut unused = vec!["checkpoint_every"];
        if self.batching != "bucketed" {
            unused.push("bucket_batches");
        }
        // So that what there was before this parameter keeps its key.
        if !self.keeps_best() {
            unused.push("checkpoint");
        }
        unused
    }

    /// Returns true if the model is the best of those that were validated.
    pub fn keeps_best(&self) -> bool {
        self.checkpoint == "best"
    }

    /// Settings of the training loop for a run of `total_steps`.
    pub fn settings(&self, total_steps: u64) -> Settings {
        Settings {
            total_steps,
            batching: self.batching(),
            schedule: self.schedule(total_steps),
            adamw: self.adamw(),
            clip: self.clip,
            precision: self.precision(),
            dropout_seed: (self.dropout > 0.0).then(|| self.dropout_seed()),
            validation_every: self.validation_every,
            checkpoint_every: self.checkpoint_every,
            curve_every: self.curve_every,
            keeps_best: self.keeps_best(),
        }
    }

    /// Steps in all.
    pub fn total_steps(&self, sampler: &mut Sampler) -> u64 {
        self.steps.unwrap_or_else(|| sampler.steps_of(self.epochs.unwrap_or(1)))
    }

    /// Learning rates of a run of `total_steps`.
    pub fn schedule(&self, total_steps: u64) -> Schedule {
        let shape = match self.schedule.as_str() {
            "constant" => Shape::Constant,
            "linear" => Shape::Linear,
            _ => Shape::Cosine,
        };
        let horizon = self.horizon.unwrap_or(total_steps);
        Schedule { shape, rate: self.lr, warmup: self.warmup, horizon, floor: self.lr_floor }
    }

    /// Returns, for probes, the learning rates at the first, middle and last steps, and about the end of warm-up.
    pub fn probed_rates(&self) -> Vec<u8> {
        let last = self.steps.unwrap_or(PROBED_STEPS);
        let schedule = self.schedule(last);
        let horizon = schedule.horizon;
        let (warmup, beyond) = (self.warmup, horizon.saturating_add(last / 4));
        let steps = [0, 1, warmup / 2, warmup, warmup + 1, last / 2, horizon / 2, horizon, last, beyond];
        steps.iter().flat_map(|step| schedule.at(*step).to_le_bytes()).collect()
    }

    /// Returns the type to which operands of matrix products are rounded.
    fn precision(&self) -> Precision {
        Precision::named(&self.precision).unwrap_or_default()
    }

    /// AdamW's constants.
    pub fn adamw(&self) -> AdamWOptions {
        AdamWOptions { beta1: 0.9, beta2: self.beta2, epsilon: 1e-8, weight_decay: self.weight_decay }
    }

    /// Seed of the initial weights.
    pub fn init_seed(&self) -> u64 {
        self.seed_init.unwrap_or(self.seed)
    }

    /// Seed of the order of examples.
    pub fn data_seed(&self) -> u64 {
        self.seed_data.unwrap_or(self.seed)
    }

    /// Seed of dropout.
    pub fn dropout_seed(&self) -> u64 {
        self.seed_dropout.unwrap_or(self.seed)
    }

    /// Returns the order of examples in batches.
    fn batching(&self) -> Batching {
        match self.batching.as_str() {
            "bucketed" => Batching::Bucketed { window: self.bucket_batches, seed: self.data_seed() },
            _ => Batching::Exact,
        }
    }

    /// The values for the description of a training of `total_steps`, without `steps` and `epochs`.
    pub(crate) fn described(&self, total_steps: u64) -> Map<String, Value> {
        let described = json!({
            "batch_size": self.batch_size,
            "lr": self.lr,
            "warmup": self.warmup,
            "schedule": self.schedule,
            "lr_floor": self.lr_floor,
            "horizon": self.horizon.unwrap_or(total_steps),
            "weight_decay": self.weight_decay,
            "beta2": self.beta2,
            "clip": self.clip,
            "dropout": self.dropout,
            "seed": self.seed,
            "seed_init": self.init_seed(),
            "seed_data": self.data_seed(),
            "seed_dropout": self.dropout_seed(),
            "batching": self.batching,
            "precision": self.precision,
            "micro_batch_tokens": self.micro_batch_tokens,
        });
        let Value::Object(mut described) = described else { return Map::new() };
        // What a training makes no use of would make equal results unequal.
        if self.batching == "bucketed" {
            described.insert("bucket_batches".to_owned(), json!(self.bucket_batches));
        }
        described
    }
}
