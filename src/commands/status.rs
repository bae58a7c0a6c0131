//! `cwm status`: what is cached and what would run.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::cli::StatusArguments;
use crate::commands::{Workspace, print, print_json};
use crate::engine::{CellState, unread, why_now};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::store::Dropped;

#[derive(Serialize)]
struct Row {
    label: String,
    kind: String,
    state: &'static str,
    key: Option<String>,
    detail: String,
}

/// Runs `cwm status`.
///
/// # Errors
/// The pipeline or the store cannot be read.
pub fn run(store: Option<&Path>, mut arguments: StatusArguments) -> Result<ExitCode, Error> {
    arguments.pipeline.take_from(&mut arguments.stages)?;
    let mut workspace = Workspace::open(store, &arguments.pipeline)?;
    let mut chosen = Vec::new();
    for word in &arguments.stages {
        chosen.extend(workspace.plan.select(word)?);
    }
    if arguments.stages.is_empty() {
        chosen.extend(0..workspace.plan.cells.len());
    }
    chosen.sort_unstable();
    chosen.dedup();
    let survey = workspace.survey()?;
    let mut rows = Vec::new();
    for index in chosen {
        let cell = &workspace.plan.cells[index];
        let (state, key, detail) = match &survey.states[index] {
            CellState::Cached(record) if !workspace.store.missing(record, &workspace.files)?.is_empty() => {
                let (state, what) = match record.dropped {
                    None => ("incomplete", "files of its result are missing; made again when needed"),
                    Some(Dropped::Collected) => ("collected", "`cwm gc` let its files go; made again when needed"),
                    Some(Dropped::NotKept) => ("dropped", "done, and not kept (`keep: false`); made again when needed"),
                };
                (state, Some(record.key.short()), what.into())
            }
            CellState::Cached(record) => ("cached", Some(record.key.short()), survey.origin(index, record)),
            CellState::Absent(resolved) => {
                let causes = why_now(&workspace.plan, index, resolved, &workspace.store, &workspace.locked)?;
                let words: Vec<String> = causes.iter().map(ToString::to_string).collect();
                ("would run", Some(resolved.components.key().short()), words.join("; "))
            }
            CellState::Open => ("waits", None, "for what would run before it".into()),
            CellState::Unread(path) => ("may run", None, unread(path)),
            CellState::Unreadable(error) => ("unreadable", None, error.message.clone()),
        };
        rows.push(Row { label: cell.label.to_string(), kind: cell.kind.clone(), state, key, detail });
    }
    if arguments.json {
        print_json(&rows)?;
        return Ok(ExitCode::OK);
    }
    let width = rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        *counts.entry(row.state).or_default() += 1;
        text += &format!("{:<10} {:<width$}  {}\n", row.state, row.label, row.detail);
    }
    let counted: Vec<String> = counts.iter().map(|(state, count)| format!("{count} {state}")).collect();
    text += &counted.join(", ");
    print(&text)?;
    Ok(ExitCode::OK)
}
