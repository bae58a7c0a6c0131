//! Loads a plan from a file's bytes.

use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

use super::Plan;
use super::build::build;
use super::parameters::{Folders, without_dots};
use super::unused::unused_variables;
use super::variables::{set_sources, set_values, variables};
use crate::spec;
use cwm_core::{Diagnostic, Diagnostics, Place, Problems, Registry, SourceText, SourceTexts};

/// A larger file is no pipeline.
const LARGEST: usize = 16 << 20;

/// Reads the pipeline `file` with `sets` (name and value of each `--set`) and resolves it.
///
/// # Errors
/// Everything that is wrong with it, in the order of the text.
pub fn load(file: &Path, sets: &[(String, String)], registry: &Registry) -> Result<Plan, Diagnostics> {
    let name = file.display().to_string();
    let fail = |message: String| Diagnostics::of(Diagnostic::without_place(message), SourceTexts::default());
    let bytes = read(file).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => fail(format!("{name} is longer than {} MiB and no pipeline file", LARGEST >> 20)),
        _ => fail(format!("cannot read the pipeline file {name}: {error}")),
    })?;
    let folders = || {
        let absolute = without_parents(without_dots(&std::path::absolute(file)?))?;
        let folder = absolute.parent().map_or_else(|| PathBuf::from("/"), Path::to_path_buf);
        Ok((absolute, Folders { file: folder, current: std::env::current_dir()? }))
    };
    let (absolute, folders) =
        folders().map_err(|error: io::Error| fail(format!("cannot determine the folder of {name}: {error}")))?;
    let sources = |text| SourceTexts::new([SourceText { name, text }].into_iter().chain(set_sources(sets)).collect());
    match String::from_utf8(bytes) {
        Ok(text) => resolve(absolute, folders, sets, registry, sources(text)),
        Err(error) => {
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            Err(Diagnostics::of(not_utf8(&error, &text), sources(text)))
        }
    }
}

/// The file with a path that has no `..`, which might stand behind a link; else as it was named.
fn without_parents(file: PathBuf) -> io::Result<PathBuf> {
    let has_parents = file.components().any(|part| part == std::path::Component::ParentDir);
    match (file.parent(), file.file_name()) {
        (Some(folder), Some(name)) if has_parents => Ok(std::fs::canonicalize(folder)?.join(name)),
        _ => Ok(file),
    }
}

/// Carries out the steps after reading.
pub(super) fn resolve(
    file: PathBuf,
    folders: Folders,
    sets: &[(String, String)],
    registry: &Registry,
    sources: SourceTexts,
) -> Result<Plan, Diagnostics> {
    let problems = Problems::new(sources.clone());
    let text = sources.get(Place::default()).map_or("", |source| source.text.as_str());
    let root = problems.ok(spec::parse_yaml(text, 0));
    let Some(spec) = root.and_then(|root| spec::read(&root, &problems)) else {
        return Err(problems.into_diagnostics());
    };
    let variables = variables(&spec.vars, sets, &problems);
    let (stages, cells, exports) = build(&spec, &variables, registry, &folders, &problems);
    problems.into_diagnostics().into_result(Plan {
        file,
        folder: folders.file,
        sets: set_values(sets),
        stages,
        cells,
        exports,
        unused_variables: unused_variables(&spec, &variables, &sources),
        sources,
    })
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    let file = std::fs::File::open(file)?;
    let mut bytes = Vec::with_capacity(file.metadata()?.len().min(LARGEST as u64) as usize + 1);
    file.take(LARGEST as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > LARGEST { Err(ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// Reports the first byte that is not UTF-8. Up to there the bytes of the text are those of the file.
fn not_utf8(error: &FromUtf8Error, text: &str) -> Diagnostic {
    let at = error.utf8_error().valid_up_to();
    let byte = error.as_bytes().get(at).copied().unwrap_or_default();
    let place = Place::in_text(0, text, at..at + char::REPLACEMENT_CHARACTER.len_utf8());
    Diagnostic::at(place, format!("this file is not UTF-8: byte {at} is 0x{byte:02x}")).hint("save it as UTF-8")
}
