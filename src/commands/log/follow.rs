//! `cwm log --follow`: the log and the curves of a stage while it runs, whichever process runs it.

use std::collections::BTreeMap;
use std::time::Duration;

use cwm_contract::CurvePoint;

use crate::curves::CellCurves;
use crate::output::{print, print_note};
use crate::workspace::Workspace;
use cwm_core::files::Tail;
use cwm_core::{Error, ExitCode, Key, shell_quote, six_digits};
use cwm_engine::{CacheStatus, KeyStatus};

/// The time between two updates.
const INTERVAL: Duration = Duration::from_millis(200);

/// Prints log and curves of a cell to the end of its run. It waits for a run to begin if the cell has neither a result nor the
/// log of a failed run, and none of the cells that it depends on failed.
///
/// # Errors
/// The log or the curves cannot be read. A run that ends without a result gives [`ExitCode::STAGE_FAILED`].
pub fn run(workspace: &Workspace, index: usize) -> Result<ExitCode, Error> {
    let label = &workspace.plan.cells[index].label;
    let needed = workspace.plan.ancestors(&[index]);
    let mut cache_status = CacheStatus::empty(&workspace.plan);
    let mut is_reported = false;
    loop {
        cache_status.refresh(&needed, workspace.context())?;
        workspace.digests.save();
        if let Some(key) = cache_status.key(index)
            && (cache_status.record(index).is_some()
                || workspace.store.lock_owner(&key)?.is_some()
                || workspace.store.work_folder(&key).log().exists())
        {
            return follow(workspace, index, &key);
        }
        if let KeyStatus::Unreadable(error) = &cache_status.states[index] {
            return Err(Error::usage(error.message.clone()));
        }
        if let Some(failed) = failed_cell(workspace, &cache_status, &needed)? {
            print_note(&format!("{label} has not run, because {failed} failed: `cwm log {}`", shell_quote(&failed)));
            return Ok(ExitCode::STAGE_FAILED);
        }
        if !std::mem::replace(&mut is_reported, true) {
            eprintln!("{label} does not run: waiting for it to begin");
        }
        std::thread::sleep(INTERVAL);
    }
}

/// Returns the first of these cells that failed, if none of them runs.
fn failed_cell(workspace: &Workspace, cache_status: &CacheStatus, cells: &[usize]) -> Result<Option<String>, Error> {
    let mut failed = None;
    for &cell in cells {
        match workspace.last_log(cache_status, cell)? {
            _ if cache_status.record(cell).is_some() => {}
            Some((_, "running")) => return Ok(None),
            Some(_) if failed.is_none() => failed = Some(workspace.plan.cells[cell].label.to_string()),
            _ => {}
        }
    }
    Ok(failed)
}

fn follow(workspace: &Workspace, index: usize, key: &Key) -> Result<ExitCode, Error> {
    let (store, files, cell) = (&workspace.store, &workspace.digests, &workspace.plan.cells[index]);
    let mut curves =
        crate::registry::inspector().map(|inspector| CellCurves::new(*key, &cell.outputs, inspector, BTreeMap::new()));
    let mut log = Tail::of(store.work_folder(key).log());
    loop {
        // Before anything is read, so that the last pass reads everything.
        let is_running = store.lock_owner(key)?.is_some();
        let record = if is_running { None } else { store.preferred_record(key, None)? };
        if let Some(digest) = record.as_ref().and_then(|record| record.log.as_ref()).filter(|_| !log.path.exists()) {
            log.path = store.object_path(digest);
        }
        let bytes = log.more(!is_running).map_err(|error| Error::io("read the log", &log.path, error))?;
        if !bytes.is_empty() {
            print(&String::from_utf8_lossy(&bytes))?;
        }
        if let Some(curves) = &mut curves {
            for points in curves.read_new(store, files, record.as_ref())? {
                print(&line(&points))?;
            }
        }
        if record.is_some() {
            return Ok(ExitCode::OK);
        }
        if !is_running {
            eprintln!("{} has ended without a result: it failed, or was stopped", cell.label);
            return Ok(ExitCode::STAGE_FAILED);
        }
        std::thread::sleep(INTERVAL);
    }
}

/// Formats the points of one step.
fn line(points: &[CurvePoint]) -> String {
    let step = points.first().map_or(0, |point| point.step);
    let numbers: String = points.iter().map(|point| format!("  {} {}", point.curve, six_digits(point.value))).collect();
    format!("step {step}{numbers}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_step_stand_on_one_line() {
        let point = |curve: &str, value| CurvePoint { curve: curve.into(), step: 20, value };
        let points = [point("train/loss", 1.25), point("train/learning_rate", 3e-4), point("x", f64::INFINITY)];
        assert_eq!(line(&points), "step 20  train/loss 1.25  train/learning_rate 0.0003  x inf");
    }
}
