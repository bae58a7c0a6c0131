//! `cwm log --follow`: what a stage writes, as it writes it, whichever process runs it.

use std::time::Duration;

use cwm_contract::CurvePoint;

use crate::curves::{Tail, curves_of};
use crate::output::print;
use crate::workspace::Workspace;
use cwm_core::{Error, ExitCode, Key, shell_quote};
use cwm_engine::{CacheStatus, KeyStatus};

/// Time between two looks.
const EVERY: Duration = Duration::from_millis(200);

/// Prints log and curves of a cell to the end of its run; waits for one to begin if there is neither a run, nor a result,
/// nor what a failed run left, of it or of what it rests on.
///
/// # Errors
/// What it writes cannot be read. A run that ends without a result gives [`ExitCode::STAGE_FAILED`].
pub fn run(workspace: &mut Workspace, index: usize) -> Result<ExitCode, Error> {
    let label = workspace.plan.cells[index].label.clone();
    let needed = workspace.plan.ancestors(&[index]);
    let mut cache_status = CacheStatus::empty(&workspace.plan);
    let mut is_reported = false;
    let key = loop {
        workspace.refresh_cache_status(&mut cache_status, &needed)?;
        match &cache_status.states[index] {
            KeyStatus::Cached(record) => break record.key,
            KeyStatus::Absent(resolved) => {
                let key = resolved.components.key();
                // One that failed has left its log, and is at its end.
                if workspace.store.holder(&key)?.is_some() || workspace.store.work(&key).log().exists() {
                    break key;
                }
            }
            KeyStatus::KeyUnknown => {
                if let Some(failed) = failed(workspace, &cache_status, &needed)? {
                    eprintln!("{label} has not run, for {failed} failed: `cwm log {}`", shell_quote(&failed));
                    return Ok(ExitCode::STAGE_FAILED);
                }
            }
            KeyStatus::PipeUnread(_) => {}
            KeyStatus::Unreadable(error) => return Err(Error::usage(error.message.clone())),
        }
        if !std::mem::replace(&mut is_reported, true) {
            eprintln!("{label} does not run: waiting for it to begin");
        }
        std::thread::sleep(EVERY);
    };
    follow(workspace, index, &key)
}

/// The first of these cells that is not running and of which a run that failed left its log, where none is running.
fn failed(workspace: &Workspace, cache_status: &CacheStatus, cells: &[usize]) -> Result<Option<String>, Error> {
    let mut failed = None;
    for &cell in cells {
        let KeyStatus::Absent(resolved) = &cache_status.states[cell] else { continue };
        let key = resolved.components.key();
        if workspace.store.holder(&key)?.is_some() {
            return Ok(None);
        }
        if workspace.store.work(&key).log().exists() {
            failed = failed.or(Some(workspace.plan.cells[cell].label.to_string()));
        }
    }
    Ok(failed)
}

fn follow(workspace: &Workspace, index: usize, key: &Key) -> Result<ExitCode, Error> {
    let (store, files) = (&workspace.store, &workspace.files);
    let outputs = &workspace.plan.cells[index].outputs;
    let mut curves = crate::registry::inspector().map(|inspector| curves_of(outputs, inspector)).unwrap_or_default();
    let mut log = Tail::of(store.work(key).log());
    loop {
        // Asked before anything is read, so that the last look sees all.
        let running = store.holder(key)?.is_some();
        let made = if running { None } else { store.candidates(key, None)?.into_iter().next() };
        if let Some(digest) = made.as_ref().and_then(|record| record.log.as_ref()).filter(|_| !log.path().exists()) {
            log.move_to(store.object_path(digest));
        }
        loop {
            let bytes = log.more(!running).map_err(|error| Error::io("read the log", log.path(), error))?;
            if bytes.is_empty() {
                break;
            }
            print(&String::from_utf8_lossy(&bytes))?;
        }
        for curve in &mut curves {
            for points in curve.more(store, files, key, made.as_ref())? {
                print(&line(&points))?;
            }
        }
        if !running {
            if made.is_none() {
                eprintln!(
                    "{} has ended without a result: it failed, or was stopped",
                    workspace.plan.cells[index].label
                );
                return Ok(ExitCode::STAGE_FAILED);
            }
            return Ok(ExitCode::OK);
        }
        std::thread::sleep(EVERY);
    }
}

/// The points of one step on a line.
fn line(points: &[CurvePoint]) -> String {
    let step = points.first().map_or(0, |point| point.step);
    let numbers: String = points.iter().map(|point| format!("  {} {}", point.curve, number(point.value))).collect();
    format!("step {step}{numbers}")
}

/// Six digits after the point, or a power of ten where that says little.
fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() || (1e-2..1e6).contains(&size) {
        format!("{value:.6}")
    } else {
        format!("{value:.4e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_step_stand_on_one_line() {
        let point = |curve: &str, value| CurvePoint { curve: curve.into(), step: 20, value };
        let points = [point("train/loss", 1.25), point("train/learning_rate", 3e-4), point("x", f64::INFINITY)];
        assert_eq!(line(&points), "step 20  train/loss 1.250000  train/learning_rate 3.0000e-4  x inf");
    }
}
