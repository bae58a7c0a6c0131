//! Finds the external files that a plan reads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cwm_contract::{ParameterSpec, Type, Values};

use super::parameters::{each_path, first_sentence};
use super::{ArtifactOrigin, Body, Cell, Plan};
use cwm_core::files::{is_device, is_stream, path_of_descriptor};
use cwm_core::{Diagnostic, Diagnostics, Place};

/// The hint for a folder in place of a file.
const IN_PLACE_OF_A_FOLDER: &str = "name a file; where several are taken, a list of files; for all files in a folder, a command \
                                    has `deps: [\"FOLDER/**\"]`";

/// An external file, where a plan names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReference {
    pub place: Place,
    /// The place of the path itself, which may be a variable, an axis or `--set`.
    pub value_place: Place,
    /// The name and description of the parameter that names the file; `None` if none does.
    pub meaning: Option<String>,
    /// True if it may be a pipe, which a run reads into the store first: not a secret, which must not lie there, nor a
    /// dependency, which has a name.
    pub may_be_piped: bool,
}

impl Plan {
    /// Returns every external file that these cells name as an input, a parameter or a dependency, with its place.
    pub fn external_files(&self, cells: &[usize]) -> BTreeMap<PathBuf, FileReference> {
        let mut files = BTreeMap::new();
        let mut add = |path: PathBuf, reference: FileReference| {
            let may_be_piped = reference.may_be_piped;
            files.entry(path).or_insert(reference).may_be_piped &= may_be_piped;
        };
        let at = |place| FileReference { place, value_place: place, meaning: None, may_be_piped: true };
        for cell in cells.iter().filter_map(|&cell| self.cells.get(cell)) {
            for source in cell.inputs.iter().flat_map(|input| &input.sources) {
                if let ArtifactOrigin::File(path) = &source.from {
                    add(path.clone(), at(source.place));
                }
            }
            if let Body::Command(command) = &cell.body {
                let dependency = || FileReference { may_be_piped: false, ..at(cell.place) };
                command.deps.iter().for_each(|name| add(self.folder.join(name), dependency()));
            }
            read_parameter_paths(cell, |spec, kind, path| {
                // A folder's files are listed when the key is made, which reports what is wrong with them.
                if folder_endings(kind, path).is_none() {
                    let (place, value_place) = cell
                        .explicit
                        .get(spec.name)
                        .map_or((cell.place, cell.place), |written| (written.place, written.value_place));
                    let meaning = Some(format!("`{}` is: {}", spec.name, first_sentence(&spec.doc)));
                    let may_be_piped = !matches!(kind, Type::Secret { .. });
                    add(path.into(), FileReference { place, value_place, meaning, may_be_piped });
                }
            });
        }
        files
    }

    /// Returns every folder whose files these cells read, with the endings of their names.
    pub fn external_folders(&self, cells: &[usize]) -> BTreeMap<PathBuf, &'static [&'static str]> {
        let mut folders = BTreeMap::new();
        for cell in cells.iter().filter_map(|&cell| self.cells.get(cell)) {
            read_parameter_paths(cell, |_, kind, path| {
                folders.extend(folder_endings(kind, path).map(|endings| (path.into(), endings)));
            });
        }
        folders
    }

    /// Returns the problems of [`Plan::external_files`] that do not exist or cannot be used, before any cell runs.
    pub fn missing_files(&self, cells: &[usize]) -> Diagnostics {
        let mut problems = Diagnostics::new(self.sources.clone());
        for (path, FileReference { place, value_place, meaning, may_be_piped }) in self.external_files(cells) {
            let shown = path.display();
            let problem = match std::fs::metadata(&path) {
                Err(error) => {
                    let of_set = "paths in `--set` are relative to the current folder; `ls` lists it";
                    let of_set = value_place.is_set().then(|| of_set.to_owned());
                    let hints = of_set.into_iter().chain(meaning).collect::<Vec<_>>().join("; ");
                    let is_missing = error.kind() == std::io::ErrorKind::NotFound && !hints.is_empty();
                    Diagnostic::at(place, format!("cannot read {shown}: {error}"))
                        .maybe_hint(is_missing.then_some(hints))
                }
                Ok(found) if found.is_dir() => {
                    Diagnostic::at(place, format!("cannot read {shown} as a file: it is a folder"))
                        .hint(IN_PLACE_OF_A_FOLDER)
                }
                Ok(_) if !may_be_piped && is_stream(&path) => {
                    Diagnostic::at(place, format!("{shown} is a pipe or a device, which can be read only once"))
                        .hint("name a plain file")
                }
                Ok(_) if is_device(&path) => {
                    Diagnostic::at(place, format!("{shown} is a device, and neither a file nor a pipe"))
                        .hint("name a file or a pipe, such as `<(zcat games.pgn.gz)`")
                }
                Ok(_) => continue,
            };
            problems.push(match value_place == place {
                true => problem,
                false => problem.related(value_place, "its value comes from here"),
            });
        }
        problems.sort();
        problems
    }

    /// Returns the first pipe that a cell names. A device such as `/dev/null` is none, as no run reads it.
    pub fn pipe_of(&self, cell: usize) -> Option<PathBuf> {
        self.external_files(&[cell]).into_keys().find(|path| is_stream(path) && !is_device(path))
    }

    /// Replaces descriptors of this process (`/dev/stdin`) by the plain files that they are: other processes have other
    /// descriptors.
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
                if let ArtifactOrigin::File(path) = &mut source.from
                    && let Some(other) = files.get(path)
                {
                    path.clone_from(other);
                }
            }
            each_parameter_path(&cell.body, &mut cell.values, |_, kind, path| {
                if let (Some(other), false) = (files.get(Path::new(path)), matches!(kind, Type::Secret { .. })) {
                    *path = other.to_string_lossy().into_owned();
                }
            });
        }
    }
}

/// Visits paths like [`each_parameter_path`], without changing any. Of a command, whose parameters name no files,
/// nothing is copied.
fn read_parameter_paths(cell: &Cell, mut visit: impl FnMut(&ParameterSpec, &Type, &str)) {
    if cell.stage().is_some() {
        each_parameter_path(&cell.body, &mut cell.values.clone(), |spec, kind, path| visit(spec, kind, path));
    }
}

/// Visits each path in the parameters of a cell: the parameter, the type of the path and the path.
fn each_parameter_path(body: &Body, values: &mut Values, mut visit: impl FnMut(&ParameterSpec, &Type, &mut String)) {
    let Body::Stage(stage) = body else { return };
    for spec in stage.parameters() {
        if let Some(value) = values.get_mut(spec.name) {
            each_path(&spec.kind, None, value, &mut |kind, _, path| visit(&spec, kind, path));
        }
    }
}

/// Returns the endings of the files that are meant by a folder. None for the path of a file.
fn folder_endings(kind: &Type, path: &str) -> Option<&'static [&'static str]> {
    match kind {
        Type::Files { endings } if Path::new(path).is_dir() => Some(endings),
        _ => None,
    }
}
