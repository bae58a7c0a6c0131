//! Files from outside that a plan reads.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cwm_contract::{SourceLocation, Type, Value};

use super::{Body, Origin, Plan};
use crate::diagnostics::{Diagnostic, Diagnostics, Place};

impl Plan {
    /// Every file from outside that these cells name, as an input, a parameter or a dependency; where it is written.
    pub fn outside_files(&self, cells: &[usize]) -> BTreeMap<PathBuf, Place> {
        let mut files = BTreeMap::new();
        for cell in cells.iter().filter_map(|&cell| self.cells.get(cell)) {
            for input in &cell.inputs {
                for source in &input.sources {
                    if let Origin::File(path) = &source.from {
                        files.entry(path.clone()).or_insert(input.place);
                    }
                }
            }
            let mut paths = Vec::new();
            match &cell.body {
                Body::Command(command) => {
                    paths.extend(command.deps.iter().map(|dependency| (dependency.path.clone(), cell.place)));
                }
                Body::Stage(stage) => {
                    for spec in stage.parameters() {
                        let place = cell.given.get(spec.name).copied().unwrap_or(cell.place);
                        if let Some(value) = cell.values.get(spec.name) {
                            named(&spec.kind, value, &mut |path| paths.push((path.into(), place)));
                        }
                    }
                }
            }
            for (path, place) in paths {
                files.entry(path).or_insert(place);
            }
        }
        files
    }

    /// Those of [`Plan::outside_files`] that are not there, to be told before anything runs.
    pub fn missing_files(&self, cells: &[usize]) -> Diagnostics {
        let mut problems = Diagnostics::new(self.sources.clone());
        for (path, place) in self.outside_files(cells) {
            if let Err(error) = std::fs::metadata(&path) {
                problems.push(Diagnostic::at(place, format!("cannot read {}: {error}", path.display())));
            }
        }
        problems.sort();
        problems
    }
}

fn named(kind: &Type, value: &Value, found: &mut dyn FnMut(&str)) {
    match (kind, value) {
        (Type::File | Type::Secret { .. }, Value::Text(path)) => found(path),
        (Type::FileOrUrl, Value::Text(path)) if !SourceLocation::is_url(path) => found(path),
        (Type::Optional(inner), value) => named(inner, value, found),
        (Type::List(inner), Value::List(values)) => values.iter().for_each(|value| named(inner, value, found)),
        (Type::Map(inner), Value::Map(values)) => values.values().for_each(|value| named(inner, value, found)),
        _ => (),
    }
}
