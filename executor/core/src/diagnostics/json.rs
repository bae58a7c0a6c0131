//! Diagnostics for machines.

use serde::Serialize;

use super::{Diagnostics, Place};

/// One fault, as `--json` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The problem.
    pub message: String,
    /// Its place, if it has one in a text.
    pub at: Option<Located>,
    /// Other places that matter.
    pub related: Vec<Located>,
    /// The remedy.
    pub hint: Option<String>,
}

/// A place with the name of its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Located {
    /// The file, or `--set`.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// First byte of the text that is meant.
    pub start: u32,
    /// Byte after the last one.
    pub end: u32,
    /// A few words about this place; may be empty.
    pub label: String,
}

impl Diagnostics {
    /// All of them, for `--json`.
    pub fn reports(&self) -> Vec<Report> {
        self.iter()
            .map(|diagnostic| Report {
                message: diagnostic.message.clone(),
                at: diagnostic.place.map(|place| self.located(place, &diagnostic.label)),
                related: diagnostic.related.iter().map(|(place, label)| self.located(*place, label)).collect(),
                hint: diagnostic.hint.clone(),
            })
            .collect()
    }

    fn located(&self, place: Place, label: &str) -> Located {
        Located {
            file: self.sources.get(place).map(|source| source.name.clone()).unwrap_or_default(),
            line: place.line,
            column: place.column,
            start: place.start,
            end: place.end,
            label: label.to_owned(),
        }
    }
}
