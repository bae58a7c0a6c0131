//! `cwm run`: do what is not done yet.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, stderr, stdout};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cwm_contract::DeviceChoice;

use crate::cli::{Output, RunArguments};
use crate::commands::Workspace;
use crate::commands::again;
use crate::commands::devices::missing;
use crate::commands::tensorboard::board;
use crate::curves::Live;
use crate::engine::{
    self, Cause, CellState, Estimates, Explainer, Failures, Known, Machine, Options, Outcome, Summary, Survey,
};
use crate::error::Error;
use crate::events::{Json, Plain, Reader, Readers, RunEvent, RunLog, Terminal};
use crate::exit_code::ExitCode;
use crate::housekeeping;
use crate::plan::{Body, Plan};
use crate::registry::Registry;

/// Runs `cwm run`.
///
/// # Errors
/// The pipeline, the command line, the store or the machine; failures of stages give [`ExitCode::STAGE_FAILED`].
pub fn run(store: Option<&Path>, arguments: RunArguments) -> Result<ExitCode, Error> {
    run_until(store, arguments, Arc::default())
}

/// As [`run`]; once `held` is set, what runs is finished and nothing else is begun.
///
/// # Errors
/// As [`run`].
pub fn run_until(
    store_given: Option<&Path>,
    mut arguments: RunArguments,
    held: Arc<AtomicBool>,
) -> Result<ExitCode, Error> {
    arguments.pipeline.take_from(&mut arguments.words)?;
    let mut workspace = Workspace::open(store_given, &arguments.pipeline)?;
    let mut targets = BTreeSet::new();
    for word in &arguments.words {
        targets.extend(workspace.plan.select(word)?);
    }
    let whole = targets.is_empty();
    if whole {
        targets.extend(0..workspace.plan.cells.len());
    }
    let mut force = BTreeSet::new();
    for word in &arguments.force {
        force.extend(workspace.plan.select(word)?);
    }
    if !whole {
        targets.extend(&force);
    }
    let missing = workspace.plan.missing_files(&workspace.plan.ancestors(&targets.iter().copied().collect::<Vec<_>>()));
    if !missing.is_empty() {
        return Err(missing.into());
    }
    let mut readers = readers(&arguments, &workspace);
    let fault = Rc::new(RefCell::new(None));
    if let Some(folder) = arguments.tensorboard.as_ref().filter(|_| !arguments.dry_run) {
        readers.0.push(Box::new(Live::new(board(&workspace, folder)?, fault.clone())));
    }
    for message in engine::contradictions(&workspace.plan, &workspace.pins) {
        readers.read(&RunEvent::Warning { message });
    }
    for message in workspace.plan.unnamed_files(&targets.iter().copied().collect::<Vec<_>>()) {
        readers.read(&RunEvent::Warning { message });
    }
    if arguments.dry_run {
        return dry_run(&mut workspace, &targets, &force, &arguments, &mut readers);
    }
    // A store that cannot be made is told once, before anything runs. What one lacks is made when something is written.
    if !arguments.check && !workspace.store.exists() {
        workspace.store.create()?;
    }
    // Held to the end: what was just made is not yet named by the lock file, and must not be taken for garbage.
    let guard = workspace.store.lock_shared(|holder| {
        readers.read(&RunEvent::Warning { message: format!("waiting for the store: {holder}") });
    })?;
    let cells = workspace.plan.ancestors(&targets.iter().copied().collect::<Vec<_>>());
    if !arguments.check
        && !engine::drain(&mut workspace.plan, &cells, &workspace.store, &workspace.files, &mut readers)?
    {
        return Ok(ExitCode::INTERRUPTED);
    }
    let options = Options {
        targets: targets.iter().copied().collect(),
        force,
        machine: Machine::here(arguments.jobs),
        device: arguments.device,
        command: again::typed(),
        held,
        check: arguments.check,
    };
    let Workspace { plan, store, files, locked, pins, accepted } = &mut workspace;
    let known = Known { locked, pins, accepted };
    let Outcome { records, ran: ran_now, failures, summary } =
        engine::run(plan, store, files, known, options, &mut readers)?;
    if arguments.check {
        let again = again::command(store_given, &arguments, plan, |_| true);
        return Ok(checked(summary, failures, again, &mut readers));
    }
    // None keeps the others from being done.
    let pinned = engine::update_pins(plan, pins, &records, &ran_now);
    let written = engine::update_lock_file(plan, locked, &records, whole);
    let exported = engine::export_all(plan, store, files, &records, &mut readers);
    files.save_if_possible();
    let lock = (!plan.sets).then(|| locked.path());
    let noted = housekeeping::note_run(store, lock, &records, *written.as_ref().unwrap_or(&false) || plan.sets);
    store.remember();
    drop(guard);
    let dropped = engine::let_go(plan, store, locked, &records, &mut readers);
    if let Some(error) = fault.take() {
        let message = format!("the curves in the folder of `--tensorboard` are not whole: {}", error.message);
        readers.read(&RunEvent::Warning { message });
    }
    if !failures.failed.is_empty() {
        let again = again::command(store_given, &arguments, plan, |cell| records[cell].is_some());
        readers.read(&failures.event(again));
    }
    let Summary { ran, cached, failed, skipped, .. } = summary;
    readers.read(&RunEvent::Summary { ran, cached, failed, skipped });
    pinned?;
    written?;
    exported?;
    noted?;
    dropped?;
    Ok(match summary {
        summary if summary.interrupted => ExitCode::INTERRUPTED,
        summary if summary.failed > 0 => ExitCode::STAGE_FAILED,
        _ => ExitCode::OK,
    })
}

/// The end of a run that checked: nothing is recorded, exported or locked.
fn checked(summary: Summary, failures: Failures, again: String, readers: &mut Readers) -> ExitCode {
    let Summary { same, different, failed, skipped, .. } = summary;
    if failed > 0 {
        readers.read(&failures.event(again));
    }
    readers.read(&RunEvent::CheckSummary { same, different, failed, skipped });
    match summary {
        _ if summary.interrupted => ExitCode::INTERRUPTED,
        _ if different > 0 => ExitCode::IRREPRODUCIBLE,
        _ if failed > 0 => ExitCode::STAGE_FAILED,
        _ => ExitCode::OK,
    }
}

/// Who shows what happens.
pub fn shown(output: Output, json: bool, verbose: bool) -> Box<dyn Reader> {
    let output = match output {
        _ if json => Output::Json,
        Output::Auto if stderr().is_terminal() => Output::Live,
        Output::Auto => Output::Plain,
        chosen => chosen,
    };
    match output {
        Output::Live => Box::new(Terminal::new(verbose)),
        Output::Json => Box::new(Json(stdout())),
        Output::Plain | Output::Auto => Box::new(Plain::new(stderr(), verbose)),
    }
}

fn readers(arguments: &RunArguments, workspace: &Workspace) -> Readers {
    let mut readers = vec![shown(arguments.output, arguments.json, arguments.verbose)];
    if !arguments.dry_run && !arguments.check {
        readers.push(Box::new(RunLog::new(workspace.store.root().join("runs"))));
    }
    Readers(readers)
}

/// Tells what would run, and why.
fn dry_run(
    workspace: &mut Workspace,
    targets: &BTreeSet<usize>,
    force: &BTreeSet<usize>,
    arguments: &RunArguments,
    readers: &mut Readers,
) -> Result<ExitCode, Error> {
    let survey = workspace.survey()?;
    let plan = &workspace.plan;
    let (mut would_run, mut may_run, mut cached, mut failed) = (0, 0, 0, 0);
    let (registry, machine) = (Registry::built_in(), Machine::here(arguments.jobs));
    let mut estimates = Estimates::of(&workspace.store, &registry, machine, arguments.device, &workspace.files)?;
    let cells = plan.ancestors(&targets.iter().copied().collect::<Vec<_>>());
    let lost = lost(workspace, &survey, &cells, force)?;
    let explainer = Explainer::new(plan, &workspace.store, &workspace.files, &workspace.locked, &survey);
    for index in cells {
        let label = plan.cells[index].label.clone();
        let is_done = matches!(&survey.states[index], CellState::Cached(_) | CellState::Unreadable(_));
        if (!is_done || force.contains(&index) || lost.contains_key(&index))
            && let Some(missing) = unusable(plan, index, arguments.device)
        {
            let is_certain = !matches!(&survey.states[index], CellState::Open | CellState::Unread(_));
            let would = if is_certain { "would fail" } else { "would fail if it has to run" };
            readers.read(&RunEvent::Warning { message: format!("{label} {would}: {missing}") });
            if is_certain {
                failed += 1;
                continue;
            }
        }
        let estimate = match &survey.states[index] {
            CellState::Cached(record) if !force.contains(&index) && !lost.contains_key(&index) => {
                estimates.cached(index, record);
                None
            }
            CellState::Unreadable(_) => None,
            _ => estimates.of_cell(plan, index),
        };
        match &survey.states[index] {
            CellState::Cached(_) if force.contains(&index) => {
                would_run += 1;
                let cause = vec![Cause::Forced.to_string()];
                readers.read(&RunEvent::WouldRun { label, cause, uncertain: false, estimate });
            }
            CellState::Cached(record) if lost.contains_key(&index) => {
                would_run += 1;
                let cause = vec![Cause::of_missing(record, lost[&index]).to_string()];
                readers.read(&RunEvent::WouldRun { label, cause, uncertain: false, estimate });
            }
            CellState::Cached(record) => {
                cached += 1;
                readers.read(&RunEvent::Cached { label, key: record.key, origin: survey.origin(index, record) });
            }
            CellState::Absent(_) => {
                would_run += 1;
                let cause = explainer.sentences(index)?;
                readers.read(&RunEvent::WouldRun { label, cause, uncertain: false, estimate });
            }
            CellState::Open => {
                may_run += 1;
                let cause = explainer.sentences(index)?;
                readers.read(&RunEvent::WouldRun { label, cause, uncertain: true, estimate });
            }
            CellState::Unread(path) => {
                may_run += 1;
                readers.read(&RunEvent::WouldRun {
                    label,
                    cause: vec![engine::unread(path)],
                    uncertain: true,
                    estimate,
                });
            }
            CellState::Unreadable(error) => {
                failed += 1;
                readers.read(&RunEvent::Warning { message: format!("{label} would fail: {}", error.message) });
            }
        }
    }
    let total = estimates.total();
    readers.read(&RunEvent::DrySummary { would_run, may_run, cached, would_fail: failed, total });
    Ok(if failed > 0 { ExitCode::STAGE_FAILED } else { ExitCode::OK })
}

/// Why a cell cannot be computed where this run, or else the pipeline, says.
fn unusable(plan: &Plan, index: usize, asked: Option<DeviceChoice>) -> Option<String> {
    let cell = &plan.cells[index];
    match &cell.body {
        Body::Stage(stage) if stage.uses_devices() => missing(asked.unwrap_or(cell.device)),
        Body::Stage(_) | Body::Command(_) => None,
    }
}

/// Cells that would run because files of their recorded results are gone, with how many: as in a run, only where somebody
/// is about to read them, or nobody is.
fn lost(
    workspace: &Workspace,
    survey: &Survey,
    cells: &[usize],
    force: &BTreeSet<usize>,
) -> Result<BTreeMap<usize, usize>, Error> {
    let mut lost = BTreeMap::new();
    let mut needed: BTreeSet<usize> = workspace.plan.exports.iter().map(|export| export.cell).collect();
    let mut read = BTreeSet::new();
    // Sources stand before what reads them.
    for index in cells.iter().rev() {
        let mut runs = force.contains(index);
        match &survey.states[*index] {
            CellState::Cached(record) if !runs && (needed.contains(index) || !read.contains(index)) => {
                let missing = workspace.store.missing(record, &workspace.files)?.len();
                if missing > 0 {
                    lost.insert(*index, missing);
                    runs = true;
                }
            }
            CellState::Cached(_) => {}
            CellState::Absent(_) | CellState::Open | CellState::Unread(_) | CellState::Unreadable(_) => runs = true,
        }
        for source in engine::sources(&workspace.plan.cells[*index]) {
            read.insert(source);
            if runs {
                needed.insert(source);
            }
        }
    }
    Ok(lost)
}
