//! `cwm accept`: declares that a change of code changes no result, so that those of the older code stay
//! (`docs/design/accept.md`).

mod assess;
mod recorded_files;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::cli::AcceptArguments;
use crate::output::{is_json, print_note, print_result};
use crate::workspace::Workspace;
use assess::{Assessment, affected, assess};
use cwm_action::probe::ProbeRunner;
use cwm_action::user;
use cwm_core::{Error, ExitCode, list_some, plural, shell_quote};
use cwm_project::accepted::AcceptedChange;
use cwm_store::host_name;

/// The number of cells that are named of those that a change affects.
const MAX_CELLS: usize = 8;

/// The changes, as `--json` prints them.
#[derive(Default, Serialize)]
struct AcceptOutput {
    /// Changes of code that were accepted just now, with `--list` all of them, with `--undo` those that were taken back.
    changes: Vec<Change>,
    /// The cells whose results do not stay, with the reason.
    rejected: BTreeMap<String, String>,
    /// The commands among them, by stage: the cell, or the stage if several of its cells are among them.
    #[serde(skip)]
    commands: BTreeMap<String, String>,
}

/// A change of code.
#[derive(Serialize)]
struct Change {
    /// Its name in `accepted.lock`.
    name: String,
    /// Its entry there.
    entry: AcceptedChange,
    /// Cells of this pipeline whose results stay because of it.
    cells: Vec<String>,
}

/// Runs `cwm accept`.
///
/// # Errors
/// No such stage; there is nothing to accept, or more than code changed, without `--probed`; the pipeline, the store or
/// `accepted.lock` cannot be read or written.
pub fn run(store: Option<&Path>, mut arguments: AcceptArguments) -> Result<ExitCode, Error> {
    if arguments.previous
        && let Some(lock) = arguments.stages.iter().find(|word| word.ends_with(".lock"))
    {
        return Err(Error::usage(format!("`--previous` takes no lock file, and `{lock}` is one")).hint(format!(
            "it keeps the result that the pipeline's lock file names: leave `{lock}` out, or put it in that file's place"
        )));
    }
    arguments.pipeline.take_from(&mut arguments.stages)?;
    if arguments.previous || !arguments.files.is_empty() {
        return recorded_files::run(store, &arguments);
    }
    let mut workspace = Workspace::open(store, &arguments.pipeline)?;
    if arguments.stages.is_empty() && !arguments.probed && !arguments.list {
        return Err(Error::usage("no stage is named").hint(
            "`cwm accept --probed` accepts all changes that probes allow; `--list` lists what was accepted, and \
             `cwm accept --undo STAGE` takes it back",
        ));
    }
    let cells = workspace.plan.select_all(&arguments.stages)?;
    let answer = if arguments.list {
        let changes = workspace.accepted_changes.changes().map(Change::of).collect();
        AcceptOutput { changes, ..AcceptOutput::default() }
    } else if arguments.undo {
        undo(&workspace, &cells)?
    } else {
        accept(&mut workspace, &cells, &arguments)?
    };
    print_result(&answer, || text(&answer, &arguments))?;
    if !is_json() {
        hints(&answer.commands).for_each(|hint| print_note(&format!("hint: {hint}")));
    }
    Ok(if answer.rejected.is_empty() { ExitCode::OK } else { ExitCode::NOT_ACCEPTED })
}

impl Change {
    fn of(entry: &AcceptedChange) -> Change {
        Change { name: entry.name(), entry: entry.clone(), cells: Vec::new() }
    }
}

/// Takes back all that lets older results stand for those of today's code of these cells.
fn undo(workspace: &Workspace, cells: &[usize]) -> Result<AcceptOutput, Error> {
    let mut changes: BTreeMap<String, Change> = BTreeMap::new();
    for index in cells {
        let cell = &workspace.plan.cells[*index];
        let Some(code) = cell.code()? else { continue };
        for entry in workspace.accepted_changes.changes_leading_to(&cell.kind, &code) {
            let change = changes.entry(entry.name()).or_insert_with(|| Change::of(entry));
            change.cells.push(cell.label.to_string());
        }
    }
    if changes.is_empty() {
        return Err(Error::usage("no change up to the current code of these stages was accepted")
            .hint("`cwm accept --list` lists what was accepted"));
    }
    workspace.accepted_changes.save(Vec::new(), &changes.keys().cloned().collect::<Vec<_>>())?;
    Ok(AcceptOutput { changes: changes.into_values().collect(), ..AcceptOutput::default() })
}

/// Accepts the changes of the code of these cells. The keys of cells downstream are known only once those upstream are
/// accepted, so this repeats until nothing more is accepted.
fn accept(workspace: &mut Workspace, cells: &[usize], arguments: &AcceptArguments) -> Result<AcceptOutput, Error> {
    let mut changes: Vec<Change> = Vec::new();
    let mut probes = ProbeRunner::default();
    let (rejected, commands, open) = loop {
        let cache_status = workspace.cache_status()?;
        let (mut found, mut rejected, mut commands) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut open = BTreeMap::new();
        for &index in cells {
            let label = workspace.plan.cells[index].label.clone();
            match assess(workspace, &cache_status, index)? {
                Assessment::UpToDate => {}
                Assessment::Change(entry) => _ = found.insert(entry.name(), *entry),
                // Of all stages, only those count whose code changed alone.
                _ if arguments.stages.is_empty() => {}
                Assessment::KeyUnknown(source) => {
                    rejected.insert(label.to_string(), format!("it depends on {source}, which would run"));
                    open.insert(label.to_string(), source);
                }
                Assessment::Rejected(reason) => _ = rejected.insert(label.to_string(), reason),
                Assessment::ChangedCommand(reason) => {
                    rejected.insert(label.to_string(), reason);
                    let command = commands.entry(label.stage.clone()).and_modify(|cell| *cell = label.stage.clone());
                    command.or_insert_with(|| label.to_string());
                }
            }
        }
        let accepted_before = changes.len();
        for (name, entry) in found {
            let affected = affected(workspace, &entry)?;
            let cells: Vec<String> =
                affected.iter().map(|(index, _)| workspace.plan.cells[*index].label.to_string()).collect();
            if arguments.probed {
                let differing = assess::rejected(workspace, &affected, &mut probes)?;
                if let Some(other) = differing.keys().next().cloned() {
                    let reason = format!("the change of code is also that of {other}");
                    rejected.extend(cells.into_iter().map(|label| (label, reason.clone())));
                    rejected.extend(differing);
                    continue;
                }
            }
            let entry = AcceptedChange {
                by: format!("{}@{}", user(), host_name()),
                at: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
                why: arguments.message.clone(),
                probed: arguments.probed,
                ..entry
            };
            workspace.accepted_changes.add(entry.clone());
            changes.push(Change { name, entry, cells });
        }
        if changes.len() == accepted_before {
            break (rejected, commands, open);
        }
    };
    if !arguments.probed {
        if let Some((label, reason)) = rejected.first_key_value() {
            let error = Error::usage(format!("{label}: {reason}; nothing was accepted"));
            let both = open.get(label).map(|source| {
                let (source, label) = (shell_quote(source), shell_quote(label));
                format!("accept both: `cwm accept {source} {label}`; or run that one: `cwm run {source}`")
            });
            return Err(hints(&commands).chain(both).fold(error, Error::hint));
        }
        if changes.is_empty() {
            let up_to_date = match cells {
                [only] => format!("{} is", workspace.plan.cells[*only].label),
                _ => format!("{} are", plural(cells.len() as u64, "cell", "cells")),
            };
            return Err(Error::usage(format!("there is nothing to accept: {up_to_date} up to date")));
        }
    }
    workspace.accepted_changes.save(changes.iter().map(|change| change.entry.clone()).collect(), &[])?;
    Ok(AcceptOutput { changes, rejected, commands })
}

/// Returns a hint for each command whose previous results can be kept.
fn hints(commands: &BTreeMap<String, String>) -> impl Iterator<Item = String> {
    let hint = |name: &String| format!("`cwm accept {} --previous` keeps its previous results", shell_quote(name));
    commands.values().map(hint)
}

fn text(answer: &AcceptOutput, arguments: &AcceptArguments) -> String {
    let mut text = String::new();
    let verb = match (arguments.list, arguments.undo) {
        (true, _) => "",
        (_, true) => "taken back: ",
        _ => "accepted: ",
    };
    for Change { name, entry, cells } in &answer.changes {
        text += &format!("{verb}{name}: {}\n", entry.changed().join(", "));
        let evidence = if entry.probed { ", by probes" } else { "" };
        let why = entry.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        text += &format!("  {} {}{evidence}{why}\n", entry.by, entry.at);
        if !cells.is_empty() {
            let (one, many) = match arguments.undo {
                true => ("result no longer stays", "results no longer stay"),
                false => ("result stays", "results stay"),
            };
            text += &format!("  {}: {}\n", plural(cells.len() as u64, one, many), list_some(cells, MAX_CELLS));
        }
    }
    text.extend(answer.rejected.iter().map(|(label, why)| format!("not accepted: {label}: {why}\n")));
    if text.is_empty() {
        text += if arguments.list { "nothing was accepted\n" } else { "nothing to accept: no code changed alone\n" };
    }
    text
}
