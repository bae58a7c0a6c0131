//! Diagnostics for machines.

use serde::Serialize;

use super::{Diagnostics, Place};

/// One fault, as `--json` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiagnosticReport {
    /// The problem.
    pub message: String,
    /// Its place, if it has one in a text.
    pub at: Option<NamedPlace>,
    /// Other places that matter.
    pub related: Vec<NamedPlace>,
    /// The remedy.
    pub hint: Option<String>,
}

/// A place with the name of its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamedPlace {
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
    /// Returns all diagnostics, for `--json`.
    pub fn reports(&self) -> Vec<DiagnosticReport> {
        let named = |place: Place, label: &String| {
            let file = self.sources.get(place).map(|source| source.name.clone()).unwrap_or_default();
            let Place { line, column, start, end, .. } = place;
            NamedPlace { file, line, column, start, end, label: label.clone() }
        };
        self.iter()
            .map(|diagnostic| DiagnosticReport {
                message: diagnostic.message.clone(),
                at: diagnostic.place.map(|place| named(place, &diagnostic.label)),
                related: diagnostic.related.iter().map(|(place, label)| named(*place, label)).collect(),
                hint: diagnostic.hint.clone(),
            })
            .collect()
    }
}
