//! `cwm log --tensorboard`: writes the curves of trainings into a folder that TensorBoard reads.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::cli::LogArguments;
use crate::curves::CurveFolder;
use crate::output::{is_json, print};
use crate::registry::{inspector, not_compiled_in};
use crate::workspace::Workspace;
use cwm_core::{Error, ExitCode};

/// The time between two updates.
const INTERVAL: Duration = Duration::from_secs(1);

/// Runs `cwm log --tensorboard`: writes the curves of recorded results and of running stages; with `--follow` it continues until
/// it is interrupted.
///
/// # Errors
/// No named stage has curves, they cannot be read, or the folder cannot be written.
pub fn run(store: Option<&Path>, arguments: &LogArguments, folder: &Path) -> Result<ExitCode, Error> {
    if folder.exists() && !folder.is_dir() {
        let problem = format!("{} is not a folder, and curves are written into one", folder.display());
        return Err(Error::usage(problem).hint("name a folder, which is created if absent"));
    }
    let workspace = Workspace::open_skipping_damaged(store, &arguments.pipeline)?;
    let inspector = inspector().ok_or_else(|| not_compiled_in("this build of cwm cannot read curves", "inspect"))?;
    let mut cells = workspace.plan.select_all(&arguments.stages)?;
    cells.retain(|&cell| workspace.plan.cells[cell].outputs.iter().any(|output| inspector.has_points(&output.format)));
    if cells.is_empty() {
        return Err(Error::usage("none of these stages has curves").hint("stages of kind `train` have some"));
    }
    let mut cells: Vec<_> = cells.into_iter().map(|index| (index, None::<CurveFolder>, false)).collect();
    loop {
        let cache_status = workspace.cache_status()?;
        for (index, opened, is_shown) in &mut cells {
            let Some(key) = cache_status.key(*index) else { continue };
            let cell = &workspace.plan.cells[*index];
            let folder = match opened {
                Some(opened) if opened.curves.key == key => opened,
                other => other.insert(CurveFolder::open(folder, cell, key, inspector)?),
            };
            if folder.update(&workspace)? && !std::mem::replace(is_shown, true) {
                let line = json!({ "label": cell.label, "folder": folder.path });
                print(&if is_json() { line.to_string() } else { folder.path.display().to_string() })?;
            }
        }
        if !arguments.follow {
            return Ok(ExitCode::OK);
        }
        std::thread::sleep(INTERVAL);
    }
}
