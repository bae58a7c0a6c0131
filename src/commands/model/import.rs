//! `cwm model import`: converts a model of another program to a checkpoint.

use cwm_contract::ModelHints;
use fs_err as fs;

use crate::cli::ImportArguments;
use crate::output::{is_json, print, print_json};
use crate::registry::require_model_tools;
use cwm_core::{Error, folder_of};

/// Runs `cwm model import`.
///
/// # Errors
/// The file holds no model that is known, or several; the folder is there; an operation on the disk fails; or this build
/// cannot do it.
pub fn run(arguments: &ImportArguments) -> Result<(), Error> {
    if fs::metadata(&arguments.file).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return Err(Error::usage(format!("there is no file {}", arguments.file.display())));
    }
    let model_tools = require_model_tools()?;
    let target = &arguments.folder;
    let is_empty_folder = fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_none());
    if target.exists() && !is_empty_folder {
        let error = Error::usage(format!("{} is there already", target.display()));
        return Err(error.hint("name another folder, or move that one away"));
    }
    let refused = |error: std::io::Error| Error::system(format!("cannot write the checkpoint: {error}"));
    let parent = folder_of(target);
    fs::create_dir_all(parent).map_err(refused)?;
    // Whole or not at all: written under another name, then renamed.
    let unfinished = tempfile::Builder::new().prefix(".cwm-import-").tempdir_in(parent).map_err(refused)?;
    let checkpoint = unfinished.path().join("checkpoint");
    fs::create_dir(&checkpoint).map_err(refused)?;
    let hints = ModelHints { form: arguments.form.clone(), ..arguments.hints.hints() };
    let summary = model_tools.import_model(&arguments.file, &hints, &checkpoint)?;
    fs::rename(&checkpoint, target).map_err(refused)?;
    if is_json() {
        return print_json(&summary.facts);
    }
    summary.lines.iter().for_each(|line| eprintln!("{line}"));
    print(&target.to_string_lossy())
}
