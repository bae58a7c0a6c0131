//! `cwm push`: results go to a remote.

use std::collections::HashSet;
use std::path::Path;

use super::{Transfer, chosen, sinks};
use crate::cli::PushArguments;
use crate::workspace::Workspace;
use cwm_core::{Error, ExitCode, plural};
use cwm_engine::KeyStatus;
use cwm_engine::{Direction, EventSink, EventSinks, RunEvent};
use cwm_pipeline::plan::Plan;
use cwm_remote::{ResultBundle, TransferRequest, TransferService};
use cwm_store::external_files::DigestCache;
use cwm_store::{ActionRecord, EvictionReason, Store};

/// Runs `cwm push`: what is named with its files, and the records of what that rests on, without which its keys could not be told.
///
/// # Errors
/// The pipeline, the store or the command line; what a remote does not take gives [`ExitCode::REMOTE`].
pub fn run(store: Option<&Path>, mut arguments: PushArguments) -> Result<ExitCode, Error> {
    arguments.pipeline.take_from(&mut arguments.words)?;
    let mut workspace = Workspace::open(store, &arguments.pipeline)?;
    let chosen = chosen(&workspace, &arguments.words)?;
    let service = TransferService::open(&workspace.site, arguments.remote.as_deref(), &workspace.store, true)?;
    let mut sinks = sinks(arguments.verbose);
    let _shared = workspace.store.lock_shared(|holder| {
        sinks.event(&RunEvent::Warning { message: format!("waiting for the store: {holder}") });
    })?;
    let cache_status = workspace.cache_status()?;
    let Workspace { plan, store, files, .. } = &workspace;
    let all = plan.ancestors(&chosen.iter().copied().collect::<Vec<_>>());
    let record = |index: &usize| match &cache_status.states[*index] {
        KeyStatus::Cached(record) => Some((*index, record.as_ref(), chosen.contains(index))),
        _ => None,
    };
    let undone = chosen.iter().filter(|index| record(index).is_none()).count();
    if undone > 0 {
        let cells = plural(undone as u64, "cell has", "cells have");
        sinks.event(&RunEvent::Warning { message: format!("{cells} no result yet, and nothing to push") });
    }
    let results: Vec<_> = all.iter().filter_map(record).collect();
    let is_whole = send(&service, plan, store, files, results, arguments.force, &mut sinks)?;
    Ok(if is_whole { ExitCode::OK } else { ExitCode::REMOTE })
}

/// Sends what is done after a run; whether all went well.
///
/// # Errors
/// The store cannot be read.
pub fn results(
    service: &TransferService,
    plan: &Plan,
    store: &Store,
    files: &DigestCache,
    records: &[Option<ActionRecord>],
    sinks: &mut EventSinks,
) -> Result<bool, Error> {
    let done = records.iter().enumerate().filter_map(|(index, record)| Some((index, record.as_ref()?, true)));
    send(service, plan, store, files, done.collect(), false, sinks)
}

/// Sends results, each with its files if that is wanted and they are here.
fn send(
    service: &TransferService,
    plan: &Plan,
    store: &Store,
    files: &DigestCache,
    results: Vec<(usize, &ActionRecord, bool)>,
    anew: bool,
    sinks: &mut EventSinks,
) -> Result<bool, Error> {
    let mut transfer = Transfer::new(service, Direction::Push, sinks);
    // A folder that was mistyped, or a disk that is not mounted, would otherwise be filled without a word.
    if let Some((index, record, _)) = results.first() {
        transfer.start(*index, record.key, TransferRequest::Initialize);
        while let Some((cell, event)) = transfer.next() {
            transfer.report(plan, cell, event);
        }
    }
    let mut sent = HashSet::new();
    let mut lacking = Vec::new();
    for (index, record, with_files) in results {
        if !sent.insert((record.key, with_files)) {
            continue;
        }
        transfer.make_room(plan);
        let bundle = ResultBundle::of(store, files, record, with_files)?;
        if with_files && !bundle.has_files {
            match record.evicted {
                None => lacking.push((plan.cells[index].label.to_string(), "are missing here")),
                Some(EvictionReason::NotPulled) => {
                    lacking.push((plan.cells[index].label.to_string(), "were not pulled"))
                }
                // As somebody wanted it.
                Some(EvictionReason::Collected | EvictionReason::NotKept) => {}
            }
        }
        transfer.start(index, record.key, TransferRequest::Upload { bundle: Box::new(bundle), force: anew });
    }
    while let Some((cell, event)) = transfer.next() {
        transfer.report(plan, cell, event);
    }
    for (label, what) in lacking {
        let message = format!("{label}: files of it {what}, so its record went alone");
        transfer.sinks.event(&RunEvent::Warning { message });
    }
    Ok(transfer.end())
}
