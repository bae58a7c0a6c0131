//! `cwm status`: what is cached and what would run.

mod graph;

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Serialize, Serializer};

use crate::cli::StatusArguments;
use crate::commands::remote_hints::print_hints;
use crate::fold::{Entry, Group, fold, fold_lines};
use crate::hints::with_options;
use crate::locate::select_cells;
use crate::output::{is_json, print_json, print_text};
use crate::workspace::Workspace;
use cwm_core::{Error, ExitCode};
use cwm_engine::{CacheStatus, Cause, CellStatus, Explainer, KeyStatus};
use cwm_remote::{RemoteError, RemoteStatus, TransferEvent, TransferRequest, TransferService};

/// The state of a cell whose key is not known yet, in JSON.
const WAITS: &str = "waits";

/// The status of a cell.
#[derive(Serialize)]
struct Row {
    label: String,
    kind: String,
    state: String,
    key: Option<String>,
    #[serde(serialize_with = "joined")]
    detail: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remotes: Vec<RemoteRow>,
}

fn joined<S: Serializer>(lines: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&lines.join("; "))
}

/// The part of a cell's result that a remote has.
#[derive(Serialize)]
struct RemoteRow {
    /// The remote.
    name: String,
    /// `present`, `another result`, `record only`, `missing`, `not reached` or `refused`.
    state: &'static str,
    /// The reason of an error, or the key that was looked up if it is not today's.
    detail: String,
}

impl RemoteRow {
    fn text(&self) -> String {
        let RemoteRow { name, state, detail } = self;
        if detail.is_empty() { format!("{name}: {state}") } else { format!("{name}: {state} ({detail})") }
    }
}

/// Runs `cwm status`.
///
/// # Errors
/// The pipeline or the store cannot be read.
pub fn run(store: Option<&Path>, mut arguments: StatusArguments) -> Result<ExitCode, Error> {
    arguments.pipeline.take_from(&mut arguments.stages)?;
    if let Some(notation) = arguments.graph {
        return graph::run(&arguments, notation);
    }
    let workspace = Workspace::open_skipping_damaged(store, &arguments.pipeline)?;
    let chosen = select_cells(&workspace.plan, &arguments.stages)?;
    workspace.print_compared_run();
    let cache_status = workspace.cache_status()?;
    let queue = cwm_slurm::query_queue(&workspace.store);
    let mut remotes = match arguments.remote {
        true => query_remotes(&workspace, &cache_status, &chosen)?,
        false => BTreeMap::new(),
    };
    let predictions = workspace.predictions(&cache_status)?;
    let explainer = Explainer::new(workspace.context(), &cache_status, &predictions);
    let (mut rows, mut open) = (Vec::new(), Vec::new());
    for &index in &chosen {
        let cell = &workspace.plan.cells[index];
        let key = cache_status.key(index);
        let reason = explainer.explain_alone(index)?;
        let causes = reason.causes.iter().map(Cause::to_string).chain(reason.advice);
        let mut detail: Vec<String> = causes.chain(reason.origin).collect();
        let running = reason.causes.iter().find(|cause| matches!(cause, Cause::Running { .. }));
        let state = match (&cache_status.states[index], reason.state) {
            (KeyStatus::Cached(record), CellStatus::Cached) => {
                detail = vec![cache_status.origin(index, record)];
                if workspace.context().differs_from_lock(index, record) {
                    detail.push("another result than the lock file's".to_owned());
                }
                "cached".to_owned()
            }
            (KeyStatus::Absent(_), _) if let Some(job) = key.and_then(|key| queue.get(&key)) => {
                detail = vec![job.detail.clone()];
                job.state.to_owned()
            }
            (KeyStatus::Absent(_), _) if let Some(Cause::Running { owner }) = running => {
                detail = vec![owner.rsplit_once("`, ").map_or(owner.clone(), |(_, process)| process.to_owned())];
                "running".to_owned()
            }
            (KeyStatus::KeyUnknown, CellStatus::Waits) => {
                detail.insert(0, explainer.waits_for(index));
                WAITS.to_owned()
            }
            (_, CellStatus::WouldFail) => "unreadable".to_owned(),
            (_, state) => state.to_string(),
        };
        open.extend(reason.causes);
        rows.push(Row {
            label: cell.label.to_string(),
            kind: cell.kind.clone(),
            state,
            key: key.map(|key| key.short()),
            detail,
            remotes: remotes.remove(&index).unwrap_or_default(),
        });
    }
    if is_json() {
        print_json(&rows)?;
        return Ok(ExitCode::OK);
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    rows.iter().for_each(|row| *counts.entry(state_for_people(&row.state)).or_default() += 1);
    let entry = |(&index, row): (&usize, &Row)| {
        let remotes = row.remotes.iter().map(RemoteRow::text);
        let detail = if arguments.verbose { row.detail.clone() } else { fold_lines(row.detail.clone()) };
        let state = state_for_people(&row.state).to_owned();
        let lines = [state, detail.join("; ")].into_iter().chain(remotes).collect();
        Entry { label: workspace.plan.cells[index].label.clone(), lines, value: () }
    };
    let groups = fold(chosen.iter().zip(&rows).map(entry).collect(), &workspace.labels(), arguments.verbose);
    let width = groups.iter().map(|group| group.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for Group { name, lines, .. } in &groups {
        text += &format!("{:<10} {name:<width$}  {}\n", lines[0], lines[1]);
        lines[2..].iter().for_each(|remote| text += &format!("{:<10} {:<width$}  {remote}\n", "", ""));
    }
    let counted: Vec<String> = counts.iter().map(|(state, count)| format!("{count} {state}")).collect();
    text += &counted.join(", ");
    print_text(&with_options(&text))?;
    print_hints(&workspace, &chosen, open.iter());
    Ok(ExitCode::OK)
}

/// Returns the name of a state in text, where `why` and `--dry-run` print the same for cells without a key.
fn state_for_people(state: &str) -> &str {
    if state == WAITS { "may run" } else { state }
}

/// Looks up what the remotes have of cells, by index.
fn query_remotes(
    workspace: &Workspace,
    cache_status: &CacheStatus,
    cells: &[usize],
) -> Result<BTreeMap<usize, Vec<RemoteRow>>, Error> {
    let service = TransferService::open(&workspace.config.remotes, None, &workspace.store, false)?;
    let (sender, inbox) = std::sync::mpsc::channel();
    for &index in cells {
        let line = workspace.lock_file.get(&workspace.plan.cells[index].label);
        let today = cache_status.key(index);
        // The key of a cell that waits is not known yet. In a fresh clone it is that of the lock file.
        let Some(key) = today.or(line.map(|line| line.key)) else { continue };
        let locked = line.filter(|line| line.key == key).map(|line| line.outputs.clone());
        let outputs = locked.or_else(|| Some(cache_status.record(index)?.output_digests()));
        let sender = sender.clone();
        service.start(TransferRequest::Stat(key, outputs), move |event| {
            if let TransferEvent::Status(found) = event {
                let _ = sender.send((index, today.is_none(), found));
            }
        });
    }
    drop(sender);
    let mut rows = BTreeMap::new();
    for (index, is_by_lock, found) in inbox {
        let row = |(name, found): (String, Result<RemoteStatus, RemoteError>)| {
            let detail = if is_by_lock { "by the lock file's key" } else { "" }.to_owned();
            let (state, detail) = match found {
                Ok(RemoteStatus::Complete) => ("present", detail),
                Ok(RemoteStatus::OtherResult) => ("another result", detail),
                Ok(RemoteStatus::RecordOnly) => ("record only", detail),
                Ok(RemoteStatus::Absent) | Err(RemoteError::NotFound) => ("missing", detail),
                Err(RemoteError::Unreachable(reason)) => ("not reached", reason),
                Err(error @ RemoteError::Panicked) => ("not reached", error.to_string()),
                Err(error) => ("refused", error.to_string().trim_start_matches("refused: ").to_owned()),
            };
            RemoteRow { name, state, detail }
        };
        rows.insert(index, found.into_iter().map(row).collect());
    }
    Ok(rows)
}
