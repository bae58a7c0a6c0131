//! Addresses of stages and of the cells of a matrix.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A stage, or one cell of its matrix: `model` or `model[family=slice,size=d32/l1]`.
///
/// Coordinates are in the order in which the pipeline names the axes; ordering and equality go by the text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// Name of the stage in the pipeline.
    pub stage: String,
    /// Axis and value of each coordinate; empty for a stage without a matrix.
    pub coordinates: Vec<(String, String)>,
}

impl Label {
    /// The label of a stage without a matrix.
    pub fn stage(name: impl Into<String>) -> Self {
        Label { stage: name.into(), coordinates: Vec::new() }
    }

    /// Its text as the name of a file: values such as sizes have slashes, which become `_`.
    pub fn file_name(&self) -> String {
        self.to_string().replace('/', "_")
    }

    /// The value of one axis.
    pub fn coordinate(&self, axis: &str) -> Option<&str> {
        self.coordinates.iter().find(|(name, _)| name == axis).map(|(_, value)| value.as_str())
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.stage)?;
        for (i, (axis, value)) in self.coordinates.iter().enumerate() {
            write!(f, "{}{axis}={value}", if i == 0 { "[" } else { "," })?;
        }
        if self.coordinates.is_empty() { Ok(()) } else { f.write_str("]") }
    }
}

impl FromStr for Label {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((stage, rest)) = text.split_once('[') else {
            return Ok(Label::stage(text));
        };
        let inside = rest.strip_suffix(']').ok_or_else(|| format!("`{text}` lacks its closing bracket"))?;
        let mut coordinates = Vec::new();
        for part in inside.split(',').filter(|part| !part.trim().is_empty()) {
            let (axis, value) =
                part.split_once('=').ok_or_else(|| format!("`{part}` in `{text}` is not of the form axis=value"))?;
            coordinates.push((axis.trim().to_owned(), value.trim().to_owned()));
        }
        Ok(Label { stage: stage.to_owned(), coordinates })
    }
}

impl PartialOrd for Label {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Label {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.to_string().cmp(&other.to_string())
    }
}

impl Serialize for Label {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Label {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_reads_back_as_written() {
        for text in ["model", "model[family=slice,size=d32/l1]"] {
            assert_eq!(text.parse::<Label>().unwrap().to_string(), text);
        }
        assert!("model[family".parse::<Label>().is_err());
    }
}
