//! `cwm run`: builds what is not cached.

mod watch;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::adapters::Remotes;
use crate::cli::{OutputStyle, RunArguments};
use crate::commands::{dry_run, executor, post_run, retry_command, transfer};
use crate::events::{RunLog, progress_sink};
use crate::hints::invocation;
use crate::locate::select_cells;
use crate::output::reject_json_with;
use crate::workspace::Workspace;
use cwm_contract::Shape;
use cwm_core::{Diagnostic, Error, ExitCode, Result};
use cwm_engine::{EventSink, EventSinks, Machine, Options, RemoteTransfers, RunEvent, Summary, UpdateLockFiles};
use cwm_project::config::Remote;
use cwm_remote::TransferService;
use cwm_slurm::SlurmExecutor;
use cwm_store::OutputShape;

/// Runs `cwm run`.
///
/// # Errors
/// The pipeline, the command line, the store or the machine; failures of stages give [`ExitCode::STAGE_FAILED`].
pub fn run(store: Option<&Path>, arguments: RunArguments) -> Result<ExitCode> {
    match arguments.output {
        OutputStyle::Auto => {}
        OutputStyle::Live => reject_json_with("--output live")?,
        OutputStyle::Plain => reject_json_with("--output plain")?,
    }
    if arguments.watch { watch::run(store, arguments) } else { run_until(store, arguments, Arc::default()) }
}

/// Runs like [`run`]; once `drain_requested` is set, running cells end and no other one starts.
///
/// # Errors
/// As [`run`].
fn run_until(store: Option<&Path>, mut arguments: RunArguments, drain_requested: Arc<AtomicBool>) -> Result<ExitCode> {
    arguments.pipeline.take_from(&mut arguments.words)?;
    let mut workspace = Workspace::load(store, &arguments.pipeline)?;
    // A lock file that cannot be updated is an error before hours of work, and not after them.
    if !arguments.dry_run && !arguments.check && workspace.has_own_lock() {
        workspace.lock_file.verify_readable()?;
    }
    workspace.warn_about_lock_files();
    let cluster = executor::cluster(&arguments, &workspace.config)?;
    let remote_store = cluster.as_ref().and_then(|settings| settings.remote_store.clone());
    let (execution, sharing) = (&arguments.execution, &arguments.sharing);
    if let (Some(remote), false) = (&sharing.remote, sharing.pull || sharing.push || remote_store.is_some()) {
        return Err(Error::usage(format!("`--remote {remote}` names a remote, and nothing is fetched or uploaded"))
            .hint("add `--pull`, `--push`, or both"));
    }
    let whole = arguments.words.is_empty();
    // Without words, it would be all cells.
    let force = if arguments.force.is_empty() { Vec::new() } else { workspace.plan.select_all(&arguments.force)? };
    let named = [select_cells(&workspace.plan, &arguments.words)?, force.clone()].concat();
    let cells = workspace.plan.ancestors(&named);
    let (targets, force) = (BTreeSet::from_iter(named.iter().copied()), BTreeSet::from_iter(force));
    require_files_and_exports(&workspace, &cells, arguments.check)?;
    if let (Some(settings), true) = (&cluster, execution.detach) {
        return executor::detach(&workspace, &arguments, settings);
    }
    let mut sinks = EventSinks(vec![progress_sink(arguments.output, arguments.verbose, workspace.labels())]);
    if !arguments.dry_run && !arguments.check {
        sinks.0.push(Box::new(RunLog::new(workspace.store.root().join("runs"))));
    }
    let plan = &workspace.plan;
    cwm_engine::checksum_conflicts(plan, &workspace.pins).into_iter().for_each(|message| sinks.warn(message));
    plan.undeclared_deps(&named).into_iter().for_each(|message| sinks.warn(message));
    plan.unused_variables.iter().for_each(|message| sinks.warn(message));
    if arguments.dry_run {
        workspace.skip_damaged_records();
        return dry_run::run(&workspace, &targets, &force, &arguments, remote_store.is_some(), &mut sinks);
    }
    workspace.store = workspace.store.quarantining_records();
    let open_remotes =
        |remotes: &[Remote], named, to_write| TransferService::open(remotes, named, &workspace.store, to_write);
    let remote = sharing.remote.as_deref();
    let pushing = sharing.push.then(|| open_remotes(&workspace.config.remotes, remote, true)).transpose()?;
    let pulling = match &remote_store {
        Some(config) => Some(open_remotes(&config.remotes, None, false)?),
        None => sharing.pull.then(|| open_remotes(&workspace.config.remotes, remote, false)).transpose()?,
    };
    let remotes = pulling.map(|service| Box::new(Remotes(service)) as Box<dyn RemoteTransfers>);
    // A store that cannot be made is an error before anything runs.
    if !arguments.check && !workspace.store.exists() {
        workspace.store.create()?;
    }
    // It is held until the lock file names the new results, so that `gc` does not take them for garbage.
    let store_lock = workspace.lock_shared(&mut sinks)?;
    if !arguments.check {
        cwm_engine::ingest_pipes(&mut workspace.plan, &cells, &workspace.store, &workspace.digests, &mut sinks)?;
        if remotes.is_none() {
            let message = workspace.results_elsewhere(&cells, "`cwm run --pull`")?;
            message.into_iter().for_each(|message| sinks.warn(message));
        }
    }
    let options = Options {
        remotes,
        has_remotes: !workspace.config.remotes.is_empty(),
        targets,
        check: arguments.check,
        force,
        machine: Machine::detect(execution.jobs),
        device: execution.device,
        command: invocation(None, ""),
        drain_requested,
        // Its errors come again at the end.
        update_lock_files: (!arguments.check).then(|| {
            let save = |done: &[_], ran: &_| drop(post_run::update_lock_files(&workspace, done, ran, false, 0, drop));
            Box::new(save) as UpdateLockFiles
        }),
        batch: cluster.map(|settings| SlurmExecutor::factory(workspace.store.clone(), settings, invocation(None, ""))),
    };
    let outcome = cwm_engine::run(workspace.context(), options, &mut sinks)?;
    let Summary { ran, cached, failed, skipped, same, different, interrupted, .. } = outcome.summary;
    let retry = retry_command::of_run(&arguments, &workspace.plan, &outcome.records);
    if arguments.check {
        drop(store_lock);
        if failed > 0 {
            let how = "`cwm pull` fetches what a check compares with";
            workspace.results_elsewhere(&cells, how)?.into_iter().for_each(|message| sinks.warn(message));
            sinks.event(&outcome.failures.event(retry));
        }
        sinks.event(&RunEvent::CheckSummary { same, different, failed, skipped });
        let code = if different > 0 { ExitCode::IRREPRODUCIBLE } else { ExitCode::OK };
        return Ok(exit_code(&outcome.summary, code));
    }
    let recorded = post_run::finish_run(&workspace, &outcome, whole, &mut sinks);
    let pushed = match &pushing {
        Some(service) if !interrupted => {
            let records = outcome.records.iter().enumerate();
            let results = records.filter_map(|(index, record)| Some((index, record.as_deref()?, true)));
            transfer::push::push(&workspace, service, results, false, &mut sinks)?
        }
        _ => ExitCode::OK,
    };
    drop(store_lock);
    let evicted = post_run::evict_unkept(&workspace, &outcome.records, &mut sinks);
    if interrupted {
        let state = "finished cells are recorded, and a stage resumes from its last checkpoint, if it wrote one";
        sinks.warn(format!("interrupted: {state}; to resume: {retry}"));
    }
    if !outcome.failures.failed.is_empty() {
        sinks.event(&outcome.failures.event(retry));
    }
    // Once more, since many lines may have followed.
    if let (Some(first), true) = (outcome.remote_warnings.first(), sharing.pull && ran > 0) {
        let more = match outcome.remote_warnings.len() {
            1 => String::new(),
            n => format!("; {} more above", n - 1),
        };
        sinks.warn(format!("not all requests to remotes succeeded, and what was not fetched was built: {first}{more}"));
    }
    sinks.event(&RunEvent::Summary { ran, cached, failed, skipped });
    recorded?;
    evicted?;
    let code = exit_code(&outcome.summary, pushed);
    if !arguments.watch {
        // The process ends here, and the system frees its memory faster.
        std::mem::forget((workspace, outcome.records));
    }
    Ok(code)
}

/// Returns the exit code of a run; it is `complete` if no cell failed.
pub(super) fn exit_code(summary: &Summary, complete: ExitCode) -> ExitCode {
    match complete {
        _ if summary.interrupted => ExitCode::INTERRUPTED,
        _ if summary.store_unavailable => ExitCode::STORE,
        ExitCode::IRREPRODUCIBLE => ExitCode::IRREPRODUCIBLE,
        _ if summary.failed > 0 => ExitCode::STAGE_FAILED,
        complete => complete,
    }
}

/// Checks that the files of these cells exist, and that their exports can be made, before hours of work.
fn require_files_and_exports(workspace: &Workspace, cells: &[usize], is_check: bool) -> Result<()> {
    let mut problems = workspace.plan.missing_files(cells);
    for export in workspace.plan.exports.iter().filter(|export| !is_check && cells.contains(&export.cell)) {
        let output = workspace.plan.cells[export.cell].outputs.iter().find(|output| output.name == export.output);
        // Whether it is a file or a folder may be known only when it is there.
        let shape = output.map(|output| output.shape).filter(|shape| !matches!(shape, Shape::FileOrFolder(_)));
        let checked =
            workspace.store.export_preflight(&export.output, shape.map(OutputShape::from).as_ref(), &export.path);
        if let Err(error) = checked {
            problems.push(Diagnostic::at(export.place, error.to_string()).maybe_hint(error.hint().map(str::to_owned)));
        }
    }
    problems.sort();
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}
