//! What a model is made from: family, size and options.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ModelError, Size};

/// Everything that decides a model's shape and mathematics, but not its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    /// Name in the registry of [`crate::families`].
    pub family: String,
    /// Width and layers, `dN/lM`.
    #[serde(with = "as_text")]
    pub size: Size,
    /// Number of move tokens; the last is padding.
    pub vocabulary: usize,
    /// Probability of dropout while training, where the family has any.
    pub dropout: f64,
    /// The family's own options; what is not named has its default.
    pub options: BTreeMap<String, String>,
}

/// Larger vocabularies are not meant.
const LARGEST_VOCABULARY: usize = 1 << 20;

/// An option of a family.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Its name.
    pub name: &'static str,
    /// What it may be.
    pub values: OptionValues,
    /// One sentence for people, with the default.
    pub doc: &'static str,
}

/// What an option may be.
#[derive(Clone, Copy, Debug)]
pub enum OptionValues {
    /// One of these words; the first is the default.
    Words(&'static [&'static str]),
    /// A whole number of at least 1.
    Count,
}

impl Architecture {
    /// The value of an option of words; the first word when it is not given.
    pub fn word<'a>(&'a self, option: &OptionSpec) -> &'a str {
        match (self.options.get(option.name), option.values) {
            (Some(value), _) => value,
            (None, OptionValues::Words(words)) => words.first().copied().unwrap_or_default(),
            (None, OptionValues::Count) => "",
        }
    }

    /// The value of a counting option, if given.
    pub fn count(&self, option: &OptionSpec) -> Option<usize> {
        self.options.get(option.name).and_then(|value| value.parse().ok())
    }

    /// Refuses options that `known` does not have, or not with that value, dropout outside [0, 1), and vocabularies
    /// that cannot be meant.
    ///
    /// # Errors
    /// In words, with what is known.
    pub fn check(&self, known: &[OptionSpec]) -> Result<(), ModelError> {
        if !(0.0..1.0).contains(&self.dropout) {
            return Err(ModelError::Architecture(format!("dropout must be from 0 to below 1, not {}", self.dropout)));
        }
        if !(1..=LARGEST_VOCABULARY).contains(&self.vocabulary) {
            return Err(ModelError::Architecture(format!(
                "the vocabulary must have from 1 to {LARGEST_VOCABULARY} tokens, not {}",
                self.vocabulary
            )));
        }
        for (name, value) in &self.options {
            let Some(spec) = known.iter().find(|spec| spec.name == name) else {
                let names: Vec<_> = known.iter().map(|spec| spec.name).collect();
                return Err(ModelError::Architecture(format!(
                    "family `{}` has no option `{name}`; it has {}",
                    self.family,
                    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
                )));
            };
            let wanted = match spec.values {
                OptionValues::Words(words) if words.contains(&value.as_str()) => continue,
                OptionValues::Words(words) => format!("one of {}", words.join(", ")),
                OptionValues::Count if value.parse::<usize>().is_ok_and(|count| count > 0) => continue,
                OptionValues::Count => "a whole number of at least 1".to_owned(),
            };
            return Err(ModelError::Architecture(format!("option `{name}` must be {wanted}, not `{value}`")));
        }
        Ok(())
    }
}

mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::Size;

    pub fn serialize<S: Serializer>(size: &Size, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(size)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Size, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
