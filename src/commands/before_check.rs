//! What has to be made before a check: files that are not kept (`keep: false`) and that what is checked reads. They go again at
//! the end.

use std::collections::BTreeSet;

use crate::commands::{Workspace, post_run};
use cwm_core::error::Error;
use cwm_engine::{EventSink, EventSinks, RunEvent};
use cwm_engine::{Known, Options, Outcome, Survey, sources};
use cwm_store::Dropped;

/// The cells whose files `targets` read, and that are not kept, as far as these were let go.
///
/// # Errors
/// The store cannot be read.
pub fn let_go_of(workspace: &mut Workspace, targets: &BTreeSet<usize>) -> Result<Vec<usize>, Error> {
    let survey: Survey = workspace.survey()?;
    let Workspace { plan, store, files, .. } = workspace;
    // One of which nothing is recorded cannot be checked, whatever it reads.
    let recorded = targets.iter().filter(|target| survey.record(**target).is_some());
    let read: BTreeSet<usize> = recorded.flat_map(|target| sources(&plan.cells[*target])).collect();
    let mut gone = Vec::new();
    for source in read {
        let Some(record) = survey.record(source).filter(|record| record.dropped == Some(Dropped::NotKept)) else {
            continue;
        };
        if !store.unusable(record, files)?.is_empty() {
            gone.push(source);
        }
    }
    Ok(gone)
}

/// Makes cells again, for a check of what reads them.
///
/// # Errors
/// As [`cwm_engine::run`].
pub fn make(workspace: &Workspace, options: Options, sinks: &mut EventSinks) -> Result<Outcome, Error> {
    let Workspace { plan, store, files, locked, pins, accepted, .. } = workspace;
    let labels: Vec<String> = options.targets.iter().map(|cell| plan.cells[*cell].label.to_string()).collect();
    let message = format!("made again for the check, as its files are not kept (`keep: false`): {}", labels.join(", "));
    sinks.event(&RunEvent::Warning { message });
    cwm_engine::run(plan, store, files, Known { locked, pins, accepted }, options, sinks)
}

/// Lets go what was made for a check.
///
/// # Errors
/// The store cannot be read or written.
pub fn let_go(workspace: &Workspace, made: &Outcome, sinks: &mut EventSinks) -> Result<(), Error> {
    let Workspace { plan, store, locked, .. } = workspace;
    let not_kept = made.ran.iter().filter(|cell| !plan.cells[**cell].keep);
    let cells = not_kept.filter_map(|cell| Some((&plan.cells[*cell], made.records[*cell].as_ref()?))).collect();
    post_run::evict(store, locked, cells, sinks)
}
