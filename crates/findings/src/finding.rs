//! A number, or a row of numbers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::numbers;

/// Numbers about one thing inside a model, such as a linear probe of one layer. The fields are in the order of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// Upper ends of the intervals of those values that have one.
    #[serde(default, with = "numbers", skip_serializing_if = "BTreeMap::is_empty")]
    pub high: BTreeMap<String, f64>,
    /// The kind of measurement.
    pub kind: Kind,
    /// The site of the residual stream: 0 after the embedding, `l` after block `l`; none for all layers or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<u32>,
    /// Lower ends of the intervals of those values that have one.
    #[serde(default, with = "numbers", skip_serializing_if = "BTreeMap::is_empty")]
    pub low: BTreeMap<String, f64>,
    /// Family and size of the model, such as `gpt d64/l4`.
    pub model: String,
    /// The number of positions, rows, pairs or cases that the values are over.
    pub n: u64,
    /// Further names of the row, such as `intervention` and `eta`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, String>,
    /// `trained` or `untrained`.
    pub network: String,
    /// The numbers, by name.
    #[serde(with = "numbers")]
    pub values: BTreeMap<String, f64>,
}

/// A kind of measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The rate at which a word that the model expects continues a legal move.
    Legality,
    /// The accuracy of a linear probe or a contrastive difference that reads boards.
    Probe,
    /// Cosines of the linear probes of piece and colour, added, with that of both.
    Composition,
    /// The quality of a sparse autoencoder's reconstruction of rows.
    Reconstruction,
    /// The similarity of the rows of equal positions.
    Alignment,
    /// The expectations of a model after an edit of its residual stream.
    Edit,
    /// The shares of edits by legal move probability mass, in equal bins.
    Density,
    /// One edited position: the probability of each origin.
    Case,
}

impl Finding {
    /// A finding without names and values. `model` is family and size, `network` is `trained` or `untrained`, `n` is
    /// the number that the values are over.
    pub fn new(kind: Kind, model: impl Into<String>, network: impl Into<String>, layer: Option<u32>, n: u64) -> Self {
        let (model, network) = (model.into(), network.into());
        let [high, low, values] = [const { BTreeMap::new() }; 3];
        Finding { high, kind, layer, low, model, n, names: BTreeMap::new(), network, values }
    }

    /// Adds a name and returns the finding.
    pub fn name(mut self, name: &str, text: impl ToString) -> Self {
        self.names.insert(name.to_owned(), text.to_string());
        self
    }

    /// Adds a value and returns the finding.
    pub fn value(mut self, name: &str, value: f64) -> Self {
        self.values.insert(name.to_owned(), value);
        self
    }

    /// Adds a value and its interval, if it has one, and returns the finding.
    pub fn estimate(mut self, name: &str, value: f64, interval: Option<(f64, f64)>) -> Self {
        if let Some((low, high)) = interval {
            self.low.insert(name.to_owned(), low);
            self.high.insert(name.to_owned(), high);
        }
        self.value(name, value)
    }

    /// The text called `name`; empty if there is none.
    pub fn named(&self, name: &str) -> &str {
        self.names.get(name).map_or("", String::as_str)
    }

    /// The value called `name`.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.values.get(name).copied()
    }

    /// The interval of the value called `name`.
    pub fn interval(&self, name: &str) -> Option<(f64, f64)> {
        self.low.get(name).copied().zip(self.high.get(name).copied())
    }
}
