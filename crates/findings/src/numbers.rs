//! Numbers by name. JSON has none that are not finite; these are text, as in `curves`.

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};
use serde_json::Value;

/// The texts of the numbers that JSON lacks.
const TEXTS: [(&str, f64); 3] = [("inf", f64::INFINITY), ("-inf", f64::NEG_INFINITY), ("nan", f64::NAN)];

/// Writes a map of numbers.
///
/// # Errors
/// The file cannot be written.
pub fn serialize<S: Serializer>(numbers: &BTreeMap<String, f64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(numbers.iter().map(|(name, value)| (name, number(*value))))
}

fn number(value: f64) -> Value {
    let text = TEXTS.iter().find(|(_, other)| value == *other || (value.is_nan() && other.is_nan()));
    text.map_or(value.into(), |(text, _)| (*text).into())
}

/// Reads a map of numbers.
///
/// # Errors
/// A value is no number and none of the three texts.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, f64>, D::Error> {
    let value = |(name, number): (String, Value)| {
        let text = |text: &str| TEXTS.iter().find(|(known, _)| *known == text).map(|(_, value)| *value);
        let found = number.as_f64().or_else(|| number.as_str().and_then(text));
        found.map(|value| (name.clone(), value)).ok_or_else(|| {
            let shown = number.as_str().map_or_else(|| number.to_string(), str::to_owned);
            D::Error::custom(format!("`{name}` is `{shown}`, which is no number"))
        })
    };
    BTreeMap::<String, Value>::deserialize(deserializer)?.into_iter().map(value).collect()
}
