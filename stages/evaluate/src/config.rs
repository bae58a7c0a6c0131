//! Parameters of `evaluate`.

use cwm_contract::{Fault, Type, parameters};
use cwm_encoding::EnPassant;
use cwm_models::families;

parameters! {
    /// What `evaluate` takes.
    pub struct Config {
        /// The family that the checkpoint must have. Naming it makes the result rest on that family's code alone.
        pub family: Option<String> = None,
        /// Padded tokens that go through the model at once; games of like length go together.
        pub batch_tokens: u64 = 2_048, kind = Type::Integer { min: 1, max: 1 << 30 },
        /// When the en passant labels are set: `always` after a double push, or `legal`, only where a capture is.
        pub en_passant: String = "always".into(), kind = Type::Choice(&["always", "legal"]),
        /// Arithmetic of the model.
        pub precision: String = "fp32".into(), kind = Type::Choice(&["fp32"]),
    }
}

impl Config {
    /// What is wrong with the values.
    pub fn faults(&self) -> Vec<Fault> {
        let family = self.family.as_ref().map(|family| families::find(family));
        match family {
            Some(Err(error)) => vec![Fault::new("family", format!("is unknown: {error}"))],
            _ => Vec::new(),
        }
    }

    /// How en passant labels are set.
    pub fn en_passant(&self) -> EnPassant {
        if self.en_passant == "legal" { EnPassant::Legal } else { EnPassant::Always }
    }
}
