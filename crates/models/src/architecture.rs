//! The description that a model is made from: family, size and options.

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

/// The size of the largest vocabulary.
const LARGEST_VOCABULARY: usize = 1 << 20;

/// The largest count and width; sums and products of two of them fit 64 bits many times over.
const LARGEST_COUNT: usize = 65_536;

/// An option of a family.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Its name.
    pub name: &'static str,
    /// The values that it can have.
    pub values: OptionValues,
    /// One sentence for people, with the default.
    pub doc: &'static str,
}

/// The values that an option can have.
#[derive(Clone, Copy, Debug)]
pub enum OptionValues {
    /// One of these words; the first is the default.
    Choice(&'static [&'static str]),
    /// One of these words, the first being the default: ways to compute one and the same function of one and the same
    /// parameters, so that a model trained with one may be tested with another.
    Implementations(&'static [&'static str]),
    /// A whole number from 1 to 65,536.
    Count,
}

impl Architecture {
    /// The value of an option of words; the first word when it is not given.
    pub fn word<'a>(&'a self, option: &OptionSpec) -> &'a str {
        match (self.options.get(option.name), option.values) {
            (Some(value), _) => value,
            (None, OptionValues::Choice(words) | OptionValues::Implementations(words)) => {
                words.first().copied().unwrap_or_default()
            }
            (None, OptionValues::Count) => "",
        }
    }

    /// The value of a counting option, if given.
    pub fn count(&self, option: &OptionSpec) -> Option<usize> {
        self.options.get(option.name).and_then(|value| value.parse().ok())
    }

    /// Returns the model, computed with these options in place of its own.
    ///
    /// # Errors
    /// One of them is no option of the family, cannot have that value, or makes another model rather than another way to
    /// compute this one.
    pub fn with_options(&self, options: &BTreeMap<String, String>, known: &[OptionSpec]) -> Result<Self, ModelError> {
        let mut other = self.clone();
        other.options.extend(options.clone());
        other.check(known)?;
        let changed = |spec: &&OptionSpec| match spec.values {
            OptionValues::Implementations(_) => false,
            OptionValues::Choice(_) => self.word(spec) != other.word(spec),
            OptionValues::Count => self.count(spec) != other.count(spec),
        };
        match known.iter().find(changed) {
            Some(spec) => Err(ModelError::Architecture(format!(
                "option `{}` makes another model of family `{}`; it cannot be changed after training",
                spec.name, self.family
            ))),
            None => Ok(other),
        }
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
                OptionValues::Choice(words) | OptionValues::Implementations(words)
                    if words.contains(&value.as_str()) =>
                {
                    continue;
                }
                OptionValues::Choice(words) | OptionValues::Implementations(words) => {
                    format!("one of {}", words.join(", "))
                }
                OptionValues::Count if is_count(value) => continue,
                OptionValues::Count => format!("a whole number from 1 to {LARGEST_COUNT}"),
            };
            return Err(ModelError::Architecture(format!("option `{name}` must be {wanted}, not `{value}`")));
        }
        Ok(())
    }
}

/// Returns true if `value` is a count in its only spelling.
fn is_count(value: &str) -> bool {
    let is_plain = value.bytes().all(|byte| byte.is_ascii_digit()) && !value.starts_with('0');
    is_plain && value.parse().is_ok_and(|count| (1..=LARGEST_COUNT).contains(&count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families;
    use crate::heads::labels;

    #[test]
    fn a_model_is_computed_another_way_but_stays_the_same() {
        let architecture = |family: &str, options: &[(&str, &str)]| Architecture {
            family: family.to_owned(),
            size: "d16/l1".parse().unwrap(),
            vocabulary: 40,
            dropout: 0.0,
            options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        };
        let computed = |family: &str, given: &[(&str, &str)]| {
            let known = families::find(family).unwrap().options;
            let given = architecture(family, given).options;
            architecture(family, &[]).with_options(&given, known).map_err(|error| error.to_string())
        };
        let sequential = [("scan", "sequential")];
        assert_eq!(computed("slice", &sequential), Ok(architecture("slice", &sequential)));
        assert_eq!(
            computed("slice", &[("block", "4")]).unwrap_err(),
            "option `block` makes another model of family `slice`; it cannot be changed after training"
        );
        assert_eq!(
            computed("slice", &[("scan", "x")]).unwrap_err(),
            "option `scan` must be one of chunked, sequential, not `x`"
        );
        assert!(
            computed("transformer", &sequential).unwrap_err().starts_with("family `transformer` has no option `scan`")
        );
    }

    #[test]
    fn counts_that_cannot_be_meant_are_refused_before_anything_is_multiplied() {
        for family in families::FAMILIES {
            let counts = family.options.iter().filter(|option| matches!(option.values, OptionValues::Count));
            for option in counts {
                let built = |value: &str| {
                    labels::network(Architecture {
                        family: family.name.to_owned(),
                        size: "d64/l2".parse().unwrap(),
                        vocabulary: 40,
                        dropout: 0.0,
                        options: [(option.name.to_owned(), value.to_owned())].into(),
                    })
                };
                let (half, last) = ((usize::MAX / 2 + 1).to_string(), usize::MAX.to_string());
                for value in ["0", "-1", "+8", "08", "65537", "x", "", &half, &last, "99999999999999999999999"] {
                    assert_eq!(
                        built(value).unwrap_err().to_string(),
                        format!("option `{}` must be a whole number from 1 to 65536, not `{value}`", option.name)
                    );
                }
                // The largest is refused in words, or is a model.
                if let Ok(network) = built("65536") {
                    let shapes = network.layout().parameters().iter().map(|declared| &declared.shape);
                    let values = shapes.map(|shape| shape.iter().map(|&extent| extent as u128).product::<u128>());
                    assert_eq!(network.layout().total() as u128, values.sum::<u128>(), "{}", family.name);
                }
            }
        }
        // A model of the most that each number may be is too large to be one.
        let largest = Architecture {
            family: "slice".to_owned(),
            size: "d65536/l1024".parse().unwrap(),
            vocabulary: LARGEST_VOCABULARY,
            dropout: 0.0,
            options: [("block".to_owned(), "65536".to_owned())].into(),
        };
        let message = labels::network(largest).unwrap_err().to_string();
        assert!(message.starts_with("slice d65536/l1024 would have more than "), "{message}");
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
