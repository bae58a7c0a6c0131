//! Running a plan: the loop that waits for events, informs the [`Scheduler`] and carries out its effects. A failure stops the
//! cells that depend on it and nothing else.

mod check;
mod decide;
mod executors;
mod integrity;
mod options;
mod outcome;
mod signals;
mod transfers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use cwm_contract::Label;

use crate::action::{executable_files, needs_of};
use crate::event::{EventSink, EventSinks, RunEvent};
use crate::executor::{ActionRequest, Cancel, StartOutcome};
use crate::lookup::RunContext;
use crate::retry::max_attempts;
use crate::scheduler::{CellSpec, CellState, Effect, Event, RunState, Scheduler};
use crate::update::{Update, UpdateSender};
use cwm_action::{ActionFailure, ActionFile, ActionOutcome, AttemptOptions};
use cwm_core::{Error, ErrorKind, Key, Result};
use cwm_store::{ActionRecord, WorkFolder};
use executors::Executors;
use integrity::LostFiles;
pub use options::{Options, Outcome, RunFailures, Summary, UpdateLockFiles};
pub use signals::stop_signals;
use transfers::Transfers;

/// The state of the work at a cell that is not done.
#[derive(Default)]
struct Work {
    key: Option<Key>,
    action: Option<ActionFile>,
    /// The event of its start.
    started: Option<RunEvent>,
    /// When its work began: it may wait for another process first.
    began: Option<Instant>,
    /// The outcome that its action reported.
    outcome: Option<Result<ActionOutcome, ActionFailure>>,
    failure: Option<ActionFailure>,
}

/// A run under way.
struct Engine<'a> {
    context: RunContext<'a>,
    options: Options<'a>,
    scheduler: Scheduler,
    /// The last result of each cell that has or had one.
    records: Vec<Option<Arc<ActionRecord>>>,
    work: BTreeMap<usize, Work>,
    executors: Executors,
    transfers: Transfers,
    lost_files: LostFiles,
    failures: RunFailures,
    summary: Summary,
    sinks: &'a mut EventSinks,
    began: Instant,
    /// When the first of the results came that are not saved yet.
    lock_files_outdated_since: Option<Instant>,
}

/// Runs the targets of `options`, or checks them.
///
/// # Errors
/// The store or the machine cannot be used at all. Failures of stages are events and are counted.
pub fn run<'a>(context: RunContext<'a>, mut options: Options<'a>, sinks: &'a mut EventSinks) -> Result<Outcome> {
    let plan = context.plan;
    let targets: Vec<usize> = options.targets.iter().copied().collect();
    let selected = plan.ancestors(&targets);
    sinks.event(&RunEvent::Planned { cells: selected.len() });
    let (sender, inbox) = channel();
    let to_signal = sender.clone();
    let signals = signals::watch(move || to_signal.send(Update::Signal).is_ok())?;
    // A run that has ended receives no more.
    let updates: UpdateSender = Arc::new(move |update| drop(sender.send(update)));
    let mut executors = Executors::new(context, options.machine.clone(), options.batch.take(), updates.clone());
    let mut specs = context.cell_specs(&selected);
    for index in selected {
        let Some(spec) = &mut specs[index] else { continue };
        if options.check {
            // A check reads recorded results, so no cell waits for another, and it fails at the first attempt.
            *spec = CellSpec::default();
        }
        spec.outlives_run = executors.of(index).outlives_run();
    }
    let mut engine = Engine {
        context,
        transfers: Transfers::new(options.remotes.take(), updates),
        options,
        scheduler: Scheduler::new(specs),
        records: plan.cells.iter().map(|_| None).collect(),
        work: BTreeMap::new(),
        executors,
        lost_files: LostFiles::default(),
        failures: RunFailures::default(),
        summary: Summary::default(),
        sinks,
        began: Instant::now(),
        lock_files_outdated_since: None,
    };
    engine.event_loop(&inbox);
    signals.close();
    Ok(engine.outcome())
}

impl Engine<'_> {
    fn event_loop(&mut self, inbox: &Receiver<Update>) {
        self.on(Event::RunStarted);
        loop {
            if self.options.drain_requested.load(Ordering::SeqCst) {
                self.on(Event::DrainRequested);
            }
            let due = self.scheduler.next_timer().map(|due| due.saturating_sub(self.began.elapsed()));
            if due == Some(Duration::ZERO) {
                self.on(Event::Timer);
            }
            if self.scheduler.run_state() == RunState::Running {
                self.start_queued();
            }
            if self.scheduler.is_over() {
                break;
            }
            self.update_lock_files();
            const TICK: Duration = Duration::from_millis(500);
            match inbox.recv_timeout(due.unwrap_or(TICK).min(TICK)) {
                Ok(update) => self.on_update(update),
                Err(RecvTimeoutError::Timeout) => self.sinks.tick(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.executors.all.iter_mut().for_each(|executor| executor.close());
        while let Ok(update) = inbox.try_recv() {
            // What was submitted and cancelled last.
            if let Update::Emit(event @ (RunEvent::Warning { .. } | RunEvent::Submitted { .. })) = update {
                self.sinks.event(&event);
            }
        }
        self.on(Event::End);
    }

    fn on_update(&mut self, update: Update) {
        match update {
            Update::Emit(event) => self.sinks.event(&event),
            Update::Message(cell, message) => self.on_message(cell, message),
            Update::Exited(cell, exited) => {
                self.executors.of(cell).release(cell);
                self.on_exit(cell, exited);
            }
            Update::RecordsFetched(cell, warnings) => self.on_records(cell, warnings),
            Update::FilesFetched(cell, failure) => self.on_files(cell, failure),
            Update::Uploaded(id, uploaded) => self.on_upload(&id, uploaded),
            Update::Signal => self.stop(),
        }
    }

    /// Saves the results so far if one has waited long enough for that; the caller saves the last ones.
    fn update_lock_files(&mut self) {
        const LONGEST: Duration = Duration::from_secs(2);
        if self.lock_files_outdated_since.is_none_or(|since| since.elapsed() < LONGEST) {
            return;
        }
        self.lock_files_outdated_since = None;
        let (records, ran) = self.results();
        if let Some(save) = &mut self.options.update_lock_files {
            save(&records, &ran);
        }
    }

    /// Returns the record of every cell that is done, by index, and the cells that were built.
    fn results(&self) -> (Vec<Option<Arc<ActionRecord>>>, BTreeSet<usize>) {
        let cells = self.scheduler.states().zip(&self.records);
        let done = cells.map(|(state, record)| record.clone().filter(|_| state == CellState::Done));
        (done.collect(), (0..self.records.len()).filter(|index| self.scheduler.was_built(*index)).collect())
    }

    /// Informs the scheduler, and carries out its effects, until there are no more.
    fn on(&mut self, event: Event) {
        let mut effects = self.scheduler.on(event, self.began.elapsed());
        while !effects.is_empty() {
            let mut next = Vec::new();
            for effect in effects {
                if let Some(event) = self.carry_out(effect) {
                    next.extend(self.scheduler.on(event, self.began.elapsed()));
                }
            }
            effects = next;
        }
    }

    /// Carries out an effect. Returns the event that follows, if it is known at once.
    fn carry_out(&mut self, effect: Effect) -> Option<Event> {
        match effect {
            Effect::Decide(cell) => return Some(Event::Decided(cell, self.decide(cell))),
            Effect::Submit(cell) => {
                if let Err(error) = self.submit(cell) {
                    return Some(self.report_start_failure(cell, error));
                }
            }
            Effect::Withdraw(cell) => {
                self.transfers.waiting_for_uploads.remove(&cell);
                self.executors.withdraw(cell);
            }
            Effect::Done(cell) => {
                self.work.remove(&cell);
                self.lock_files_outdated_since.get_or_insert_with(Instant::now);
            }
            Effect::Retrying { cell, attempt, wait } => self.report_retry(cell, attempt, wait),
            Effect::Failed(cell) => self.report_failure(cell),
            Effect::Stopped(cell) => {
                let failure = self.work.get(&cell).and_then(|work| work.failure.as_ref());
                let reason = failure.map_or("the stage was stopped", |failure| failure.message.as_str());
                self.sinks.warn(format!("{}: {reason}", self.label(cell)));
            }
            Effect::Skipped { cell, blocked_by } => self.report_skipped(cell, blocked_by),
        }
        None
    }

    fn work_of(&mut self, cell: usize) -> &mut Work {
        self.work.entry(cell).or_default()
    }

    fn label(&self, cell: usize) -> Label {
        self.context.cell(cell).label.clone()
    }

    /// Returns the folder of the action of a key.
    fn work_folder(&self, key: &Key) -> WorkFolder {
        self.context.store.attempt_folder(key, self.options.check)
    }

    /// Hands a cell to its executor, or has its inputs uploaded first.
    fn submit(&mut self, cell: usize) -> Result<()> {
        let work = self.work.entry(cell).or_default();
        let mut action =
            work.action.take().ok_or_else(|| Error::internal("a cell that is submitted was not resolved"))?;
        let attempts = self.scheduler.key(&action.key).map_or(0, |known| known.attempts);
        let (label, key, cause) = (self.context.cell(cell).label.clone(), action.key, action.cause.clone());
        work.started = Some(RunEvent::Started { label, key, cause, attempt: attempts + 1 });
        let is_remote = self.executors.is_remote(cell);
        if is_remote {
            action.executable = executable_files(&action);
        }
        // The remote has objects of these names that are not what they should be: they are sent again.
        action.force = self.options.force.contains(&cell) || is_remote && self.transfers.failures.contains_key(&cell);
        let check = self.options.check;
        if check {
            action.recorded = self.records[cell].as_ref().map(|record| record.outputs.clone());
        }
        let planned = self.context.cell(cell);
        let retry = planned.settings.retry;
        let options = AttemptOptions {
            attempt: attempts + 1,
            attempts: max_attempts(self.scheduler.spec(cell).retry),
            time: retry.time,
            memory: retry.memory,
            check,
            requested_by: format!("{}, for {}", self.options.command, planned.label),
        };
        let (needs, device) = needs_of(planned, self.options.device);
        self.context.store.create()?;
        let task = ActionRequest { cell, action, options, needs, device, time: planned.settings.time };
        if is_remote {
            self.upload_inputs(task)
        } else {
            self.executors.submit(task)
        }
        Ok(())
    }

    /// Starts the queued cells that fit the free resources.
    fn start_queued(&mut self) {
        // Then their processes need not hash external files again.
        self.context.digests.save();
        for StartOutcome { cell, warning, started } in self.executors.start_queued() {
            if let Some(warning) = warning {
                self.sinks.warn(format!("{} {warning}", self.label(cell)));
            }
            match started {
                Ok(()) => {
                    if !self.scheduler.spec(cell).outlives_run {
                        self.report_start(cell);
                    }
                    self.on(Event::Launched(cell));
                }
                Err(error) => {
                    let event = self.report_start_failure(cell, error);
                    self.on(event);
                }
            }
        }
    }

    fn report_start_failure(&mut self, cell: usize, error: Error) -> Event {
        self.summary.store_unavailable |= error.kind == ErrorKind::Store;
        self.work_of(cell).failure = Some(error.into());
        Event::Failed { cell, is_transient: false, was_stopped: false }
    }

    /// Requests all actions to stop; the second time it kills them.
    fn stop(&mut self) {
        self.on(Event::StopRequested);
        let is_first = self.scheduler.run_state() == RunState::Stopping;
        let how = if is_first { Cancel::Stop } else { Cancel::Kill };
        if self.executors.all.iter_mut().map(|executor| executor.cancel(how)).sum::<usize>() > 0 {
            self.sinks.warn(if is_first { "stopping at the next safe point; once more to kill" } else { "killed" });
        }
    }

    /// Returns the outcome of the run.
    fn outcome(self) -> Outcome {
        let mut summary = Summary { interrupted: self.scheduler.run_state() >= RunState::Stopping, ..self.summary };
        let (records, ran) = self.results();
        for (cell, state) in self.scheduler.states().enumerate() {
            match state {
                CellState::Done if self.scheduler.was_built(cell) => summary.ran += 1,
                CellState::Done => summary.cached += 1,
                CellState::Failed => summary.failed += 1,
                CellState::NotSelected => {}
                _ => summary.skipped += 1,
            }
        }
        Outcome {
            records,
            ran,
            failures: self.failures,
            summary,
            remote_warnings: self.transfers.warnings.into_iter().collect(),
        }
    }
}
