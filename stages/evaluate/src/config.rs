//! Parameters of `evaluate`.

use std::collections::BTreeMap;

use cwm_contract::{ParameterError, Type, parameters};
use cwm_encoding::EnPassant;
use cwm_models::{Precision, families};

/// What `batch_tokens` is unless it is given.
const BATCH_TOKENS: u64 = 2_048;

parameters! {
    /// What `evaluate` takes.
    pub struct Config {
        /// The family that the checkpoint must have. Naming it makes the result rest on that family's code alone.
        pub family: Option<String> = None,
        /// Options of the family in place of the checkpoint's own; only such as change how the model is computed, and not
        /// what it is: `scan: sequential` of SLiCE.
        pub options: BTreeMap<String, String> = BTreeMap::new(),
        /// Padded tokens that go through the model at once; games of like length go together.
        pub batch_tokens: u64 = BATCH_TOKENS, kind = Type::Integer { min: 1, max: 1 << 30 },
        /// When the en passant labels are set: `always` after a double push, or `legal`, only where a capture is.
        pub en_passant: String = "always".into(), kind = Type::Choice(&["always", "legal"]),
        /// What operands of matrix products are rounded to, whatever the model was trained in: `fp32` (nothing), `tf32`
        /// or `bf16`.
        pub precision: String = "fp32".into(), kind = Type::Choice(Precision::NAMES),
        /// How many games, the first ones, are written as boards: what is true of each position beside what is believed.
        pub board_games: u64 = 2, kind = Type::Integer { min: 0, max: 100 },
        /// Of predictions: what tables call their model.
        pub name: Option<String> = None,
        /// Of predictions: the size of their model, such as `d128/l1`; any text.
        pub size: Option<String> = None,
        /// Of predictions: the number of parameters of their model.
        pub parameters: Option<u64> = None,
    }
}

impl Config {
    /// What is wrong with the values.
    pub fn faults(&self) -> Vec<ParameterError> {
        let mut faults = Vec::new();
        if let Some(family) = &self.family
            && let Err(error) = families::find(family)
        {
            faults.push(ParameterError::new("family", format!("is unknown: {error}")));
        }
        if let (Some(other), Some(parameter)) = (self.of_predictions(), self.of_checkpoint()) {
            faults
                .push(ParameterError::new(parameter, format!("belongs to checkpoints, and `{other}` to predictions")));
        }
        faults
    }

    /// What operands of matrix products are rounded to.
    pub fn precision(&self) -> Precision {
        Precision::named(&self.precision).unwrap_or_default()
    }

    /// How en passant labels are set.
    pub fn en_passant(&self) -> EnPassant {
        if self.en_passant == "legal" { EnPassant::Legal } else { EnPassant::Always }
    }

    /// The first parameter that only predictions have a use for, if one is given.
    pub fn of_predictions(&self) -> Option<&'static str> {
        let given =
            [("name", self.name.is_some()), ("size", self.size.is_some()), ("parameters", self.parameters.is_some())];
        given.iter().find(|(_, given)| *given).map(|(name, _)| *name)
    }

    /// The first parameter that only a checkpoint has a use for, if one is given as something else than its default.
    pub fn of_checkpoint(&self) -> Option<&'static str> {
        let given = [
            ("family", self.family.is_some()),
            ("options", !self.options.is_empty()),
            ("batch_tokens", self.batch_tokens != BATCH_TOKENS),
            ("precision", self.precision() != Precision::default()),
        ];
        given.iter().find(|(_, given)| *given).map(|(name, _)| *name)
    }
}
