//! Parameters of `autoencoder`.

use cwm_contract::{ParameterError, Type, parameters};
use cwm_inside::has_duplicates;
use cwm_models::{Precision, families};
use cwm_training::optimiser::AdamWOptions;
use cwm_training::schedule::{Schedule, Shape};

/// Large enough for any count.
const MANY: i128 = 1 << 40;

parameters! {
    /// Parameters of `autoencoder`.
    pub struct Config {
        /// The family that the checkpoint must have. If it is given, the result depends on the code of that family only.
        pub family: Option<String> = None,
        /// Sites of the stream, each with an autoencoder of its own: 0 is after the embedding, l after block l. By default all
        /// but 0.
        pub layers: Vec<u64> = Vec::new(),
        /// Latents for each channel of the stream.
        pub ratio: u64 = 16, kind = Type::Integer { min: 1, max: 1024 },
        /// Number of rows to train on, from the first games on, and from the first again after the last; by default those of
        /// each game once.
        pub tokens: Option<u64> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: MANY })),
        /// Rows of a batch.
        pub batch_size: u64 = 4096, kind = Type::Integer { min: 1, max: 1 << 20 },
        /// Largest learning rate.
        pub lr: f64 = 3e-4,
        /// Decay of the first moment.
        pub beta1: f64 = 0.0,
        /// Decay of the second moment.
        pub beta2: f64 = 0.999,
        /// Updates in which the learning rate grows from 0; then it falls to 0 along half a cosine.
        pub warmup: u64 = 1000, kind = Type::Integer { min: 0, max: MANY },
        /// Weight of the latents' size in the loss.
        pub sparsity: f64 = 0.1,
        /// Updates in which that weight grows from 0.
        pub sparsity_warmup: u64 = 2000, kind = Type::Integer { min: 0, max: MANY },
        /// First value of the decoder's bias: the `mean` row of the first batch, or `zero`.
        pub bias: String = "mean".into(), kind = Type::Choice(&["mean", "zero"]),
        /// The factor of rows: with `width`, the square root of the number of channels over the mean length of the first
        /// 100,000 rows, so that one `sparsity` suits all models; with `none`, 1.
        pub scale: String = "width".into(), kind = Type::Choice(&["width", "none"]),
        /// A latent is dead if it was above 0 in none of so many rows, the last ones.
        pub dead_after: u64 = 10_000_000, kind = Type::Integer { min: 1, max: MANY },
        /// Rows that are shuffled together, at least those of a batch; they are in a scratch file.
        pub reservoir: u64 = 524_288, kind = Type::Integer { min: 1, max: 1 << 31 },
        /// True if, where the stream is replaced to measure the loss, the row of each game's first token stays as it is.
        pub keep_begin: bool = true,
        /// Number of games to measure on, the first ones of `test`.
        pub test_games: u64 = 1000, kind = Type::Integer { min: 1, max: MANY },
        /// Games are cut after so many tokens. By default games with more tokens than the model reads are dropped.
        pub max_tokens: Option<u64> = None, kind = Type::Optional(Box::new(Type::Integer { min: 2, max: 1 << 20 })),
        /// Updates between two checkpoints; one is written after ten minutes at the latest. No result depends on it.
        pub checkpoint_every: u64 = 5000, kind = Type::Integer { min: 1, max: MANY },
        /// Seed of the initial weights and of the order of rows.
        pub seed: u64 = 0,
        /// Type to which operands of matrix products are rounded: `fp32` (none), `tf32` or `bf16`.
        pub precision: String = "fp32".into(), kind = Type::Choice(Precision::NAMES),
        /// Largest number of padded tokens in one pass through the model; games of similar length go together.
        pub batch_tokens: u64 = 2048, kind = Type::Integer { min: 1, max: 1 << 30 },
    }
}

impl Config {
    /// The faults of the values.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut faults = Vec::new();
        if let Some(Err(error)) = self.family.as_deref().map(families::find) {
            faults.push(ParameterError::new("family", format!("is unknown: {error}")));
        }
        let mut check = |name: &str, is_right: bool, wanted: &str| {
            if !is_right {
                faults.push(ParameterError::new(name, format!("must be {wanted}")));
            }
        };
        check("layers", !has_duplicates(&self.layers), "different layers");
        check("lr", self.lr > 0.0 && self.lr.is_finite(), "a number above 0");
        check("sparsity", self.sparsity >= 0.0 && self.sparsity.is_finite(), "a number of at least 0");
        for (name, beta) in [("beta1", self.beta1), ("beta2", self.beta2)] {
            check(name, (0.0..1.0).contains(&beta), "a number from 0 up to, and not, 1");
        }
        faults
    }

    /// The type to which operands of matrix products are rounded.
    pub fn precision(&self) -> Precision {
        Precision::named(&self.precision).unwrap_or_default()
    }

    /// Constants of the optimiser.
    pub fn adamw(&self) -> AdamWOptions {
        AdamWOptions { beta1: self.beta1, beta2: self.beta2, epsilon: 1e-8, weight_decay: 0.0 }
    }

    /// Learning rates of so many updates.
    pub fn schedule(&self, updates: u64) -> Schedule {
        Schedule { shape: Shape::Cosine, rate: self.lr, warmup: self.warmup, horizon: updates, floor: 0.0 }
    }

    /// The weight of the latents' size at an update, counted from 0.
    pub fn sparsity_at(&self, update: u64) -> f64 {
        self.sparsity * ((update + 1) as f64 / self.sparsity_warmup.max(1) as f64).min(1.0)
    }

    /// Rows that are shuffled together: whole batches.
    pub fn block_rows(&self) -> u64 {
        (self.reservoir / self.batch_size).max(1) * self.batch_size
    }
}
