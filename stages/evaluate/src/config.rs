//! Parameters of `evaluate`.

use std::collections::BTreeMap;

use cwm_contract::{ParameterError, Type, parameters};
use cwm_encoding::EnPassant;
use cwm_models::{Precision, families};

/// The default of `batch_tokens`.
const BATCH_TOKENS: u64 = 2_048;

parameters! {
    /// Parameters of `evaluate`.
    pub struct Config {
        /// The family that the checkpoint must have. If it is given, the result depends on the code of that family
        /// only.
        pub family: Option<String> = None,
        /// Options of the family in place of the checkpoint's own; only those that change how the model is computed,
        /// and not the model: `scan: sequential` of SLiCE.
        pub options: BTreeMap<String, String> = BTreeMap::new(),
        /// Largest number of padded tokens in one pass through the model; games of similar length go together.
        pub batch_tokens: u64 = BATCH_TOKENS, kind = Type::Integer { min: 1, max: 1 << 30 },
        /// When the en passant labels are set: `always` after a double push, or `legal`, only where a capture is.
        pub en_passant: String = "always".into(), kind = Type::Choice(&["always", "legal"]),
        /// Type to which operands of matrix products are rounded, independent of the training: `fp32` (none), `tf32` or
        /// `bf16`.
        pub precision: String = "fp32".into(), kind = Type::Choice(Precision::NAMES),
        /// Number of games, the first ones, that are written as boards: each position with its prediction.
        pub board_games: u64 = 2, kind = Type::Integer { min: 0, max: 100 },
        /// Write the predicted labels of all positions as `predictions`, for the player `world_model` of `answer` and for other
        /// programs. The games go through the model twice.
        pub keep_predictions: bool = false,
        /// Name of the test set in tables, as in `with: { test: random_uniform }`. The default is the value of the axis
        /// `test`, and `held_out` without such an axis. `held_out` and `random_uniform` are the paper's test sets; any
        /// other name is a further shift.
        pub test: Option<String> = None,
        /// Name of the model in tables; for predictions only.
        pub name: Option<String> = None,
        /// Size of the model, such as `d128/l1`, any text; for predictions only.
        pub size: Option<String> = None,
        /// Number of parameters of the model; for predictions only.
        pub parameters: Option<u64> = None,
    }
}

impl Config {
    /// Returns the faults of the values.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut faults = Vec::new();
        if let Some(family) = &self.family
            && let Err(error) = families::find(family)
        {
            faults.push(ParameterError::new("family", format!("is unknown: {error}")));
        }
        if let (Some(other), Some(parameter)) = (self.predictions_only_parameter(), self.checkpoint_only_parameter()) {
            faults
                .push(ParameterError::new(parameter, format!("belongs to checkpoints, and `{other}` to predictions")));
        }
        faults
    }

    /// Parameters without effect with these values: results from before `keep_predictions` existed keep their keys.
    pub fn unused_parameters(&self) -> Vec<&'static str> {
        if self.keep_predictions { Vec::new() } else { vec!["keep_predictions"] }
    }

    /// Returns the type to which operands of matrix products are rounded.
    pub fn precision(&self) -> Precision {
        Precision::named(&self.precision).unwrap_or_default()
    }

    /// Returns the rule of en passant labels.
    pub fn en_passant(&self) -> EnPassant {
        if self.en_passant == "legal" { EnPassant::Legal } else { EnPassant::Always }
    }

    /// The first parameter that only predictions have a use for, if one is given.
    pub fn predictions_only_parameter(&self) -> Option<&'static str> {
        let set =
            [("name", self.name.is_some()), ("size", self.size.is_some()), ("parameters", self.parameters.is_some())];
        set.iter().find(|(_, set)| *set).map(|(name, _)| *name)
    }

    /// The first parameter that only a checkpoint has a use for, if one is given as something else than its default.
    pub fn checkpoint_only_parameter(&self) -> Option<&'static str> {
        let set = [
            ("family", self.family.is_some()),
            ("options", !self.options.is_empty()),
            ("batch_tokens", self.batch_tokens != BATCH_TOKENS),
            ("precision", self.precision() != Precision::default()),
            ("keep_predictions", self.keep_predictions),
        ];
        set.iter().find(|(_, set)| *set).map(|(name, _)| *name)
    }
}
