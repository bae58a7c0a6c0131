//! Numbers by name. JSON has none that are not finite; these are text, as in `curves`.

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What stands for the numbers that JSON lacks.
const TEXTS: [(&str, f64); 3] = [("inf", f64::INFINITY), ("-inf", f64::NEG_INFINITY), ("nan", f64::NAN)];

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Number {
    Finite(f64),
    Text(String),
}

/// Writes a map of numbers.
///
/// # Errors
/// The file cannot be written.
pub fn serialize<S: Serializer>(numbers: &BTreeMap<String, f64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(numbers.iter().map(|(name, value)| (name, number(*value))))
}

fn number(value: f64) -> Number {
    let text = TEXTS.iter().find(|(_, other)| value == *other || (value.is_nan() && other.is_nan()));
    text.map_or(Number::Finite(value), |(text, _)| Number::Text((*text).to_owned()))
}

/// Reads a map of numbers.
///
/// # Errors
/// A value is no number and none of the three texts.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, f64>, D::Error> {
    let value = |(name, number): (String, Number)| match number {
        Number::Finite(value) => Ok((name, value)),
        Number::Text(text) => match TEXTS.iter().find(|(known, _)| *known == text) {
            Some((_, value)) => Ok((name, *value)),
            None => Err(D::Error::custom(format!("`{name}` is `{text}`, which is no number"))),
        },
    };
    BTreeMap::<String, Number>::deserialize(deserializer)?.into_iter().map(value).collect()
}
