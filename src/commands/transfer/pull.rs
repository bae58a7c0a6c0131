//! `cwm pull`: results come from remotes.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use super::locked_results::{depends_on_divergent, is_other, locked_of, locked_results, of_line};
use super::{Transfer, chosen, sinks};
use crate::cli::PullArguments;
use crate::workspace::Workspace;
use cwm_action::ActionFile;
use cwm_core::{Error, ExitCode, Key, plural};
use cwm_engine::{CacheStatus, KeyStatus};
use cwm_engine::{Direction, EventSink, RunEvent};
use cwm_remote::{RemoteError, TransferEvent, TransferRequest, TransferService};

/// What is missing of a cell that is not named, but that what is named rests on.
const RECORD: &str = "its record, by which the keys of what rests on it are told";

/// Runs `cwm pull`: the records of what is named and of what that rests on, and the files of what is named.
///
/// # Errors
/// The pipeline, the store or the command line; what remotes do not have gives [`ExitCode::REMOTE`].
pub fn run(store: Option<&Path>, mut arguments: PullArguments) -> Result<ExitCode, Error> {
    arguments.pipeline.take_from(&mut arguments.words)?;
    let mut workspace = Workspace::open(store, &arguments.pipeline)?;
    let chosen = chosen(&workspace, &arguments.words)?;
    let service = TransferService::open(&workspace.site, arguments.remote.as_deref(), &workspace.store, false)?;
    let mut sinks = sinks(arguments.verbose);
    workspace.store.create()?;
    let _shared = workspace.store.lock_shared(|holder| {
        sinks.event(&RunEvent::Warning { message: format!("waiting for the store: {holder}") });
    })?;
    let all = workspace.plan.ancestors(&chosen.iter().copied().collect::<Vec<_>>());
    let mut transfer = Transfer::new(&service, Direction::Pull, &mut sinks);
    let (mut so_far, mut others) = (SoFar::default(), HashSet::new());
    let cache_status = loop {
        let cache_status = records(&mut workspace, &all, &chosen, &others, &mut transfer, &mut so_far)?;
        // The key of what rests on a result follows from it: with the lock file's, others are asked for.
        let locked = locked_results(&workspace, &cache_status, &all, &mut others)?;
        if locked.is_empty() {
            break cache_status;
        }
        for (index, record) in locked {
            transfer.start(index, record.key, TransferRequest::FetchResult(vec![record]));
            transfer.make_room(&workspace.plan);
        }
        transfer.wait(&workspace.plan);
    };
    let resting = depends_on_divergent(&workspace, &cache_status, &all, &others)?;
    let nowhere = |what: &str| match so_far.nobody_told(&service.names()) {
        Some(words) => words,
        None => format!("no remote that was reached has {what}"),
    };
    let absent =
        |resolved: &ActionFile, what: &str| match cwm_action::source_key::has_unpinned_url(&resolved.components) {
            true => "has a URL that is not pinned, so that remotes cannot be asked for it: a run fetches it".to_owned(),
            false => nowhere(what),
        };
    let another = "the one here is another than the lock file's";
    let (mut asked, mut lacking) = (HashSet::new(), Vec::new());
    for &index in &all {
        let cell = &workspace.plan.cells[index];
        let line = workspace.locked.get(&cell.label);
        // Of what differs from the lock file in what it reads alone, the lock file's result comes too.
        let locked = match resting.contains(&index) {
            true => locked_of(&workspace, &cache_status, index)?,
            false => None,
        };
        if !chosen.contains(&index) {
            let what = match &cache_status.states[index] {
                KeyStatus::Cached(record) if is_other(&workspace, index, record) && !others.contains(&record.key) => {
                    format!("{another}, and {}", nowhere(RECORD))
                }
                KeyStatus::Absent(resolved) if locked.is_none() => absent(resolved, RECORD),
                KeyStatus::KeyUnknown | KeyStatus::PipeUnread(_)
                    if let Some(line) = line
                        && of_line(&workspace, line)?.is_none() =>
                {
                    nowhere("the lock file's result of it")
                }
                KeyStatus::Unreadable(error) => error.message.clone(),
                _ => continue,
            };
            transfer.missing.push(format!("{}: {what}", cell.label));
            continue;
        }
        if let Some(record) = locked {
            let is_wanted = cell.keep && asked.insert(record.key);
            if is_wanted && !workspace.store.missing(&record, &workspace.files)?.is_empty() {
                lacking.push((index, Cow::Owned(record)));
            }
            if matches!(&cache_status.states[index], KeyStatus::Absent(_)) {
                continue;
            }
        }
        let record = match &cache_status.states[index] {
            KeyStatus::Cached(record) => {
                if is_other(&workspace, index, record) && !others.contains(&record.key) {
                    transfer.missing.push(format!("{}: {another}, and {}", cell.label, nowhere("it")));
                }
                Cow::Borrowed(record.as_ref())
            }
            KeyStatus::Unreadable(error) => {
                transfer.missing.push(format!("{}: {}", cell.label, error.message));
                continue;
            }
            KeyStatus::Absent(resolved) => {
                transfer.missing.push(format!("{}: {}", cell.label, absent(resolved, "a result of it")));
                continue;
            }
            // Its key is not known today; once what it waits for is made and comes out the same, it is the lock file's.
            KeyStatus::KeyUnknown | KeyStatus::PipeUnread(_) => {
                match line.map(|line| of_line(&workspace, line)).transpose()? {
                    Some(Some(record)) => Cow::Owned(record),
                    Some(None) => {
                        transfer.missing.push(format!("{}: {}", cell.label, nowhere("the lock file's result of it")));
                        continue;
                    }
                    None => {
                        let why = match &cache_status.states[index] {
                            KeyStatus::PipeUnread(path) => format!("only a run reads {}", path.display()),
                            _ => "what it rests on has no result here".to_owned(),
                        };
                        let what = "its key is not known, and the lock file has none of it";
                        transfer.missing.push(format!("{}: {why}, so {what}", cell.label));
                        continue;
                    }
                }
            }
        };
        // What is not kept here is not fetched either.
        if !cell.keep || !asked.insert(record.key) || workspace.store.missing(&record, &workspace.files)?.is_empty() {
            continue;
        }
        lacking.push((index, record));
    }
    // Only then: what they share must not be missing in one and there in the next, as chance will have it.
    for (index, record) in lacking {
        let key = record.key;
        let line = workspace.locked.get(&workspace.plan.cells[index].label).filter(|line| line.key == key);
        let candidates = match record {
            Cow::Borrowed(_) => workspace.store.candidates(&key, line.map(|line| &line.outputs))?,
            // Of another result of that key nobody knows yet whether it will count.
            Cow::Owned(record) => vec![record],
        };
        transfer.start(index, key, TransferRequest::FetchResult(candidates));
        transfer.make_room(&workspace.plan);
    }
    transfer.wait(&workspace.plan);
    Ok(if transfer.end() { ExitCode::OK } else { ExitCode::REMOTE })
}

/// What was asked and told so far.
#[derive(Default)]
struct SoFar {
    /// Keys whose records were asked for.
    asked: HashSet<Key>,
    /// What was said of remotes.
    reported: BTreeSet<String>,
    /// Remotes that did not answer, or refused to say anything, with whether they answered.
    away: BTreeMap<String, bool>,
}

impl SoFar {
    /// Where none of the remotes told anything: what became of them, in words.
    fn nobody_told(&self, names: &[&str]) -> Option<String> {
        if !names.iter().all(|name| self.away.contains_key(*name)) {
            return None;
        }
        let refused: Vec<String> =
            self.away.iter().filter(|(_, answered)| **answered).map(|(name, _)| format!("`{name}`")).collect();
        Some(match (refused.len(), names.len()) {
            (0, _) => "no remote was reached".to_owned(),
            (1, 1) => format!("the remote {} refused", refused.join(", ")),
            (some, all) if some == all => format!("the remotes {} refused", refused.join(", ")),
            _ => format!("no remote told: {} refused, the others were not reached", refused.join(", ")),
        })
    }
}

/// Takes over the records of cells, those before what rests on them: only a source's result tells a key; without it the lock
/// file does. What is here already is asked for if it is `chosen`: others may have other results of it.
fn records(
    workspace: &mut Workspace,
    cells: &[usize],
    chosen: &BTreeSet<usize>,
    tried: &HashSet<Key>,
    transfer: &mut Transfer<'_>,
    so_far: &mut SoFar,
) -> Result<CacheStatus, Error> {
    let is_first_report = transfer.service.is_first_report();
    loop {
        let cache_status = workspace.cache_status()?;
        let before = transfer.begun;
        for &index in cells {
            let keys = wanted(workspace, &cache_status, index, chosen.contains(&index));
            if let Some(key) = keys.first().copied().filter(|key| so_far.asked.insert(*key)) {
                transfer.start(index, key, TransferRequest::FetchRecords(keys));
            }
        }
        // Of what waits for a result that is nowhere, so that no key is known today, the lock file's is asked for: it is today's
        // again once that result is made and comes out the same. So is that of what rests on another result.
        if transfer.begun == before {
            let resting = depends_on_divergent(workspace, &cache_status, cells, tried)?;
            for &index in cells {
                let line = workspace.locked.get(&workspace.plan.cells[index].label);
                let is_open = matches!(&cache_status.states[index], KeyStatus::KeyUnknown | KeyStatus::PipeUnread(_));
                if (is_open || resting.contains(&index))
                    && let Some(key) = line.map(|line| line.key).filter(|key| so_far.asked.insert(*key))
                {
                    transfer.start(index, key, TransferRequest::FetchRecords(vec![key]));
                }
            }
        }
        if transfer.begun == before {
            return Ok(cache_status);
        }
        while let Some((index, event)) = transfer.next() {
            let TransferEvent::RecordsFetched { new, errors } = event else { continue };
            if let (KeyStatus::Cached(record), true) = (&cache_status.states[index], new > 0) {
                let label = workspace.plan.cells[index].label.clone();
                let others = plural(new as u64, "other result", "other results");
                let message = format!(
                    "{others} of it came from the remotes, beside the one that is here ({}); `cwm ls --all {label}` lists them",
                    record.origin()
                );
                transfer.sinks.event(&RunEvent::Note { label, message });
            }
            for (remote, fault) in errors {
                if fault.is_refusal() || matches!(fault, RemoteError::Unreachable(_) | RemoteError::Panicked) {
                    so_far.away.insert(remote.clone(), fault.is_refusal());
                }
                if !is_first_report(&remote, &fault) {
                    continue;
                }
                let message = format!("the remote `{remote}`: {}", fault.to_string());
                if so_far.reported.insert(message.clone()) {
                    // A remote that is not there may have what the others lack.
                    if !matches!(fault, RemoteError::NotFound) {
                        transfer.faults.push(message.clone());
                    }
                    transfer.sinks.event(&RunEvent::Warning { message });
                }
            }
        }
    }
}

/// The keys whose records a cell may take: of what has a result here, its own, if it was `chosen` or the lock file names another
/// result of it.
fn wanted(workspace: &Workspace, cache_status: &CacheStatus, index: usize, chosen: bool) -> Vec<Key> {
    match &cache_status.states[index] {
        KeyStatus::Absent(resolved) if !cwm_action::source_key::has_unpinned_url(&resolved.components) => {
            let older = workspace.accepted.equivalent_keys(&resolved.components).map(|older| older.key());
            [resolved.components.key()].into_iter().chain(older).collect()
        }
        KeyStatus::Cached(record) => {
            match is_other(workspace, index, record)
                || (chosen && !cwm_action::source_key::has_unpinned_url(&record.components))
            {
                true => vec![record.key],
                false => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}
