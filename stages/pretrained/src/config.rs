//! Parameters of `pretrained`.

use std::collections::BTreeMap;

use cwm_contract::{ParameterError, SourceFile, Type, parameters};
use cwm_foreign::ImportHints;
use cwm_models::architecture::OptionSpec;
use cwm_models::{Size, families};

parameters! {
    /// Parameters of `pretrained`.
    pub struct Config {
        /// The file: one of `torch.save`, or of safetensors.
        pub source: SourceFile,
        /// The model's family, if names and shapes do not determine it. If it is given, the result depends on the code
        /// of that family only.
        pub family: Option<String> = None,
        /// Its expected size, such as `d128/l1`; another one is an error.
        pub size: Option<String> = None,
        /// Options of the family that shapes do not determine. A `gpt` needs `heads` and `gelu` unless its file shows them.
        pub options: BTreeMap<String, String> = BTreeMap::new(),
        /// Place of the parameters in the file, such as `model_state_dict`, if several models are in it.
        pub key: Option<String> = None,
        /// The form of the [sequences](formats.md#sequences) that it reads: with `words` it is a move model, with another form it
        /// answers with moves; without one it predicts labels.
        pub form: Option<String> = None, kind = Type::Optional(Box::new(Type::Choice(&["board", "prompt", "characters", "moves", "words"]))),
        /// Round float64 parameters that float32 cannot represent; otherwise they are an error.
        pub round: bool = false,
    }
}

impl Config {
    /// Returns the faults of the values.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut errors = Vec::new();
        let mut known: &[OptionSpec] = &[];
        match self.family.as_ref().map(|family| families::find(family)) {
            Some(Err(error)) => errors.push(ParameterError::new("family", format!("is unknown: {error}"))),
            Some(Ok(family)) => known = family.options,
            None if self.options.is_empty() => {}
            None => errors.push(ParameterError::new("options", "need a `family` to belong to")),
        }
        if let (Some(family), false) = (&self.family, errors.iter().any(|fault| fault.parameter == "family")) {
            let unknown = self.options.keys().find(|name| known.iter().all(|option| option.name != **name));
            errors
                .extend(unknown.map(|name| ParameterError::new("options", format!("`{name}` is none of `{family}`"))));
        }
        if let Some(Err(error)) = self.size.as_ref().map(|size| size.parse::<Size>()) {
            errors.push(ParameterError::new("size", error.to_string()));
        }
        errors
    }

    /// Returns the parameters as hints for readers of the file.
    pub fn hints(&self) -> ImportHints {
        ImportHints {
            family: self.family.clone(),
            size: self.size.as_ref().and_then(|size| size.parse().ok()),
            options: self.options.clone(),
            key: self.key.clone(),
            round: self.round,
            vocabulary: self.form.as_ref().and_then(|form| cwm_player::vocabulary(form).ok()),
        }
    }
}
