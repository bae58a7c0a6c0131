//! Finds what a command names and reads: a model, linear probes, items.

use std::path::{Path, PathBuf};

use cwm_contract::Format;

use crate::cli::PipelineArguments;
use crate::workspace::Workspace;
use cwm_core::Error;

/// An output that a command takes from a stage, a folder or a file.
pub struct WantedOutput {
    format: Format,
    /// The file by which its folder is known, if it is one.
    file: Option<&'static str>,
    /// True if a file of any name is accepted.
    takes_files: bool,
    /// Its name.
    name: &'static str,
    /// The hint if a stage has no such output.
    hint: &'static str,
}

pub const CHECKPOINT: WantedOutput = WantedOutput {
    format: Format::CHECKPOINT,
    file: Some("model.json"),
    takes_files: true,
    name: "checkpoint",
    hint: "name a stage that has one, or a checkpoint's folder, which `cwm model import` makes of another program's file",
};

pub const PROBES: WantedOutput = WantedOutput {
    format: Format::PROBES,
    file: Some("probes.json"),
    takes_files: false,
    name: "linear probes",
    hint: "name a stage that has some, or their folder",
};

pub const ITEMS: WantedOutput = WantedOutput {
    format: Format::ITEMS,
    file: None,
    takes_files: true,
    name: "items",
    hint: "name a stage that has some, or a file of items",
};

/// Returns the path of what is wanted: the folder or file that is named, or the output of a stage in the store.
///
/// # Errors
/// There is no such thing.
pub fn find(
    store: Option<&Path>,
    name: &str,
    pipeline: &PipelineArguments,
    wanted: &WantedOutput,
) -> Result<PathBuf, Error> {
    let path = Path::new(name);
    let plain = wanted.name;
    if wanted.takes_files && path.is_file() || wanted.file.is_some_and(|file| path.join(file).is_file()) {
        return Ok(path.to_owned());
    }
    if let Some(file) = wanted.file.filter(|_| path.is_dir() && name.contains('/')) {
        return Err(Error::usage(format!("{} is no {plain}: it has no {file}", path.display())));
    }
    // No stage has such a name.
    if name.split('[').next().is_some_and(|stage| stage.contains('/')) {
        let what = if path.exists() { format!("is no {plain}") } else { "does not exist".to_owned() };
        return Err(Error::usage(format!("{} {what}", path.display())));
    }
    let workspace = Workspace::open_skipping_damaged(store, pipeline)?;
    let plan = &workspace.plan;
    let has_one = |cell: &usize| plan.cells[*cell].outputs.iter().any(|output| output.format == wanted.format);
    if let Ok(cells) = plan.select(name)
        && !cells.iter().any(has_one)
    {
        return Err(Error::usage(format!("{name} has no {plain} among its outputs")).hint(wanted.hint));
    }
    let outputs = plan.select_outputs(name, Some(&wanted.format))?;
    let (index, output_name) = workspace.single_output(name, outputs)?;
    let (output, path) = workspace.stored_output(name, index, &output_name)?;
    if output.format != wanted.format {
        let message = format!("{name} is of format {}, and no {plain}", output.format);
        return Err(Error::usage(message).hint(wanted.hint));
    }
    Ok(path)
}
