//! Diagnostics for machines.

use serde_json::{Value, json};

use super::{Diagnostic, Diagnostics, Place};

impl Diagnostics {
    /// Returns all diagnostics as `--json` prints them (docs/json.md): each place has the name of its text.
    pub fn reports(&self) -> Vec<Value> {
        let named = |place: Place, label: &str| {
            let Place { line, column, start, end, .. } = place;
            let file = self.sources.get(place).map_or("", |source| &source.name);
            json!({ "file": file, "line": line, "column": column, "start": start, "end": end, "label": label })
        };
        let report = |diagnostic: &Diagnostic| {
            let related = diagnostic.related.iter().map(|(place, label)| named(*place, label));
            json!({
                "message": diagnostic.message,
                "at": diagnostic.place.map(|place| named(place, &diagnostic.label)),
                "related": related.collect::<Vec<_>>(),
                "hint": diagnostic.hint,
            })
        };
        self.iter().map(report).collect()
    }
}
