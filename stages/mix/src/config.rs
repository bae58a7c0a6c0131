//! Parameters of `mix`.

use std::collections::BTreeMap;

use cwm_contract::{Label, ParameterError, SourceFile, Type, parameters};

parameters! {
    /// The weight of each source, and the size of the mix.
    pub struct Config {
        /// The weight of each source, by the stage or cell that made it, such as `{"built[builder=best_move]": 0.5, kept: 0.5}`.
        /// Only their proportions count. Of a source without a weight nothing is taken.
        pub weights: BTreeMap<String, f64>,
        /// Tokens of what is learnt, the assistant's texts, at most.
        pub tokens: u64, kind = Type::Integer { min: 1, max: 1 << 50 },
        /// The `tokenizer.json` of the model that learns, which counts tokens, special ones left out; its bytes are part of the
        /// key. Without one, tokens are words, separated by white space.
        pub tokenizer: Option<SourceFile> = None,
        /// Seed of the order of examples.
        pub seed: i128 = 0,
    }
}

impl Config {
    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
        let is_weight = |weight: &f64| weight.is_finite() && *weight >= 0.;
        let fault = if let Some((name, weight)) = self.weights.iter().find(|(_, weight)| !is_weight(weight)) {
            format!("has the weight {weight} of `{name}`: a weight is a number from 0 on")
        } else if self.weights.values().all(|weight| *weight == 0.) {
            "has no weight above 0".to_owned()
        } else if let Err(fault) = self.labels() {
            format!("has {fault}")
        } else {
            return Vec::new();
        };
        vec![ParameterError::new("weights", fault)]
    }

    /// Returns the fault of a weight that is of none of these sources.
    pub fn check_sources(&self, sources: &[&Label]) -> Option<ParameterError> {
        let weights = self.labels().ok()?;
        let (unknown, _) = weights.iter().find(|(label, _)| !sources.contains(&label))?;
        let sources: Vec<String> = sources.iter().map(|label| format!("`{label}`")).collect();
        let hint = format!("the sources are {}", sources.join(", "));
        Some(ParameterError::new("weights", format!("has `{unknown}`, which is no source")).maybe_hint(Some(hint)))
    }

    /// The sources with their weights.
    ///
    /// # Errors
    /// A name is no label.
    pub fn labels(&self) -> Result<Vec<(Label, f64)>, String> {
        self.weights.iter().map(|(name, weight)| Ok((name.parse()?, *weight))).collect()
    }
}
