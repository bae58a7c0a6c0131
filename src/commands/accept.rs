//! `cwm accept`: a change of code changes no result, so those of the older code stay (`docs/design/accept.md`).

mod assess;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::cli::AcceptArguments;
use crate::output::print_answer;
use crate::workspace::Workspace;
use assess::{Assessment, affected, assess};
use cwm_action::probe::ProbeRunner;
use cwm_action::user;
use cwm_core::{Error, ExitCode, list_some, plural};
use cwm_project::accepted::{Accepted, AcceptedChange};
use cwm_store::Machine;

/// Cells that are named of those that a change is about.
const NAMED: usize = 8;

/// What `--json` prints.
#[derive(Default, Serialize)]
struct Answer {
    /// Changes of code that were accepted just now, with `--list` all of them, with `--undo` those that were taken back.
    changes: Vec<Change>,
    /// Cells whose results were not taken over, and why.
    refused: BTreeMap<String, String>,
}

/// A change of code.
#[derive(Serialize)]
struct Change {
    /// Its name in `accepted.lock`.
    name: String,
    /// What stands there.
    alias: AcceptedChange,
    /// Cells of this pipeline whose results stay because of it.
    cells: Vec<String>,
}

/// Runs `cwm accept`.
///
/// # Errors
/// No such stage; there is nothing to accept, or more than code changed, without `--probed`; the pipeline, the store or
/// `accepted.lock` cannot be read or written.
pub fn run(store: Option<&Path>, mut arguments: AcceptArguments) -> Result<ExitCode, Error> {
    arguments.pipeline.take_from(&mut arguments.stages)?;
    let mut workspace = Workspace::open(store, &arguments.pipeline)?;
    let mut cells = Vec::new();
    for word in &arguments.stages {
        cells.extend(workspace.plan.select(word)?);
    }
    if arguments.stages.is_empty() {
        if !arguments.probed && !arguments.list {
            let hint = if arguments.undo {
                "`cwm accept --list` lists what was accepted, `cwm accept --undo STAGE` takes it back"
            } else {
                "`cwm accept --probed` accepts whatever its probe allows"
            };
            return Err(Error::usage("no stage is named").hint(hint));
        }
        cells.extend(0..workspace.plan.cells.len());
    }
    cells.sort_unstable();
    cells.dedup();
    let answer = if arguments.list {
        listed(&workspace.accepted)
    } else if arguments.undo {
        undo(&workspace, &cells)?
    } else {
        accept(&mut workspace, cells, &arguments)?
    };
    print_answer(&answer, || text(&answer, &arguments))?;
    Ok(if answer.refused.is_empty() { ExitCode::OK } else { ExitCode::NOT_ACCEPTED })
}

fn listed(accepted: &Accepted) -> Answer {
    let change = |(name, alias): (&str, &AcceptedChange)| Change {
        name: name.to_owned(),
        alias: alias.clone(),
        cells: Vec::new(),
    };
    Answer { changes: accepted.aliases().map(change).collect(), ..Answer::default() }
}

/// Takes back whatever lets older results stand for those of today's code of these cells.
fn undo(workspace: &Workspace, cells: &[usize]) -> Result<Answer, Error> {
    let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for index in cells {
        let cell = &workspace.plan.cells[*index];
        let Some(code) = cell.code()? else { continue };
        for name in workspace.accepted.changes_leading_to(&cell.kind, &code) {
            names.entry(name).or_default().push(cell.label.to_string());
        }
    }
    if names.is_empty() {
        return Err(Error::usage("nothing was accepted that leads to today's code of these stages")
            .hint("`cwm accept --list` lists what was accepted"));
    }
    workspace.accepted.save(Vec::new(), &names.keys().cloned().collect::<Vec<_>>())?;
    let all: BTreeMap<&str, &AcceptedChange> = workspace.accepted.aliases().collect();
    let change = |(name, cells): (String, Vec<String>)| {
        let alias = (*all.get(name.as_str())?).clone();
        Some(Change { name, alias, cells })
    };
    Ok(Answer { changes: names.into_iter().filter_map(change).collect(), ..Answer::default() })
}

/// Accepts what changed of the code of these cells, those that others read first: only then are the keys of these known.
fn accept(workspace: &mut Workspace, cells: Vec<usize>, arguments: &AcceptArguments) -> Result<Answer, Error> {
    let mut answer = Answer::default();
    let mut judge = ProbeRunner::default();
    let mut pending = cells;
    let mut up_to_date = Vec::new();
    let mut cache_status = workspace.cache_status()?;
    loop {
        let mut found: BTreeMap<String, AcceptedChange> = BTreeMap::new();
        let mut waiting = Vec::new();
        for index in std::mem::take(&mut pending) {
            let label = workspace.plan.cells[index].label.to_string();
            match assess(workspace, &cache_status, index)? {
                Assessment::Change(alias) => _ = found.insert(alias.name(), *alias),
                Assessment::UpToDate => up_to_date.push(label),
                Assessment::Waits(problem) => waiting.push((index, label, problem)),
                // Of all stages, only those count whose code changed alone.
                Assessment::Refused(_) if arguments.stages.is_empty() => {}
                Assessment::Refused(why) => _ = answer.refused.insert(label, why),
            }
        }
        let mut added = false;
        for (name, alias) in found {
            let affected = affected(workspace, &alias)?;
            if arguments.probed {
                let refused = assess::refused(workspace, &affected, &mut judge)?;
                if !refused.is_empty() {
                    let all = affected.iter().map(|(index, _)| workspace.plan.cells[*index].label.to_string());
                    let other = refused.keys().next().cloned().unwrap_or_default();
                    let with = |label: String| {
                        let why = refused.get(&label).cloned();
                        (label, why.unwrap_or_else(|| format!("the change of code is also that of {other}")))
                    };
                    answer.refused.extend(all.map(with));
                    continue;
                }
            }
            let alias = signed(alias, arguments);
            workspace.accepted.add(alias.clone());
            added = true;
            let cells = affected.iter().map(|(index, _)| workspace.plan.cells[*index].label.to_string()).collect();
            answer.changes.push(Change { name, alias, cells });
        }
        if !added {
            let named = waiting.into_iter().filter(|_| !arguments.stages.is_empty());
            answer.refused.extend(named.map(|(_, label, problem)| (label, problem)));
            break;
        }
        pending = waiting.into_iter().map(|(index, ..)| index).collect();
        cache_status = workspace.cache_status()?;
    }
    if !arguments.probed {
        if let Some((label, why)) = answer.refused.first_key_value() {
            return Err(Error::usage(format!("{label}: {why}; nothing was accepted")));
        }
        if answer.changes.is_empty() {
            let problem = format!("there is nothing to accept: {} up to date", stages(&up_to_date));
            return Err(Error::usage(problem));
        }
    }
    workspace.accepted.save(answer.changes.iter().map(|change| change.alias.clone()).collect(), &[])?;
    Ok(answer)
}

fn signed(alias: AcceptedChange, arguments: &AcceptArguments) -> AcceptedChange {
    AcceptedChange {
        by: format!("{}@{}", user(), Machine::here().host),
        at: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        why: arguments.message.clone(),
        probed: arguments.probed,
        ..alias
    }
}

fn stages(labels: &[String]) -> String {
    match labels {
        [only] => format!("{only} is"),
        _ => format!("{} are", plural(labels.len() as u64, "cell", "cells")),
    }
}

fn text(answer: &Answer, arguments: &AcceptArguments) -> String {
    let mut text = String::new();
    let verb = match (arguments.list, arguments.undo) {
        (true, _) => "",
        (_, true) => "taken back: ",
        _ => "accepted: ",
    };
    for Change { name, alias, cells } in &answer.changes {
        text += &format!("{verb}{name}: {}\n", alias.changed().join(", "));
        let evidence = if alias.probed { ", by probes" } else { "" };
        let why = alias.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        text += &format!("  {} {}{evidence}{why}\n", alias.by, alias.at);
        if !cells.is_empty() {
            let count = plural(cells.len() as u64, "result", "results");
            let verb = match (arguments.undo, cells.len()) {
                (true, 1) => "no longer stays",
                (true, _) => "no longer stay",
                (false, 1) => "stays",
                (false, _) => "stay",
            };
            text += &format!("  {count} {verb}: {}\n", list_some(cells, NAMED));
        }
    }
    for (label, why) in &answer.refused {
        text += &format!("not accepted: {label}: {why}\n");
    }
    if text.is_empty() {
        text += if arguments.list { "nothing was accepted\n" } else { "nothing to accept: no code changed alone\n" };
    }
    text
}
