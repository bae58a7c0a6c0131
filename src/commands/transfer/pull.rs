//! `cwm pull`: fetches results from remotes.

use std::collections::HashSet;
use std::path::Path;

use super::Transfer;
use crate::cli::TransferArguments;
use cwm_action::source_key::has_unpinned_url;
use cwm_core::{Error, ExitCode, Key};
use cwm_engine::{CacheStatus, Direction, KeyStatus};
use cwm_remote::TransferRequest;

/// Runs `cwm pull`: fetches the files of the named stages, and the records of all that they depend on.
///
/// # Errors
/// The pipeline, the store or the command line is wrong; if remotes do not have everything, the code is [`ExitCode::REMOTE`].
pub fn run(store: Option<&Path>, arguments: TransferArguments) -> Result<ExitCode, Error> {
    let (workspace, chosen, service, mut sinks) = super::open(store, arguments, false)?;
    workspace.store.create()?;
    let _lock = workspace.lock_shared(&mut sinks)?;
    let needed = workspace.plan.ancestors(&chosen);
    let mut transfer = Transfer::new(&workspace, &service, Direction::Pull, &mut sinks);
    let cache_status = fetch_records(&mut transfer, &needed, &chosen)?;
    let locked_cells = workspace.locked_cells(&cache_status, &needed)?;
    let unavailable = transfer.unavailable();
    let absent = |what: &str| unavailable.clone().unwrap_or_else(|| format!("no remote that was reached has {what}"));
    let (mut seen, mut incomplete) = (HashSet::new(), Vec::new());
    for index in needed {
        let cell = &workspace.plan.cells[index];
        let is_chosen = chosen.binary_search(&index).is_ok();
        let is_locked = locked_cells.contains(&index);
        let locked = if is_locked { workspace.locked_record(&cell.label)? } else { None };
        let found = cache_status.record(index);
        let differs = found.is_some_and(|found| workspace.context().differs_from_lock(index, found));
        let problem = match &cache_status.states[index] {
            KeyStatus::Unreadable(error) => Some(error.message.clone()),
            _ if locked.is_some() => None,
            KeyStatus::Cached(_) if differs => {
                Some(format!("the one here is another than the lock file's, and {}", absent("it")))
            }
            KeyStatus::Cached(_) => None,
            KeyStatus::Absent(resolved) if has_unpinned_url(&resolved.components) => Some(
                "its URL is not pinned, so remotes cannot have it under its key: `cwm run` downloads it".to_owned(),
            ),
            KeyStatus::Absent(_) => Some(absent("a result of it")),
            _ if is_locked => Some(absent("the lock file's result of it")),
            _ if !is_chosen => None,
            KeyStatus::PipeUnread(_) | KeyStatus::KeyUnknown => {
                Some("its key is not known: its inputs are not in the store, and the lock file has no key".to_owned())
            }
        };
        transfer.totals.missing.extend(problem.map(|problem| format!("{}: {problem}", cell.label)));
        // With the lock file's result of an input, the keys of what depends on it are those of the lock file.
        if let Some(record) = locked.as_ref().or(found).filter(|_| cell.keep && (is_chosen || differs))
            && seen.insert(record.key)
            && !workspace.store.missing(record, &workspace.digests)?.is_empty()
        {
            let candidates = match !differs && found.is_some_and(|found| found.key == record.key) {
                true => workspace.store.candidates(&record.key, Some(&record.output_digests()))?,
                false => vec![record.clone()],
            };
            incomplete.push((index, record.key, candidates));
        }
    }
    // All were looked up before the first is fetched, for they may share objects.
    for (index, key, candidates) in incomplete {
        transfer.start(index, key, TransferRequest::FetchResult(candidates));
    }
    Ok(transfer.end())
}

/// Fetches the records of cells: by today's key where it is known, and by the key in the lock file. A record may make further keys
/// known. Of a cell with a result, other results are fetched only if it is `chosen`.
fn fetch_records(transfer: &mut Transfer<'_>, cells: &[usize], chosen: &[usize]) -> Result<CacheStatus, Error> {
    let workspace = transfer.workspace;
    let context = workspace.context();
    let mut requested = HashSet::new();
    loop {
        let cache_status = workspace.cache_status()?;
        let before = requested.len();
        for &index in cells {
            let components = match &cache_status.states[index] {
                KeyStatus::Absent(resolved) => Some(&resolved.components),
                KeyStatus::Cached(record) if chosen.binary_search(&index).is_ok() => Some(&record.components),
                _ => None,
            };
            let components = components.filter(|components| !has_unpinned_url(components));
            let keys: Vec<Key> = components.into_iter().flat_map(|known| context.keys(known.key(), known)).collect();
            let label = &workspace.plan.cells[index].label;
            let locked = workspace.lock_file.get(label).filter(|line| !keys.contains(&line.key));
            if let Some(line) = locked
                && workspace.locked_record(label)?.is_none()
                && requested.insert(line.key)
            {
                transfer.start(index, line.key, TransferRequest::FetchRecords(vec![line.key]));
            }
            if let Some(key) = keys.first().copied().filter(|key| requested.insert(*key)) {
                transfer.start(index, key, TransferRequest::FetchRecords(keys));
            }
        }
        if requested.len() == before {
            return Ok(cache_status);
        }
        transfer.wait();
    }
}
