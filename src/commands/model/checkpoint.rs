//! Finds the model that a command names.

use std::path::{Path, PathBuf};

use cwm_contract::Format;

use crate::cli::PipelineArguments;
use crate::workspace::Workspace;
use cwm_core::{Error, list_some, shell_quote};
use cwm_pipeline::plan::{Cell, Plan, StagePlan};

/// The most stages that a hint lists.
const MAX_STAGES: usize = 8;

/// Returns the path of a model: the checkpoint or file that is named, or a stage's checkpoint in the store. `command` is what
/// hints repeat.
///
/// # Errors
/// There is no such checkpoint.
pub fn path(store: Option<&Path>, name: &str, pipeline: &PipelineArguments, command: &str) -> Result<PathBuf, Error> {
    let path = Path::new(name);
    if path.is_file() || path.join("model.json").is_file() {
        return Ok(path.to_owned());
    }
    if path.is_dir() && name.contains('/') {
        return Err(Error::usage(format!("{} is no checkpoint: it has no model.json", path.display())));
    }
    let workspace = Workspace::open_skipping_damaged(store, pipeline)?;
    let plan = &workspace.plan;
    if let Ok(cells) = plan.select(name)
        && !cells.iter().any(|&cell| has_checkpoint(&plan.cells[cell]))
    {
        let message = format!("{name} has no checkpoint among its outputs");
        return Err(Error::usage(message).hint(with_checkpoints(plan, command)));
    }
    let outputs = plan.select_outputs(name, Some(&Format::CHECKPOINT))?;
    let (index, port) = workspace.single_output(name, outputs)?;
    let (output, path) = workspace.stored_output(name, index, &port)?;
    if output.format != Format::CHECKPOINT {
        let message = format!("{name} is of format {}, and no checkpoint", output.format);
        return Err(Error::usage(message).hint(with_checkpoints(plan, command)));
    }
    Ok(path)
}

fn has_checkpoint(cell: &Cell) -> bool {
    cell.outputs.iter().any(|output| output.format == Format::CHECKPOINT)
}

/// Returns the hint that lists the stages with checkpoints, with a command for the first.
fn with_checkpoints(plan: &Plan, command: &str) -> String {
    let first_cell = |stage: &StagePlan| stage.cells.iter().copied().find(|&cell| has_checkpoint(&plan.cells[cell]));
    let cells: Vec<usize> = plan.stages.iter().filter_map(first_cell).collect();
    let Some(&first) = cells.first() else {
        let hint =
            "no stage of this pipeline has one: name a checkpoint's folder, or a file that `cwm model import` takes";
        return hint.to_owned();
    };
    let stages = list_some(cells.iter().map(|&cell| &plan.cells[cell].label.stage), MAX_STAGES);
    let first = shell_quote(&plan.cells[first].label.to_string());
    format!("stages with a checkpoint: {stages}; `{command} {first}` takes the first")
}
