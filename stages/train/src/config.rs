//! Parameters of `train`, and what they mean together.

use std::collections::BTreeMap;

use cwm_contract::{Context, Failure, ParameterError, Type, parameters};
use cwm_encoding::{EnPassant, VOCABULARY};
use cwm_models::heads::labels;
use cwm_models::{Architecture, ModelError, Precision, Size, families};
use cwm_training::Settings;
use cwm_training::optimiser::AdamWOptions;
use cwm_training::order::{Batching, Order, Sampler};
use cwm_training::schedule::{Schedule, Shape};

use crate::data::Games;

parameters! {
    /// Parameters of `train`.
    pub struct Config {
        /// Model family, by its name in the registry.
        pub family: String = "transformer".into(),
        /// Width and number of layers, dN/lM.
        pub size: String = "d128/l1".into(),
        /// The family's own options, such as `rope` of the Transformer.
        pub options: BTreeMap<String, String> = BTreeMap::new(),
        /// Train on this many games, the first of the dataset; by default on all.
        pub games: Option<u64> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 1 << 40 })),
        /// Passes over the training games; 1 if neither this nor `steps` is given.
        pub epochs: Option<u64> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 1_000_000 })),
        /// End after this many steps instead; epochs repeat until then. A step is a drawn batch, including skipped
        /// ones.
        pub steps: Option<u64> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 1 << 40 })),
        /// Games in a batch; the last of an epoch may have fewer.
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
        /// Seed of the order of games, if it differs from `seed`.
        pub seed_data: Option<u64> = None,
        /// Seed of dropout, if it differs from `seed`.
        pub seed_dropout: Option<u64> = None,
        /// Order of games: `shuffled` (all games, reshuffled in each epoch), `file` (the order of the dataset), or
        /// `authors` (whole shards of the corpus in random order, as in the paper's program).
        pub order: String = "shuffled".into(), kind = Type::Choice(&["shuffled", "file", "authors"]),
        /// Games in a shard of the corpus, those for validation included; for `order: authors`.
        pub shard_games: u64 = 1_000_000, kind = Type::Integer { min: 1, max: 1 << 40 },
        /// For `order: authors`: the number of loading processes whose batches are taken in turn; 0 is a single stream.
        pub workers: u64 = 0, kind = Type::Integer { min: 0, max: 1 << 10 },
        /// Order of games in batches: `exact` (consecutive games of the order) or `bucketed` (games of similar length,
        /// from `bucket_batches` consecutive batches), which is faster and a departure from the paper.
        pub batching: String = "exact".into(), kind = Type::Choice(&["exact", "bucketed"]),
        /// For `batching: bucketed`: the number of consecutive batches whose games are sorted by length together. The
        /// lengths of their games are read before the first of these batches.
        pub bucket_batches: u64 = 64, kind = Type::Integer { min: 1, max: 1 << 12 },
        /// When the en passant labels are set: `always` after a double push, or `legal`, only where a capture is.
        pub en_passant: String = "always".into(), kind = Type::Choice(&["always", "legal"]),
        /// Number of steps between validations; there is another one after each epoch.
        pub validation_every: u64 = 5_000, kind = Type::Integer { min: 1, max: 1 << 40 },
        /// Validate on this many games, the first of the validation set.
        pub validation_games: u64 = 1_280, kind = Type::Integer { min: 1, max: 1 << 40 },
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
        /// Write the output `state`, from which a longer training of the same configuration can continue.
        pub keep_state: bool = false,
    }
}

impl Config {
    /// Returns the architecture of the model.
    ///
    /// # Errors
    /// `size` is not a size.
    pub fn architecture(&self) -> Result<Architecture, ModelError> {
        Ok(Architecture {
            family: self.family.clone(),
            size: self.size.parse()?,
            vocabulary: VOCABULARY,
            dropout: self.dropout,
            options: self.options.clone(),
        })
    }

    /// Returns the faults of the values.
    pub fn faults(&self) -> Vec<ParameterError> {
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
        if let Err(error) = families::find(&self.family) {
            faults.push(ParameterError::new("family", format!("is unknown: {error}")));
        } else if let Err(error) = self.size.parse::<Size>() {
            faults.push(ParameterError::new("size", format!("is wrong: {error}")));
        } else if faults.is_empty()
            && let Err(error) = self.architecture().and_then(labels::network)
        {
            let parameter = if self.options.is_empty() { "size" } else { "options" };
            faults.push(ParameterError::new(parameter, format!("makes no model: {error}")));
        }
        faults
    }

    /// Parameters that these values make no use of, or that do not change what comes out.
    pub fn unused_parameters(&self) -> Vec<&'static str> {
        let mut idle = vec!["checkpoint_every"];
        if self.order != "authors" {
            idle.extend(["shard_games", "workers"]);
        }
        if self.batching != "bucketed" {
            idle.push("bucket_batches");
        }
        // So that what there was before this parameter keeps its key.
        if !self.keeps_best() {
            idle.push("checkpoint");
        }
        idle
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

    /// Seed of the order of games.
    pub fn data_seed(&self) -> u64 {
        self.seed_data.unwrap_or(self.seed)
    }

    /// Seed of dropout.
    pub fn dropout_seed(&self) -> u64 {
        self.seed_dropout.unwrap_or(self.seed)
    }

    /// Order of games.
    ///
    /// # Errors
    /// The shards of the corpus do not follow from the games, or the stage was cancelled.
    pub fn order(&self, context: &Context, games: &mut Games) -> Result<Order, Failure> {
        let seed = self.data_seed();
        Ok(match self.order.as_str() {
            "file" => Order::File,
            "authors" => {
                let shards = games.shards(context, self.shard_games)?;
                Order::Authors { seed, shards, workers: self.workers as usize }
            }
            _ => Order::Shuffled { seed },
        })
    }

    /// Returns the order of games in batches.
    fn batching(&self) -> Batching {
        match self.batching.as_str() {
            "bucketed" => Batching::Bucketed { window: self.bucket_batches, seed: self.data_seed() },
            _ => Batching::Exact,
        }
    }

    /// Returns the rule of en passant labels.
    pub fn en_passant(&self) -> EnPassant {
        if self.en_passant == "legal" { EnPassant::Legal } else { EnPassant::Always }
    }
}
