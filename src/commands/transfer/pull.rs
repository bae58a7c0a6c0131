//! `cwm pull`: results come from remotes.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use super::{Transfer, chosen, readers};
use crate::cli::PullArguments;
use crate::commands::Workspace;
use crate::digest::Key;
use crate::engine::{CellState, Survey};
use crate::error::Error;
use crate::events::{Direction, Reader, RunEvent};
use crate::exit_code::ExitCode;
use crate::remote::{Exchange, Fault, Job, Told};

/// Runs `cwm pull`: the records of what is named and of what that rests on, and the files of what is named.
///
/// # Errors
/// The pipeline, the store or the command line; what remotes do not have gives [`ExitCode::REMOTE`].
pub fn run(store: Option<&Path>, mut arguments: PullArguments) -> Result<ExitCode, Error> {
    arguments.pipeline.take_from(&mut arguments.words)?;
    let mut workspace = Workspace::open(store, &arguments.pipeline)?;
    let chosen = chosen(&workspace, &arguments.words)?;
    let exchange = Exchange::open(&workspace.site, arguments.remote.as_deref(), &workspace.store, false)?;
    let mut readers = readers(arguments.json, arguments.verbose);
    workspace.store.create()?;
    let _shared = workspace.store.lock_shared(|holder| {
        readers.read(&RunEvent::Warning { message: format!("waiting for the store: {holder}") });
    })?;
    let all = workspace.plan.ancestors(&chosen.iter().copied().collect::<Vec<_>>());
    let mut transfer = Transfer::new(&exchange, Direction::Pull, &mut readers);
    let survey = records(&mut workspace, &all, &mut transfer)?;

    let mut asked = HashSet::new();
    for &index in &chosen {
        let cell = &workspace.plan.cells[index];
        let record = match &survey.states[index] {
            CellState::Cached(record) => record,
            CellState::Unreadable(error) => {
                transfer.missing.push(format!("{}: {}", cell.label, error.message));
                continue;
            }
            CellState::Absent(_) | CellState::Open | CellState::Unread(_) => {
                transfer.missing.push(format!("{}: no remote that was reached has a result of it", cell.label));
                continue;
            }
        };
        // What is not kept here is not fetched either.
        if !cell.keep || !asked.insert(record.key) || workspace.store.missing(record, &workspace.files)?.is_empty() {
            continue;
        }
        let line = workspace.locked.get(&cell.label).filter(|line| line.key == record.key);
        let candidates = workspace.store.candidates(&record.key, line.map(|line| &line.outputs))?;
        transfer.start(index, record.key, Job::Files(candidates));
        while transfer.is_full()
            && let Some((cell, told)) = transfer.next()
        {
            transfer.tell(&workspace.plan, cell, told);
        }
    }
    while let Some((cell, told)) = transfer.next() {
        transfer.tell(&workspace.plan, cell, told);
    }
    Ok(if transfer.end() { ExitCode::OK } else { ExitCode::REMOTE })
}

/// Takes over the records of cells, those before what rests on them: only a source's result tells a key.
fn records(workspace: &mut Workspace, cells: &[usize], transfer: &mut Transfer<'_>) -> Result<Survey, Error> {
    let mut asked: HashSet<Key> = HashSet::new();
    let mut told_of = BTreeSet::new();
    loop {
        let survey = workspace.survey()?;
        let before = transfer.begun;
        for &index in cells {
            let keys = wanted(workspace, &survey, index);
            if let Some(key) = keys.first().copied().filter(|key| asked.insert(*key)) {
                transfer.start(index, key, Job::Records(keys));
            }
        }
        if transfer.begun == before {
            return Ok(survey);
        }
        while let Some((_, told)) = transfer.next() {
            let Told::Records(_, faults) = told else { continue };
            for (remote, fault) in faults {
                let message = format!("the remote `{remote}`: {}", fault.words());
                if told_of.insert(message.clone()) {
                    // A remote that is not there may have what the others lack.
                    if !matches!(fault, Fault::NotThere) {
                        transfer.missing.push(message.clone());
                    }
                    transfer.readers.read(&RunEvent::Warning { message });
                }
            }
        }
    }
}

/// The keys whose records a cell may take: none, if it has a result, and the lock file names no other one.
fn wanted(workspace: &Workspace, survey: &Survey, index: usize) -> Vec<Key> {
    let label = &workspace.plan.cells[index].label;
    match &survey.states[index] {
        CellState::Absent(resolved) if !crate::brought::is_open(&resolved.components) => {
            let older = workspace.accepted.stand_ins(&resolved.components).map(|older| older.key());
            [resolved.components.key()].into_iter().chain(older).collect()
        }
        CellState::Cached(record) => {
            let line = workspace.locked.get(label).filter(|line| line.key == record.key);
            match line.is_some_and(|line| line.outputs != record.output_digests()) {
                true => vec![record.key],
                false => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}
