//! `cwm push`: uploads results to a remote.

use std::collections::HashSet;
use std::path::Path;

use super::Transfer;
use crate::cli::PushArguments;
use crate::workspace::Workspace;
use cwm_core::{ExitCode, Result, plural};
use cwm_engine::{Direction, EventSinks};
use cwm_remote::{ResultBundle, TransferRequest, TransferService};
use cwm_store::{ActionRecord, EvictionReason};

/// Runs `cwm push`: uploads the named stages with their files, and the records of all that they depend on, without which others
/// could not determine their keys.
///
/// # Errors
/// The pipeline, the store or the command line is wrong; if a remote does not take everything, the code is
/// [`ExitCode::REMOTE`].
pub fn run(store: Option<&Path>, PushArguments { transfer, force }: PushArguments) -> Result<ExitCode> {
    let (workspace, chosen, service, mut sinks) = super::open(store, transfer, true)?;
    let _lock = workspace.lock_shared(&mut sinks)?;
    let cache_status = workspace.cache_status()?;
    let absent = chosen.iter().filter(|index| cache_status.record(**index).is_none()).count();
    if absent > 0 {
        let cells = plural(absent as u64, "cell has", "cells have");
        sinks.warn(format!("{cells} no result yet, and nothing to push"));
    }
    let needed = workspace.plan.ancestors(&chosen).into_iter();
    let results =
        needed.filter_map(|index| Some((index, cache_status.record(index)?, chosen.binary_search(&index).is_ok())));
    push(&workspace, &service, results, force, &mut sinks)
}

/// Uploads results, each with its files if that is wanted and they are in the store; with `force` also what the remote has.
///
/// # Errors
/// The store cannot be read.
pub fn push<'r>(
    workspace: &Workspace,
    service: &TransferService,
    results: impl Iterator<Item = (usize, &'r ActionRecord, bool)>,
    force: bool,
    sinks: &mut EventSinks,
) -> Result<ExitCode> {
    let mut transfer = Transfer::new(workspace, service, Direction::Push, sinks);
    let mut seen = HashSet::new();
    for (index, record, with_files) in results {
        if !seen.insert((record.key, with_files)) {
            continue;
        }
        let bundle = ResultBundle::of(&workspace.store, &workspace.digests, record, with_files)?;
        let problem = match record.evicted {
            _ if bundle.has_files || !with_files => None,
            None => Some("are missing here"),
            Some(EvictionReason::NotPulled) => Some("were not pulled"),
            Some(EvictionReason::Collected | EvictionReason::NotKept) => None,
        };
        if let Some(problem) = problem {
            let label = &workspace.plan.cells[index].label;
            transfer.sinks.warn(format!("{label}: files of it {problem}, so only its record is pushed"));
        }
        transfer.start(index, record.key, TransferRequest::Upload { bundle: Box::new(bundle), force });
    }
    Ok(transfer.end())
}
