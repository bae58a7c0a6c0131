//! Loads a plan from a file's bytes.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::Plan;
use super::build::build;
use super::parameters::{Folders, plain};
use super::unused_variables::find_unused;
use super::variables::{set_sources, variables};
use crate::spec::{self, LARGEST};
use cwm_core::{Diagnostic, Diagnostics, Place, Registry, Source, Sources};

/// Reads the pipeline `file` with `sets` (name and value of each `--set`) and resolves it.
///
/// # Errors
/// Everything that is wrong with it, in the order of the text.
pub fn load(file: &Path, sets: &[(String, String)], registry: &Registry) -> Result<Plan, Diagnostics> {
    let name = file.display().to_string();
    let nothing = || {
        let mut sources = vec![Source { name: name.clone(), text: String::new() }];
        sources.extend(set_sources(sets));
        Diagnostics::new(Sources::new(sources))
    };
    let fail = |message: String, hint: Option<&str>| {
        let mut problems = nothing();
        problems.push(Diagnostic::nowhere(message).maybe_hint(hint.map(str::to_owned)));
        problems
    };
    let bytes = read(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => fail(
            format!("there is no pipeline file {name}"),
            Some("name it: `cwm run FILE.yaml`; without a name it is pipeline.yaml in the current folder"),
        ),
        std::io::ErrorKind::FileTooLarge => {
            fail(format!("{name} is longer than {} MiB and no pipeline file", LARGEST >> 20), None)
        }
        _ => fail(format!("cannot read the pipeline file {name}: {error}"), None),
    })?;
    let (absolute, current) = std::path::absolute(file)
        .and_then(|absolute| Ok((without_parents(plain(&absolute))?, std::env::current_dir()?)))
        .map_err(|error| fail(format!("cannot determine the folder of {name}: {error}"), None))?;
    let (text, fault) = text(bytes);
    let mut sources = vec![Source { name, text }];
    sources.extend(set_sources(sets));
    let mut problems = Diagnostics::new(Sources::new(sources));
    if let Some(fault) = fault {
        problems.push(fault);
        return Err(problems);
    }
    let folder = absolute.parent().map_or_else(|| PathBuf::from("/"), Path::to_path_buf);
    resolve(absolute, Folders { file: folder, current }, sets, registry, problems)
}

/// The file with a path that has no `..`, which might stand behind a link; else as it was named.
fn without_parents(file: PathBuf) -> std::io::Result<PathBuf> {
    if !file.components().any(|part| part == std::path::Component::ParentDir) {
        return Ok(file);
    }
    match (file.parent(), file.file_name()) {
        (Some(folder), Some(name)) => Ok(std::fs::canonicalize(folder)?.join(name)),
        _ => Ok(file),
    }
}

/// The steps after reading; `problems` holds the text and has none yet.
pub(super) fn resolve(
    file: PathBuf,
    folders: Folders,
    sets: &[(String, String)],
    registry: &Registry,
    mut problems: Diagnostics,
) -> Result<Plan, Diagnostics> {
    let sources = problems.sources.clone();
    let start = Place { source: 0, start: 0, end: 0, line: 1, column: 1 };
    let text = sources.get(start).map_or("", |source| source.text.as_str());
    let root = match spec::parse_yaml(text, 0) {
        Ok(root) => root,
        Err(fault) => {
            problems.push(*fault);
            return Err(problems);
        }
    };
    let Some(spec) = spec::read(&root, &mut problems) else { return Err(problems) };
    let variables = variables(&spec.vars, sets, &mut problems);
    let built = build(&spec, &variables, registry, &folders, &mut problems);
    problems.into_result(Plan {
        file,
        folder: folders.file,
        sets: !sets.is_empty(),
        stages: built.stages,
        cells: built.cells,
        exports: built.exports,
        unused_variables: find_unused(&root, &spec.vars),
        sources,
    })
}

fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(file)?.take(LARGEST as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > LARGEST { Err(std::io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// The text, and what is wrong where it is not UTF-8 (up to there the bytes of the text are those of the file).
fn text(bytes: Vec<u8>) -> (String, Option<Diagnostic>) {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return (text, None),
        Err(error) => error,
    };
    let at = error.utf8_error().valid_up_to();
    let byte = error.as_bytes().get(at).copied().unwrap_or_default();
    let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
    let place = Place::in_text(0, &text, at..at + char::REPLACEMENT_CHARACTER.len_utf8());
    let fault =
        Diagnostic::at(place, format!("this file is not UTF-8: byte {at} is 0x{byte:02x}")).hint("save it as UTF-8");
    (text, Some(fault))
}
