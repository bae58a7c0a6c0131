//! `cwm status`: what is cached and what would run.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use crate::cli::StatusArguments;
use crate::commands::remote_hints::{hint_at_missing_files, hint_at_remotes};
use crate::output::{is_json, print_json, print_text};
use crate::workspace::Workspace;
use cwm_core::{Error, ExitCode};
use cwm_engine::{CacheStatus, Cause, CellStatus, Explainer, KeyStatus};
use cwm_slurm::QueueStatus;

#[derive(Serialize)]
struct Row {
    label: String,
    kind: String,
    state: String,
    key: Option<String>,
    detail: String,
    /// What remotes have of it, if they were asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remotes: Vec<OnRemote>,
}

/// What a remote has of a cell.
#[derive(Serialize)]
struct OnRemote {
    /// The remote.
    name: String,
    /// `there`, `another result`, `record only`, `not there`, `not reached` or `refused`.
    state: &'static str,
    /// Why it was not reached, or refused; or that it was asked by the key in the lock file.
    detail: String,
}

const WAITS: &str = "for what would run before it";

/// Runs `cwm status`.
///
/// # Errors
/// The pipeline or the store cannot be read.
pub fn run(store: Option<&Path>, mut arguments: StatusArguments) -> Result<ExitCode, Error> {
    arguments.pipeline.take_from(&mut arguments.stages)?;
    let mut workspace = Workspace::open_skipping_damaged(store, &arguments.pipeline)?;
    let mut chosen = Vec::new();
    for word in &arguments.stages {
        chosen.extend(workspace.plan.select(word)?);
    }
    if arguments.stages.is_empty() {
        chosen.extend(0..workspace.plan.cells.len());
    }
    chosen.sort_unstable();
    chosen.dedup();
    let cache_status = workspace.cache_status()?;
    let standings = cwm_slurm::query_queue(&workspace.store);
    let mut remotes = if arguments.remote { on_remotes(&workspace, &cache_status, &chosen)? } else { BTreeMap::new() };
    let prediction = workspace.prediction(&cache_status)?;
    let explainer = Explainer::new(workspace.inputs(), &cache_status, &prediction);
    let (mut rows, mut open) = (Vec::new(), Vec::new());
    for &index in &chosen {
        let cell = &workspace.plan.cells[index];
        let key = cache_status.key(index);
        let reason = explainer.own_reason(index)?;
        let causes = reason.causes.iter().map(Cause::to_string).chain(reason.advice);
        let detail = causes.chain(reason.origin).collect::<Vec<_>>().join("; ");
        let (state, detail) = match (&cache_status.states[index], reason.state) {
            (KeyStatus::Cached(record), CellStatus::Cached) => {
                let locked = workspace.inputs().locked_line(index, &record.key);
                let is_other = locked.is_some_and(|line| line.outputs != record.output_digests());
                let other = if is_other { "; another result than the lock file's" } else { "" };
                ("cached".to_owned(), format!("{}{other}", cache_status.origin(index, record)))
            }
            (KeyStatus::Absent(_), _)
                if let Some(QueueStatus { state, detail }) = key.and_then(|key| standings.get(&key)) =>
            {
                ((*state).to_owned(), detail.clone())
            }
            (KeyStatus::KeyUnknown, CellStatus::Waits) if detail.is_empty() => ("waits".to_owned(), WAITS.to_owned()),
            (KeyStatus::KeyUnknown, CellStatus::Waits) => ("waits".to_owned(), format!("{WAITS}; {detail}")),
            (_, CellStatus::WouldFail) => ("unreadable".to_owned(), detail),
            (_, state) => (state.to_string(), detail),
        };
        open.extend(reason.causes);
        let key = key.map(|key| key.short());
        let remotes = remotes.remove(&index).unwrap_or_default();
        rows.push(Row { label: cell.label.to_string(), kind: cell.kind.clone(), state, key, detail, remotes });
    }
    if is_json() {
        print_json(&rows)?;
        return Ok(ExitCode::OK);
    }
    let width = rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        *counts.entry(&row.state).or_default() += 1;
        text += &format!("{:<10} {:<width$}  {}\n", row.state, row.label, row.detail);
        for remote in &row.remotes {
            let detail = if remote.detail.is_empty() { String::new() } else { format!(" ({})", remote.detail) };
            text += &format!("{:<10} {:<width$}  {}: {}{detail}\n", "", "", remote.name, remote.state);
        }
    }
    let counted: Vec<String> = counts.iter().map(|(state, count)| format!("{count} {state}")).collect();
    text += &counted.join(", ");
    print_text(&text)?;
    hint_at_missing_files(&workspace.plan, &chosen);
    hint_at_remotes(&workspace.site, open.iter());
    Ok(ExitCode::OK)
}

/// What remotes have of cells, by index.
fn on_remotes(
    workspace: &Workspace,
    cache_status: &CacheStatus,
    cells: &[usize],
) -> Result<BTreeMap<usize, Vec<OnRemote>>, Error> {
    use cwm_remote::{RemoteError, RemoteStatus, TransferEvent, TransferRequest, TransferService};
    let service = TransferService::open(&workspace.site, None, &workspace.store, false)?;
    let (sender, inbox) = std::sync::mpsc::channel();
    let mut by_lock = BTreeSet::new();
    for &index in cells {
        let line = workspace.locked.get(&workspace.plan.cells[index].label);
        let locked = |key| line.filter(|line| line.key == key).map(|line| line.outputs.clone());
        let job = match &cache_status.states[index] {
            KeyStatus::Cached(record) => {
                TransferRequest::Stat(record.key, locked(record.key).or_else(|| Some(record.output_digests())))
            }
            KeyStatus::Absent(resolved) => {
                let key = resolved.components.key();
                TransferRequest::Stat(key, locked(key))
            }
            // Today's key is not known before what it waits for; in a fresh clone it is that of the lock file.
            KeyStatus::KeyUnknown | KeyStatus::PipeUnread(_) => {
                let Some(line) = line else { continue };
                by_lock.insert(index);
                TransferRequest::Stat(line.key, Some(line.outputs.clone()))
            }
            KeyStatus::Unreadable(_) => continue,
        };
        let sender = std::sync::Mutex::new(sender.clone());
        service.start(job, move |event| {
            if let (TransferEvent::Status(found), Ok(sender)) = (event, sender.lock()) {
                let _ = sender.send((index, found));
            }
        });
    }
    drop(sender);
    let mut rows = BTreeMap::new();
    for (index, found) in inbox {
        let row = |(name, found): (String, Result<RemoteStatus, RemoteError>)| {
            let how = if by_lock.contains(&index) { "by the lock file's key" } else { "" }.to_owned();
            let (state, detail) = match found {
                Ok(RemoteStatus::Complete) => ("there", how),
                Ok(RemoteStatus::OtherResult) => ("another result", how),
                Ok(RemoteStatus::RecordOnly) => ("record only", how),
                Ok(RemoteStatus::Absent) | Err(RemoteError::NotFound) => ("not there", how),
                Err(RemoteError::Unreachable(why)) => ("not reached", why),
                Err(RemoteError::Panicked) => ("not reached", RemoteError::Panicked.to_string()),
                Err(fault) => ("refused", fault.to_string().trim_start_matches("refused: ").to_owned()),
            };
            OnRemote { name, state, detail }
        };
        rows.insert(index, found.into_iter().map(row).collect());
    }
    Ok(rows)
}
