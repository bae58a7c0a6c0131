//! Parameters of `choose`.

use cwm_contract::{Type, parameters};
use cwm_models::Precision;

/// The default of `batch_tokens`.
const BATCH_TOKENS: u64 = 2_048;

parameters! {
    /// Parameters of `choose`.
    pub struct Config {
        /// Number of positions, the first ones of those that are not dropped; by default all.
        pub limit: Option<u64> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 1 << 40 })),
        /// Largest number of padded tokens in one pass through the model; positions of similar length go together.
        pub batch_tokens: u64 = BATCH_TOKENS, kind = Type::Integer { min: 1, max: 1 << 30 },
        /// Type to which operands of matrix products are rounded, independent of the training: `fp32` (none), `tf32` or
        /// `bf16`.
        pub precision: String = "fp32".into(), kind = Type::Choice(Precision::NAMES),
        /// Name of the model in tables; required for the choices of another program, and for these only.
        pub name: Option<String> = None,
        /// Size of the model, such as `1.3B`, any text; for choices of another program only.
        pub size: Option<String> = None,
        /// Number of parameters of the model; for choices of another program only.
        pub parameters: Option<u64> = None,
    }
}

impl Config {
    /// Returns the type to which operands of matrix products are rounded.
    pub fn precision(&self) -> Precision {
        Precision::named(&self.precision).unwrap_or_default()
    }

    /// A phrase that fits after the stage's name if the values do not suit its model: choices of another program, or else a
    /// checkpoint.
    pub fn problem_with(&self, is_foreign: bool) -> Option<String> {
        let of_choices =
            [("name", self.name.is_some()), ("size", self.size.is_some()), ("parameters", self.parameters.is_some())];
        let of_checkpoint = [
            ("batch_tokens", self.batch_tokens != BATCH_TOKENS),
            ("precision", self.precision() != Precision::default()),
        ];
        let set = |list: &[(&'static str, bool)]| list.iter().find(|(_, set)| *set).map(|(name, _)| *name);
        if !is_foreign {
            let parameter = set(&of_choices)?;
            return Some(format!("has a checkpoint, and `{parameter}` belongs to `choices`: a checkpoint has its own"));
        }
        if let Some(parameter) = set(&of_checkpoint) {
            return Some(format!("has `choices`, and `{parameter}` belongs to a checkpoint: no model is computed"));
        }
        let is_nameless = self.name.as_deref().is_none_or(|name| name.trim().is_empty());
        is_nameless.then(|| "has `choices`, and needs a `name` for their model in `with:`".to_owned())
    }
}
