//! `cwm tensorboard`: the curves of trainings in a folder that TensorBoard reads.

use std::path::Path;
use std::time::Duration;

use cwm_contract::Label;
use serde::Serialize;

use crate::cli::TensorboardArguments;
use crate::curves::TensorBoardWriter;
use crate::output::{is_json, print, print_json_line};
use crate::workspace::Workspace;
use cwm_core::{Error, ExitCode};
use cwm_engine::KeyStatus;

/// The time between two updates.
const EVERY: Duration = Duration::from_secs(1);

/// Runs `cwm tensorboard`: writes the curves of recorded results and of running stages; with `--follow` it continues until
/// it is interrupted.
///
/// # Errors
/// No named stage has curves, they cannot be read, or the folder cannot be written.
pub fn run(store: Option<&Path>, arguments: &TensorboardArguments) -> Result<ExitCode, Error> {
    let mut workspace = Workspace::open_skipping_damaged(store, &arguments.pipeline)?;
    let inspector = crate::registry::inspector().ok_or_else(|| {
        Error::usage("this build of cwm cannot read curves")
            .hint("build it with the cargo feature `inspect`, which is on by default")
    })?;
    let mut writer = TensorBoardWriter::new(arguments.folder.clone(), &workspace.plan, &workspace.store, inspector);
    let mut cells: Vec<usize> = Vec::new();
    for word in &arguments.stages {
        cells.extend(workspace.plan.select(word)?);
    }
    if arguments.stages.is_empty() {
        cells.extend(0..workspace.plan.cells.len());
    }
    cells.retain(|&index| writer.has_curves(&workspace.plan.cells[index].label));
    if cells.is_empty() {
        return Err(Error::usage("none of these stages has curves").hint("stages of kind `train` have some"));
    }
    let mut shown = vec![false; cells.len()];
    loop {
        let cache_status = workspace.cache_status()?;
        for (&index, shown) in cells.iter().zip(&mut shown) {
            let key = match &cache_status.states[index] {
                KeyStatus::Cached(record) => record.key,
                KeyStatus::Absent(resolved) => resolved.components.key(),
                KeyStatus::KeyUnknown | KeyStatus::PipeUnread(_) | KeyStatus::Unreadable(_) => continue,
            };
            let label = &workspace.plan.cells[index].label;
            if writer.update(label, &key)? > 0 && !std::mem::replace(shown, true) {
                print_folder(label, &writer.folder_of(label))?;
            }
        }
        if !arguments.follow {
            return Ok(ExitCode::OK);
        }
        std::thread::sleep(EVERY);
    }
}

/// A training whose curves are shown, for `--json`.
#[derive(Serialize)]
struct Shown {
    /// Its cell.
    label: String,
    /// The folder of its files.
    folder: String,
}

fn print_folder(label: &Label, folder: &Path) -> Result<(), Error> {
    let folder = folder.display().to_string();
    if !is_json() {
        return print(&folder);
    }
    print_json_line(&Shown { label: label.to_string(), folder })
}
