//! Finds the files from outside that a plan reads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cwm_contract::{SourceLocation, Type, Value};

use super::{Body, Origin, Plan};
use cwm_core::files::{is_stream, path_of_descriptor};
use cwm_core::{Diagnostic, Diagnostics, Place};

/// A file from outside, where a plan names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileReference {
    /// Its place.
    pub place: Place,
    /// True if it may be a pipe, which a run reads into the store first: not a secret, which must not lie there, nor a
    /// dependency, which has a name.
    pub may_be_piped: bool,
}

impl Plan {
    /// Returns every file from outside that these cells name as an input, a parameter or a dependency, with its place.
    pub fn external_files(&self, cells: &[usize]) -> BTreeMap<PathBuf, FileReference> {
        let mut files = BTreeMap::new();
        let mut add = |path: PathBuf, place: Place, may_be_piped: bool| {
            let reference = files.entry(path).or_insert(FileReference { place, may_be_piped });
            reference.may_be_piped &= may_be_piped;
        };
        for cell in cells.iter().filter_map(|&cell| self.cells.get(cell)) {
            for input in &cell.inputs {
                for source in &input.sources {
                    if let Origin::File(path) = &source.from {
                        add(path.clone(), source.place, true);
                    }
                }
            }
            match &cell.body {
                Body::Command(command) => {
                    command.deps.iter().for_each(|dependency| add(dependency.path.clone(), cell.place, false));
                }
                Body::Stage(stage) => {
                    for spec in stage.parameters() {
                        let place = cell.given.get(spec.name).map_or(cell.place, |written| written.place);
                        let Some(value) = cell.values.get(spec.name) else { continue };
                        named(&spec.kind, &mut value.clone(), &mut |path, is_secret| {
                            add(path.as_str().into(), place, !is_secret);
                        });
                    }
                }
            }
        }
        files
    }

    /// Returns every folder whose files these cells read, with the endings of their names.
    pub fn external_folders(&self, cells: &[usize]) -> BTreeMap<PathBuf, &'static [&'static str]> {
        let mut folders = BTreeMap::new();
        for cell in cells.iter().filter_map(|&cell| self.cells.get(cell)) {
            let Body::Stage(stage) = &cell.body else { continue };
            for spec in stage.parameters() {
                if let Some(value) = cell.values.get(spec.name) {
                    named_folders(&spec.kind, value, &mut folders);
                }
            }
        }
        folders
    }

    /// Returns the problems of [`Plan::external_files`] that do not exist or cannot be used, before any cell runs.
    pub fn missing_files(&self, cells: &[usize]) -> Diagnostics {
        let mut problems = Diagnostics::new(self.sources.clone());
        for (path, FileReference { place, may_be_piped }) in self.external_files(cells) {
            let shown = path.display();
            problems.push(match std::fs::metadata(&path) {
                Err(error) => Diagnostic::at(place, format!("cannot read {shown}: {error}")),
                Ok(found) if found.is_dir() => {
                    Diagnostic::at(place, format!("{shown} is a folder")).hint(self.in_place_of_a_folder(&path))
                }
                Ok(_) if !may_be_piped && is_stream(&path) => {
                    Diagnostic::at(place, format!("{shown} is a pipe or a device, which can be read only once"))
                        .hint("name a plain file")
                }
                Ok(_) => continue,
            });
        }
        problems.sort();
        problems
    }

    /// Returns the hint for a folder in place of a file.
    fn in_place_of_a_folder(&self, path: &Path) -> String {
        let files = "name a file; where several are taken, a list of files";
        match path.strip_prefix(&self.folder).ok().and_then(Path::to_str).filter(|name| !name.is_empty()) {
            Some(name) => format!("{files}; for all files in it, a command has `deps: [\"{name}/**\"]`"),
            None => files.to_owned(),
        }
    }

    /// Returns the first pipe that a cell names.
    pub fn pipe_of(&self, cell: usize) -> Option<PathBuf> {
        self.external_files(&[cell]).into_keys().find(|path| is_stream(path))
    }

    /// Replaces descriptors of this process (`/dev/stdin`) by the plain files that they are: other processes have other descriptors.
    pub fn name_descriptors(&mut self) {
        let all: Vec<usize> = (0..self.cells.len()).collect();
        let named = self.external_files(&all).into_keys();
        let lasting: BTreeMap<PathBuf, PathBuf> =
            named.filter_map(|path| Some((path.clone(), path_of_descriptor(&path)?))).collect();
        self.replace_files(&lasting);
    }

    /// Replaces these files by others, wherever a cell names them. Labels stay.
    pub fn replace_files(&mut self, files: &BTreeMap<PathBuf, PathBuf>) {
        if files.is_empty() {
            return;
        }
        for cell in &mut self.cells {
            for source in cell.inputs.iter_mut().flat_map(|input| &mut input.sources) {
                if let Origin::File(path) = &mut source.from
                    && let Some(other) = files.get(path)
                {
                    path.clone_from(other);
                }
            }
            let Body::Stage(stage) = &cell.body else { continue };
            for spec in stage.parameters() {
                let Some(value) = cell.values.get_mut(spec.name) else { continue };
                named(&spec.kind, value, &mut |path, is_secret| {
                    if let (Some(other), false) = (files.get(Path::new(path)), is_secret) {
                        *path = other.to_string_lossy().into_owned();
                    }
                });
            }
        }
    }
}

/// Finds every folder in a value that means the files in it.
fn named_folders(kind: &Type, value: &Value, found: &mut BTreeMap<PathBuf, &'static [&'static str]>) {
    match (kind, value) {
        (Type::Files { endings }, Value::Text(path)) if Path::new(path).is_dir() => {
            found.insert(path.into(), endings);
        }
        (Type::List(inner) | Type::OneOrMany(inner), Value::List(values)) => {
            values.iter().for_each(|value| named_folders(inner, value, found));
        }
        (Type::Optional(inner) | Type::OneOrMany(inner), value) => named_folders(inner, value, found),
        (Type::Map(inner), Value::Map(values)) => {
            values.values().for_each(|value| named_folders(inner, value, found));
        }
        _ => (),
    }
}

/// Finds every path in a value. The flag is true for a secret.
fn named(kind: &Type, value: &mut Value, found: &mut dyn FnMut(&mut String, bool)) {
    match (kind, value) {
        (Type::File, Value::Text(path)) => found(path, false),
        // A folder's files are listed when the key is made, which says what is wrong with them.
        (Type::Files { .. }, Value::Text(path)) if !Path::new(path).is_dir() => found(path, false),
        (Type::Secret { .. }, Value::Text(path)) => found(path, true),
        (Type::FileOrUrl, Value::Text(path)) if !SourceLocation::is_url(path) => found(path, false),
        (Type::List(inner) | Type::OneOrMany(inner), Value::List(values)) => {
            values.iter_mut().for_each(|value| named(inner, value, found));
        }
        (Type::Optional(inner) | Type::OneOrMany(inner), value) => named(inner, value, found),
        (Type::Map(inner), Value::Map(values)) => values.values_mut().for_each(|value| named(inner, value, found)),
        _ => (),
    }
}
