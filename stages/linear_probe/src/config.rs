//! Parameters of `linear_probe`.

use cwm_contract::{ParameterError, Type, parameters};
use cwm_inside::linear_probe::Target;
use cwm_inside::{WeightsSource, has_duplicates};
use cwm_models::{Precision, families};
use cwm_training::optimiser::AdamWOptions;
use cwm_training::schedule::{Schedule, Shape};

/// Large enough for any count.
const MANY: i128 = 1 << 40;

parameters! {
    /// Parameters of `linear_probe`.
    pub struct Config {
        /// The family that the checkpoint must have. If it is given, the result depends on the code of that family only.
        pub family: Option<String> = None,
        /// The class that is read of each square: `both` piece and colour (13 classes), the `piece` (7), the `colour` (3), or
        /// whether a piece is `mine`, of the side to move (3).
        pub target: String = "both".into(), kind = Type::Choice(Target::NAMES),
        /// `linear` trains; `difference` takes differences of mean rows, without training.
        pub method: String = "linear".into(), kind = Type::Choice(&["linear", "difference"]),
        /// True if linear probes of piece and of colour are trained too, whose sums are compared with those of both. For the target
        /// `both` and the method `linear`, on the stream.
        pub composition: bool = false,
        /// Sites of the stream, each with a linear probe of its own: 0 is after the embedding, l after block l. By default all;
        /// with an autoencoder, all that it has.
        pub layers: Vec<u64> = Vec::new(),
        /// Number of tokens of each game whose rows are read, the last ones; 0 reads all.
        pub last: u64 = 5, kind = Type::Integer { min: 0, max: MANY },
        /// With `random`, each game is first cut after a number of tokens drawn from 12 to `max_tokens`, or to its own length
        /// without that, so that all depths of games are seen.
        pub cut: String = "none".into(), kind = Type::Choice(&["none", "random"]),
        /// Games are cut after so many tokens. By default games with more tokens than the model reads are dropped.
        pub max_tokens: Option<u64> = None, kind = Type::Optional(Box::new(Type::Integer { min: 2, max: 1 << 20 })),
        /// The tokens that are read, by their place in a move: 0 and 1 origin and target of white, 2 and 3 of black, 4 a
        /// promotion piece. For models of words.
        pub phase: String = "any".into(), kind = Type::Choice(&["any", "0", "1", "2", "3", "4"]),
        /// The board of a token: `after` all moves that are complete there, or `before` the move that it belongs to.
        pub board: String = "after".into(), kind = Type::Choice(&["after", "before"]),
        /// True if rows of the last layer are those after the model's final norm.
        pub normed: bool = false,
        /// The network: `trained`, or `untrained` with initial weights of the same architecture.
        pub network: String = "trained".into(), kind = Type::Choice(&["trained", "untrained"]),
        /// Seed of the initial weights of an untrained network.
        pub untrained_seed: u64 = 1,
        /// With `shuffled`, training boards change places among rows of equal ply: what is read then comes of the ply alone.
        pub labels: String = "own".into(), kind = Type::Choice(&["own", "shuffled"]),
        /// Passes over the rows.
        pub epochs: u64 = 15, kind = Type::Integer { min: 1, max: 1 << 20 },
        /// Rows of a batch.
        pub batch_size: u64 = 256, kind = Type::Integer { min: 1, max: 1 << 20 },
        /// Largest learning rate of AdamW.
        pub lr: f64 = 1e-3,
        /// Decay of the first moment.
        pub beta1: f64 = 0.9,
        /// Decay of the second moment.
        pub beta2: f64 = 0.99,
        /// Weight decay, in units of the learning rate.
        pub weight_decay: f64 = 0.01,
        /// Share of the updates in which the learning rate grows, from a tenth; then it falls to 0 along half a cosine.
        pub warmup_share: f64 = 0.05,
        /// With `rms`, rows are divided by the root mean square of the training rows of their layer; `family` is `none` for `gpt`
        /// and `rms` for the others.
        pub normalise: String = "family".into(), kind = Type::Choice(&["none", "rms", "family"]),
        /// Number of games to train on, and again to measure on, the first ones; by default all.
        pub games: Option<u64> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: MANY })),
        /// Number of bootstrap resamples of the intervals.
        pub resamples: u64 = 1000, kind = Type::Integer { min: 1, max: 1 << 20 },
        /// Seed of the initial weights, of the order of rows, of the cuts and of the resamples.
        pub seed: u64 = 0,
        /// Type to which operands of the model's matrix products are rounded: `fp32` (none), `tf32` or `bf16`.
        pub precision: String = "fp32".into(), kind = Type::Choice(Precision::NAMES),
        /// Largest number of padded tokens in one pass through the model; games of similar length go together.
        pub batch_tokens: u64 = 2048, kind = Type::Integer { min: 1, max: 1 << 30 },
    }
}

/// The fewest tokens that a random cut leaves of a game.
pub const SHORTEST_CUT: u64 = 12;

impl Config {
    /// The faults of the values.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut faults = Vec::new();
        let mut fault = |name: &str, message: String| faults.push(ParameterError::new(name, message));
        if let Some(Err(error)) = self.family.as_deref().map(families::find) {
            fault("family", format!("is unknown: {error}"));
        }
        if has_duplicates(&self.layers) {
            fault("layers", "has a layer twice".to_owned());
        }
        if self.composition && (self.target() != Target::Both || !self.is_trained()) {
            fault("composition", "belongs to the target `both` and the method `linear`".to_owned());
        }
        if self.cut == "random" && self.max_tokens.is_some_and(|most| most < SHORTEST_CUT) {
            fault("max_tokens", format!("must be at least {SHORTEST_CUT} where games are cut at random"));
        }
        if !(self.lr > 0.0 && self.lr.is_finite()) {
            fault("lr", "must be a number above 0".to_owned());
        }
        if !(self.weight_decay >= 0.0 && self.weight_decay.is_finite()) {
            fault("weight_decay", "must be a number of at least 0".to_owned());
        }
        for (name, value) in [("beta1", self.beta1), ("beta2", self.beta2), ("warmup_share", self.warmup_share)] {
            if !(0.0..1.0).contains(&value) {
                fault(name, "must be a number from 0 to below 1".to_owned());
            }
        }
        faults
    }

    /// Parameters without effect with these values.
    pub fn unused_parameters(&self) -> Vec<&'static str> {
        let of_training = ["epochs", "batch_size", "lr", "beta1", "beta2", "weight_decay", "warmup_share"];
        let mut unused = if self.is_trained() { Vec::new() } else { of_training.to_vec() };
        if self.network != "untrained" {
            unused.push("untrained_seed");
        }
        unused
    }

    /// Returns the labels of a square that are read.
    pub fn target(&self) -> Target {
        Target::named(&self.target).unwrap_or(Target::Both)
    }

    /// True if linear probes are trained, and are no differences.
    pub fn is_trained(&self) -> bool {
        self.method == "linear"
    }

    /// The weights that the model has.
    pub fn weights_source(&self) -> WeightsSource {
        match self.network.as_str() {
            "untrained" => WeightsSource::Untrained { seed: self.untrained_seed },
            _ => WeightsSource::Trained,
        }
    }

    /// The type to which operands of matrix products are rounded.
    pub fn precision(&self) -> Precision {
        Precision::named(&self.precision).unwrap_or_default()
    }

    /// True if rows of a model of this family are divided by their root mean square.
    pub fn divides(&self, family: &str) -> bool {
        match self.normalise.as_str() {
            "none" => false,
            "rms" => true,
            _ => family != "gpt",
        }
    }

    /// Constants of the optimiser.
    pub fn adamw(&self) -> AdamWOptions {
        AdamWOptions { beta1: self.beta1, beta2: self.beta2, epsilon: 1e-8, weight_decay: self.weight_decay }
    }

    /// The learning rate of update `step` of `steps`, counted from 0.
    pub fn rate(&self, step: u64, steps: u64) -> f64 {
        let warmup = (self.warmup_share * steps as f64).round() as u64;
        if step < warmup {
            return self.lr * (0.1 + 0.9 * step as f64 / warmup as f64);
        }
        Schedule { shape: Shape::Cosine, rate: self.lr, warmup, horizon: steps, floor: 0.0 }.at(step)
    }
}
