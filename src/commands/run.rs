//! `cwm run`: do what is not done yet.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::adapters::Remotes;
use crate::cli::RunArguments;
use crate::commands::dry_run;
use crate::commands::executor;
use crate::commands::post_run;
use crate::commands::progress::progress_sink;
use crate::commands::retry_command;
use crate::commands::transfer;
use crate::events::RunLog;
use crate::workspace::Workspace;
use cwm_core::{Diagnostic, Diagnostics, Error, ExitCode};
use cwm_engine::{EventSink, EventSinks, InputUploader, Machine, Options, Outcome, ResultFetcher, RunEvent, Summary};
use cwm_project::site::Site;
use cwm_remote::TransferService;
use cwm_slurm::SlurmExecutor;
use cwm_slurm::isolated::RemoteStoreConfig;

/// Runs `cwm run`.
///
/// # Errors
/// The pipeline, the command line, the store or the machine; failures of stages give [`ExitCode::STAGE_FAILED`].
pub fn run(store: Option<&Path>, arguments: RunArguments) -> Result<ExitCode, Error> {
    run_until(store, arguments, Arc::default())
}

/// As [`run`]; once `drain_requested` is set, what runs is finished and nothing else is begun.
///
/// # Errors
/// As [`run`].
pub fn run_until(
    store_given: Option<&Path>,
    mut arguments: RunArguments,
    drain_requested: Arc<AtomicBool>,
) -> Result<ExitCode, Error> {
    arguments.pipeline.take_from(&mut arguments.words)?;
    let mut workspace = Workspace::open(store_given, &arguments.pipeline)?;
    let cluster = executor::cluster(&arguments, &workspace.site)?;
    let remote_store = cluster.as_ref().and_then(|settings| settings.remote_store.clone());
    if let (Some(remote), false) = (&arguments.remote, arguments.pull || arguments.push || remote_store.is_some()) {
        return Err(Error::usage(format!("`--remote {remote}` says where, and not which way"))
            .hint("add `--pull`, `--push`, or both"));
    }
    // A whole run's work is not for a lock file that cannot take it.
    if !arguments.dry_run && !arguments.check && !workspace.plan.sets {
        workspace.locked.must_be_readable()?;
    }
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
    let cells = workspace.plan.ancestors(&targets.iter().copied().collect::<Vec<_>>());
    let mut faults = workspace.plan.missing_files(&cells);
    if !arguments.check {
        blocked_exports(&workspace, &cells, &mut faults);
        faults.sort();
    }
    if !faults.is_empty() {
        return Err(faults.into());
    }
    if let (Some(settings), true) = (&cluster, arguments.detach) {
        return executor::detach(&workspace, settings);
    }
    let mut sinks = sinks(&arguments, &workspace);
    for message in cwm_engine::checksum_conflicts(&workspace.plan, &workspace.pins) {
        sinks.event(&RunEvent::Warning { message });
    }
    for message in workspace.plan.undeclared_deps(&targets.iter().copied().collect::<Vec<_>>()) {
        sinks.event(&RunEvent::Warning { message });
    }
    for variable in &workspace.plan.unused_variables {
        sinks.event(&RunEvent::Warning { message: variable.message(&workspace.plan) });
    }
    if arguments.dry_run {
        workspace.skip_damaged_records();
        return dry_run::run(&mut workspace, &targets, &force, &arguments, remote_store.is_some(), &mut sinks);
    }
    let pushing = match arguments.push {
        true => Some(TransferService::open(&workspace.site, arguments.remote.as_deref(), &workspace.store, true)?),
        false => None,
    };
    workspace.store = workspace.store.quarantining_records();
    // A store that cannot be made is told once, before anything runs. What one lacks is made when something is written.
    if !arguments.check && !workspace.store.exists() {
        workspace.store.create()?;
    }
    // Held to the end: what was just made is not yet named by the lock file, and must not be taken for garbage.
    let guard = workspace.store.lock_shared(|holder| {
        sinks.event(&RunEvent::Warning { message: format!("waiting for the store: {holder}") });
    })?;
    let cells = workspace.plan.ancestors(&targets.iter().copied().collect::<Vec<_>>());
    if !arguments.check {
        cwm_engine::ingest_pipes(&mut workspace.plan, &cells, &workspace.store, &workspace.files, &mut sinks)?;
    }
    if !(arguments.check || arguments.pull)
        && remote_store.is_none()
        && let Some(message) = workspace.results_elsewhere(&cells, "`cwm run --pull`")?
    {
        sinks.event(&RunEvent::Warning { message });
    }
    let fetcher = match &remote_store {
        Some(remote_store) => Some(fetcher(&workspace, &remote_store.site(), None)?),
        None if arguments.pull => Some(fetcher(&workspace, &workspace.site, arguments.remote.as_deref())?),
        None => None,
    };
    let uploader = remote_store.as_ref().map(|config| uploader(&workspace, config)).transpose()?;
    let options = Options {
        fetcher,
        has_remotes: !workspace.site.remotes.is_empty(),
        uploader,
        targets,
        check: arguments.check,
        force,
        machine: Machine::detect(arguments.jobs),
        device: arguments.device,
        command: retry_command::invocation(),
        drain_requested,
        batch: cluster
            .map(|settings| SlurmExecutor::of_run(workspace.store.clone(), settings, retry_command::invocation())),
    };
    let outcome = cwm_engine::run(workspace.inputs(), options, &mut sinks)?;
    if arguments.check {
        drop(guard);
        // The remotes may have the results to compare with.
        if outcome.summary.failed > 0
            && let Some(message) =
                workspace.results_elsewhere(&cells, "`cwm pull` fetches what a check compares with")?
        {
            sinks.event(&RunEvent::Warning { message });
        }
        let again = retry_command::command(store_given, &arguments, &workspace.plan, |_| true);
        return Ok(checked(outcome, again, &mut sinks));
    }
    let Outcome { records, ran: ran_now, report, summary, remote_warnings } = outcome;
    let Workspace { plan, store, files, locked, pins, .. } = &workspace;
    // None keeps the others from being done.
    let pinned = cwm_engine::update_pins(plan, pins, &records, &ran_now);
    let written = cwm_engine::update_lock_file(plan, locked, &records, whole);
    let exported = post_run::export_all(plan, store, files, &records, &mut sinks);
    files.save_if_possible();
    let lock = (!plan.sets).then(|| locked.path());
    let is_written = *written.as_ref().unwrap_or(&false) || plan.sets;
    let noted = cwm_gc::record_run(store, lock, &records, is_written, !ran_now.is_empty());
    store.save_record_cache();
    let pushed = match &pushing {
        Some(service) if !summary.interrupted => {
            transfer::push::results(service, plan, store, files, &records, &mut sinks)?
        }
        _ => true,
    };
    drop(guard);
    let dropped = post_run::evict_unkept(plan, store, locked, &records, &mut sinks);
    if !report.failed.is_empty() {
        let again = retry_command::command(store_given, &arguments, plan, |cell| records[cell].is_some());
        sinks.event(&report.event(again));
    }
    let Summary { ran, cached, failed, skipped, .. } = summary;
    // It was told when it happened, above all that ran since.
    if let (Some(first), true) = (remote_warnings.first(), arguments.pull && ran > 0) {
        let more = match remote_warnings.len() {
            1 => String::new(),
            n => format!("; {} more above", n - 1),
        };
        let message =
            format!("not all that was asked of remotes was answered, and what did not come was made: {first}{more}");
        sinks.event(&RunEvent::Warning { message });
    }
    sinks.event(&RunEvent::Summary { ran, cached, failed, skipped });
    pinned?;
    written?;
    exported?;
    noted?;
    dropped?;
    Ok(match summary {
        summary if summary.interrupted => ExitCode::INTERRUPTED,
        summary if summary.store_refused => ExitCode::STORE,
        summary if summary.failed > 0 => ExitCode::STAGE_FAILED,
        _ if !pushed => ExitCode::REMOTE,
        _ => ExitCode::OK,
    })
}

/// Fetches what others built.
fn fetcher(workspace: &Workspace, site: &Site, remote: Option<&str>) -> Result<Box<dyn ResultFetcher>, Error> {
    Ok(Box::new(Remotes(TransferService::open(site, remote, &workspace.store, false)?)))
}

/// Uploads what jobs read to the first remote, unless another has it.
fn uploader(workspace: &Workspace, remote_store: &RemoteStoreConfig) -> Result<Box<dyn InputUploader>, Error> {
    Ok(Box::new(Remotes(TransferService::open(&remote_store.site(), None, &workspace.store, false)?)))
}

/// The end of a check: nothing is recorded, exported or locked.
fn checked(Outcome { report, summary, .. }: Outcome, again: String, sinks: &mut EventSinks) -> ExitCode {
    let Summary { failed, skipped, .. } = summary;
    let (same, different) = (report.same, report.different);
    if failed > 0 {
        sinks.event(&report.event(again));
    }
    sinks.event(&RunEvent::CheckSummary { same, different, failed, skipped });
    match () {
        () if summary.interrupted => ExitCode::INTERRUPTED,
        () if summary.store_refused => ExitCode::STORE,
        () if different > 0 => ExitCode::IRREPRODUCIBLE,
        () if failed > 0 => ExitCode::STAGE_FAILED,
        () => ExitCode::OK,
    }
}

/// Adds the exports of these cells that could not be made when the run has ended: an hour's work is not for that.
fn blocked_exports(workspace: &Workspace, cells: &[usize], faults: &mut Diagnostics) {
    for export in workspace.plan.exports.iter().filter(|export| cells.contains(&export.cell)) {
        if let Some((words, hint)) = workspace.store.export_preflight(&export.path) {
            faults.push(Diagnostic::at(export.place, words).hint(hint));
        }
    }
}

fn sinks(arguments: &RunArguments, workspace: &Workspace) -> EventSinks {
    let mut sinks = vec![progress_sink(arguments.output, arguments.verbose)];
    if !arguments.dry_run && !arguments.check {
        sinks.push(Box::new(RunLog::new(workspace.store.root().join("runs"))));
    }
    EventSinks(sinks)
}
