//! Parameters of `alignment`.

use cwm_contract::{ParameterError, Type, parameters};
use cwm_inside::{WeightsSource, has_duplicates};
use cwm_models::{Precision, families};

parameters! {
    /// Parameters of `alignment`.
    pub struct Config {
        /// The family that the checkpoint must have. If it is given, the result depends on the code of that family only.
        pub family: Option<String> = None,
        /// Sites of the stream: 0 is after the embedding, l after block l. By default all.
        pub layers: Vec<u64> = Vec::new(),
        /// True if rows of the last layer are those after the model's final norm.
        pub normed: bool = false,
        /// The weights: those of the checkpoint (`trained`), or initial ones of the same architecture (`untrained`).
        pub network: String = "trained".into(), kind = Type::Choice(&["trained", UNTRAINED]),
        /// Seed of the initial weights of `untrained`.
        pub untrained_seed: u64 = 1,
        /// The comparison of classes: with random rows (`all`), rows of equal ply and phase (`matched`), or each in turn (`both`).
        pub population: String = "both".into(), kind = Type::Choice(&["all", "matched", "both"]),
        /// Random pairs of rows of different classes.
        pub pairs: u64 = 100_000, kind = Type::Integer { min: 2, max: 1 << 30 },
        /// Number of times that rows change places among the classes.
        pub permutations: u64 = 1_000, kind = Type::Integer { min: 1, max: 1 << 20 },
        /// Seed of pairs and permutations.
        pub seed: u64 = 0,
        /// Type to which operands of matrix products are rounded: `fp32` (none), `tf32` or `bf16`.
        pub precision: String = "fp32".into(), kind = Type::Choice(Precision::NAMES),
        /// Largest number of padded tokens in one pass through the model; games of similar length go together.
        pub batch_tokens: u64 = 2_048, kind = Type::Integer { min: 1, max: 1 << 30 },
    }
}

const UNTRAINED: &str = "untrained";

impl Config {
    /// The weights to compute with.
    pub fn weights_source(&self) -> WeightsSource {
        if self.network == UNTRAINED {
            WeightsSource::Untrained { seed: self.untrained_seed }
        } else {
            WeightsSource::Trained
        }
    }

    /// The type to which operands of matrix products are rounded.
    pub fn precision(&self) -> Precision {
        Precision::named(&self.precision).unwrap_or_default()
    }

    /// The faults of the values.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut faults = Vec::new();
        if let Some(Err(error)) = self.family.as_deref().map(families::find) {
            faults.push(ParameterError::new("family", format!("is unknown: {error}")));
        }
        if has_duplicates(&self.layers) {
            faults.push(ParameterError::new("layers", "has a layer twice".to_owned()));
        }
        faults
    }

    /// Parameters without effect with these values.
    pub fn unused_parameters(&self) -> Vec<&'static str> {
        if self.network == UNTRAINED { Vec::new() } else { vec!["untrained_seed"] }
    }
}
