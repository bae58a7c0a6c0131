//! Finds what a command names and reads: a model, linear probes, items.

use std::path::{Path, PathBuf};

use cwm_contract::Format;

use crate::cli::PipelineArguments;
use crate::workspace::Workspace;
use cwm_core::{Error, list_some, shell_quote};
use cwm_pipeline::plan::{Cell, Plan, StagePlan};

/// The most stages that a hint lists.
const MAX_STAGES: usize = 8;

/// What a command takes from a stage, a folder or a file.
pub struct WantedOutput {
    format: Format,
    /// The file by which its folder is known, if it is one.
    file: Option<&'static str>,
    /// Whether the name of any file is taken as it stands.
    takes_files: bool,
    /// Its name, without and with an article.
    names: (&'static str, &'static str),
    /// What else a command takes, if no stage has it.
    instead: &'static str,
}

pub const CHECKPOINT: WantedOutput = WantedOutput {
    format: Format::CHECKPOINT,
    file: Some("model.json"),
    takes_files: true,
    names: ("checkpoint", "a checkpoint"),
    instead: "no stage of this pipeline has one: name a checkpoint's folder, which `cwm model import` makes of another \
              program's file",
};

pub const PROBES: WantedOutput = WantedOutput {
    format: Format::PROBES,
    file: Some("probes.json"),
    takes_files: false,
    names: ("linear probes", "linear probes"),
    instead: "no stage of this pipeline has any: name their folder",
};

pub const ITEMS: WantedOutput = WantedOutput {
    format: Format::ITEMS,
    file: None,
    takes_files: true,
    names: ("items", "items"),
    instead: "no stage of this pipeline has any: name a file of items",
};

/// Returns the path of what is wanted: the folder or file that is named, or the output of a stage in the store. `command` is what
/// hints repeat.
///
/// # Errors
/// There is no such thing.
pub fn find(
    store: Option<&Path>,
    name: &str,
    pipeline: &PipelineArguments,
    command: &str,
    wanted: &WantedOutput,
) -> Result<PathBuf, Error> {
    let path = Path::new(name);
    let plain = wanted.names.0;
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
    let hint = || with_output(plan, command, wanted);
    if let Ok(cells) = plan.select(name)
        && !cells.iter().any(|&cell| has_output(&plan.cells[cell], wanted))
    {
        return Err(Error::usage(format!("{name} has no {plain} among its outputs")).hint(hint()));
    }
    let outputs = plan.select_outputs(name, Some(&wanted.format))?;
    let (index, port) = workspace.single_output(name, outputs)?;
    let (output, path) = workspace.stored_output(name, index, &port)?;
    if output.format != wanted.format {
        let message = format!("{name} is of format {}, and no {plain}", output.format);
        return Err(Error::usage(message).hint(hint()));
    }
    Ok(path)
}

fn has_output(cell: &Cell, wanted: &WantedOutput) -> bool {
    cell.outputs.iter().any(|output| output.format == wanted.format)
}

/// Returns the hint that lists the stages with what is wanted, with a command for the first.
fn with_output(plan: &Plan, command: &str, wanted: &WantedOutput) -> String {
    let has_one = |&cell: &usize| has_output(&plan.cells[cell], wanted);
    let first_cell = |stage: &StagePlan| stage.cells.iter().copied().find(has_one);
    let cells: Vec<usize> = plan.stages.iter().filter_map(first_cell).collect();
    let Some(&first) = cells.first() else { return wanted.instead.to_owned() };
    let stages = list_some(cells.iter().map(|&cell| &plan.cells[cell].label.stage), MAX_STAGES);
    let first = shell_quote(&plan.cells[first].label.to_string());
    format!("stages with {}: {stages}; `{command} {first}` takes the first", wanted.names.1)
}
