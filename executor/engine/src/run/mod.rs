//! Running a plan: the loop that waits for events, asks the [`Scheduler`] and carries out what it says. A failure stops what
//! depends on it and nothing else.

pub(super) mod action;
mod decide;
mod fetches;
mod integrity;
mod options;
mod outcome;
mod signals;
mod transfers;
mod uploads;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use cwm_contract::DeviceChoice;

use crate::components::Resolved;
use crate::event::{EventSink, EventSinks, RunEvent};
use crate::executor::{
    ActionUpdate, BatchExecutor, Cancel, Executor, ExecutorEvent, ExecutorEvents, Start, Started, Task,
};
use crate::fetch::TransferUpdate;
use crate::local::LocalExecutor;
use crate::machine::Machine;
use crate::retry::RetryPolicy;
use crate::scheduler::{CellSpec, CellState, CompletionKind, Effect, Event, RunState, Scheduler};
use crate::status::{ProjectState, sources};
use action::{action_file, executable_files, needs_of};
use cwm_action::{ActionFailure, AttemptOptions};
use cwm_core::{Digest, Error, ErrorKind, Key};
use cwm_pipeline::plan::Plan;
use cwm_store::external_files::DigestCache;
use cwm_store::{ActionRecord, Store};
use fetches::FetchCoordinator;
use integrity::IntegrityGuard;
pub use options::{Options, Outcome, RunReport, Summary};
pub(super) use outcome::{emit_message, log_tail};
pub use signals::stop_signals;
pub(super) use signals::watch as watch_signals;
use uploads::UploadCoordinator;

/// The inputs of a run, which it does not change.
#[derive(Clone, Copy)]
pub struct RunInputs<'a> {
    /// The plan to carry out.
    pub plan: &'a Plan,
    /// Where results are.
    pub store: &'a Store,
    /// Files from outside the store.
    pub files: &'a DigestCache,
    /// The text files beside the pipeline.
    pub known: ProjectState<'a>,
}

/// The part of [`Options`] that is about cells.
struct Policy {
    force: BTreeSet<usize>,
    device: Option<DeviceChoice>,
    drain_requested: Arc<AtomicBool>,
    command: String,
    has_remotes: bool,
    /// Stages that are done on this machine even if there is a batch executor.
    local_stages: Vec<String>,
}

/// The state of the work at a cell that is not done.
#[derive(Default)]
struct Work {
    key: Option<Key>,
    /// Keys of which records may be fetched.
    fetch_keys: Vec<Key>,
    /// Results of which files may be fetched.
    candidates: Vec<ActionRecord>,
    resolved: Option<Resolved>,
    causes: Vec<String>,
    attempt: u32,
    /// When its work began: it may wait for another process first.
    began: Option<Instant>,
    /// What it recorded, if it did.
    outputs: Option<BTreeMap<String, Digest>>,
    failure: Option<ActionFailure>,
}

/// A message to the event loop.
enum Message {
    Executor(ExecutorEvent),
    Transfer(TransferUpdate),
    Signal,
}

/// A run under way.
struct Engine<'a> {
    inputs: RunInputs<'a>,
    policy: Policy,
    scheduler: Scheduler,
    /// The last result of each cell that has or had one.
    records: Vec<Option<ActionRecord>>,
    work: BTreeMap<usize, Work>,
    /// This machine, and the batch executor if there is one.
    executors: Vec<Box<dyn Executor>>,
    fetches: FetchCoordinator,
    uploads: UploadCoordinator,
    guard: IntegrityGuard,
    report: RunReport,
    sinks: &'a mut EventSinks,
    messages: Sender<Message>,
    began: Instant,
}

/// Runs the targets of `options`.
///
/// # Errors
/// The store or the machine cannot be used at all; failures of stages are events and are counted.
pub fn run(inputs: RunInputs<'_>, options: Options, sinks: &mut EventSinks) -> Result<Outcome, Error> {
    let plan = inputs.plan;
    let selected = plan.ancestors(&options.targets);
    sinks.event(&RunEvent::Planned { cells: selected.len() });
    let (messages, inbox) = channel();
    let to_signal = messages.clone();
    let signals = signals::watch(move || to_signal.send(Message::Signal).is_ok())?;
    let to_executors = messages.clone();
    // A run that has ended listens no more.
    let events: ExecutorEvents = Arc::new(move |event| drop(to_executors.send(Message::Executor(event))));
    let (executors, local_stages) = executors(inputs.store, options.machine, options.batch, events);
    let mut specs: Vec<Option<CellSpec>> = plan.cells.iter().map(|_| None).collect();
    for index in selected {
        let cell = &plan.cells[index];
        let executor = &executors[place_of(&cell.label.stage, executors.len(), &local_stages)];
        let mut inputs: Vec<usize> = sources(cell).collect();
        inputs.sort_unstable();
        inputs.dedup();
        specs[index] = Some(CellSpec {
            inputs,
            retry: RetryPolicy(cell.retry),
            needs_upload: !executor.shares_store(),
            outlives_run: executor.outlives_run(),
        });
    }
    let mut engine = Engine {
        inputs,
        policy: Policy {
            force: options.force,
            device: options.device,
            drain_requested: options.drain_requested,
            command: options.command,
            has_remotes: options.has_remotes,
            local_stages,
        },
        scheduler: Scheduler::new(specs),
        records: plan.cells.iter().map(|_| None).collect(),
        work: BTreeMap::new(),
        executors,
        fetches: FetchCoordinator::new(options.fetcher),
        uploads: UploadCoordinator::new(options.uploader),
        guard: IntegrityGuard::default(),
        report: RunReport::default(),
        sinks,
        messages,
        began: Instant::now(),
    };
    engine.event_loop(&inbox);
    signals.close();
    Ok(engine.outcome())
}

/// This machine, and the batch executor if there is one, with the stages that do not go there.
pub(super) fn executors(
    store: &Store,
    machine: Machine,
    batch: Option<BatchExecutor>,
    events: ExecutorEvents,
) -> (Vec<Box<dyn Executor>>, Vec<String>) {
    let mut executors: Vec<Box<dyn Executor>> =
        vec![Box::new(LocalExecutor::new(store.clone(), machine, events.clone()))];
    let Some(batch) = batch else { return (executors, Vec::new()) };
    executors.push((batch.start)(events));
    (executors, batch.local_stages)
}

/// The index of the executor of a stage.
pub(super) fn place_of(stage: &str, executors: usize, local_stages: &[String]) -> usize {
    if local_stages.iter().any(|local| local == stage) { 0 } else { executors - 1 }
}

impl Engine<'_> {
    fn event_loop(&mut self, inbox: &Receiver<Message>) {
        self.on(Event::Begin);
        // What runs sends much from which nothing follows.
        let mut may_start = true;
        loop {
            if self.policy.drain_requested.load(Ordering::SeqCst) {
                self.on(Event::DrainRequested);
            }
            let due = self.scheduler.next_timer().map(|due| due.saturating_sub(self.began.elapsed()));
            if due == Some(Duration::ZERO) {
                self.on(Event::Timer);
                may_start = true;
            }
            if std::mem::take(&mut may_start) && self.scheduler.run_state() == RunState::Running {
                self.start_queued();
            }
            if self.scheduler.is_over() {
                break;
            }
            const TICK: Duration = Duration::from_millis(500);
            let received = inbox.recv_timeout(due.unwrap_or(TICK).min(TICK));
            may_start = match &received {
                Ok(Message::Executor(event)) => matches!(event, ExecutorEvent::Update(_, ActionUpdate::Exited(_))),
                _ => true,
            };
            match received {
                Ok(Message::Signal) => self.stop(),
                Ok(Message::Transfer(update)) => self.on_transfer_update(update),
                Ok(Message::Executor(event)) => self.on_executor_event(event),
                Err(RecvTimeoutError::Timeout) => self.sinks.tick(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.executors.iter_mut().for_each(|executor| executor.close());
        while let Ok(message) = inbox.try_recv() {
            // What was submitted and cancelled last.
            if let Message::Executor(ExecutorEvent::Emit(event)) = message
                && matches!(event, RunEvent::Warning { .. } | RunEvent::Submitted { .. })
            {
                self.sinks.event(&event);
            }
        }
        self.on(Event::End);
    }

    /// Informs the scheduler, and does what it says, until it says nothing more.
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

    /// Does what the scheduler says. Returns what came of it, if that is known at once.
    fn carry_out(&mut self, effect: Effect) -> Option<Event> {
        match effect {
            Effect::Decide(cell) => return Some(Event::Decided(cell, self.decide(cell))),
            Effect::Submit(cell) => {
                if let Err(error) = self.submit(cell) {
                    return Some(self.could_not_start(cell, error));
                }
            }
            Effect::Withdraw(cell) => {
                let executor = self.executor_of(cell);
                self.executors[executor].withdraw(cell);
            }
            Effect::FetchRecords(cell) => self.fetch_records(cell),
            Effect::FetchFiles(cell) => self.fetch_files_of(cell),
            Effect::Upload(cell) => return self.upload_inputs(cell),
            Effect::Done(cell, _) => {
                self.guard.to_rebuild.remove(&cell);
                self.work.remove(&cell);
            }
            Effect::Retrying { cell, attempt, wait } => self.report_retry(cell, attempt, wait),
            Effect::Failed(cell) => self.report_failure(cell),
            Effect::GaveUp(cell) => {
                if let Some(failure) = &mut self.work_of(cell).failure {
                    failure.message += " (stopped before it was tried again)";
                }
                self.report_failure(cell);
            }
            Effect::Stopped(cell) => {
                let label = &self.inputs.plan.cells[cell].label;
                let reason =
                    self.work.get(&cell).and_then(|work| work.failure.as_ref()).map(|failure| &failure.message);
                let message = format!("{label} {}", reason.map_or("was stopped", String::as_str));
                self.sinks.event(&RunEvent::Warning { message });
            }
            Effect::Skipped { cell, because } => self.report_skipped(cell, because),
        }
        None
    }

    fn work_of(&mut self, cell: usize) -> &mut Work {
        self.work.entry(cell).or_default()
    }

    fn executor_of(&self, cell: usize) -> usize {
        let stage = &self.inputs.plan.cells[cell].label.stage;
        place_of(stage, self.executors.len(), &self.policy.local_stages)
    }

    /// Returns true if the executor of a cell does not share the store.
    fn needs_upload(&self, cell: usize) -> bool {
        !self.executors[self.executor_of(cell)].shares_store()
    }

    /// Hands a cell to its executor.
    fn submit(&mut self, cell: usize) -> Result<(), Error> {
        let work = self.work.entry(cell).or_default();
        let resolved =
            work.resolved.take().ok_or_else(|| Error::internal("a cell that is submitted was not resolved"))?;
        let (key, causes) = (resolved.components.key(), work.causes.clone());
        let attempts = self.scheduler.key(&key).map_or(0, |known| known.attempts);
        work.attempt = attempts + 1;
        let is_remote = self.needs_upload(cell);
        let executable = if is_remote { executable_files(&resolved) } else { Vec::new() };
        let mut action = action_file(self.inputs.plan, cell, resolved, causes, |source| self.records[source].as_ref())?;
        action.executable = executable;
        // What the remote has under the right names, and is not what it should be, is sent anew.
        action.force = self.policy.force.contains(&cell) || is_remote && self.fetches.failure(cell).is_some();
        let planned = &self.inputs.plan.cells[cell];
        let terms = AttemptOptions {
            attempt: attempts + 1,
            attempts: RetryPolicy(planned.retry).max_attempts(),
            time: planned.retry.time,
            memory: planned.retry.memory,
            check: false,
            requested_by: Some(format!("{}, for {}", self.policy.command, planned.label)),
        };
        let (needs, device) = needs_of(planned, self.policy.device);
        self.inputs.store.create()?;
        let executor = self.executor_of(cell);
        self.executors[executor].submit(Task { cell, action, terms, needs, device, time: planned.time });
        Ok(())
    }

    /// Starts what there is room for.
    fn start_queued(&mut self) {
        // So that no process need hash external files again.
        self.inputs.files.save_if_possible();
        for executor in 0..self.executors.len() {
            for Start { cell, warning, started } in self.executors[executor].start_queued() {
                let label = &self.inputs.plan.cells[cell].label;
                if let Some(warning) = warning {
                    self.sinks.event(&RunEvent::Warning { message: format!("{label} {warning}") });
                }
                match started {
                    Ok(started) => {
                        if started == Started::Now {
                            self.report_start(cell);
                        }
                        self.on(Event::Accepted(cell));
                    }
                    Err(error) => {
                        let event = self.could_not_start(cell, error);
                        self.on(event);
                    }
                }
            }
        }
    }

    fn could_not_start(&mut self, cell: usize, error: Error) -> Event {
        self.report.store_refused |= error.kind == ErrorKind::Store;
        self.work_of(cell).failure = Some(error.into());
        Event::Failed { cell, is_transient: false, was_stopped: false }
    }

    /// First asks what runs to stop, then kills it.
    fn stop(&mut self) {
        self.on(Event::StopRequested);
        let is_first = self.scheduler.run_state() == RunState::Stopping;
        let how = if is_first { Cancel::Ask } else { Cancel::Kill };
        let cancelled: usize = self.executors.iter_mut().map(|executor| executor.cancel(how)).sum();
        if cancelled > 0 {
            let message = if is_first { "stopping at the next safe point; once more to kill" } else { "killed" };
            self.sinks.event(&RunEvent::Warning { message: message.to_owned() });
        }
    }

    /// Returns the outcome of the run.
    fn outcome(self) -> Outcome {
        let mut summary = Summary {
            interrupted: self.scheduler.run_state() >= RunState::Stopping,
            store_refused: self.report.store_refused,
            ..Summary::default()
        };
        let mut records = self.records;
        for (index, state) in self.scheduler.states().enumerate() {
            match state {
                CellState::Done(CompletionKind::Built) => summary.ran += 1,
                CellState::Done(CompletionKind::Hit | CompletionKind::TakenOver) => summary.cached += 1,
                CellState::Failed => summary.failed += 1,
                CellState::NotSelected => {}
                _ => summary.skipped += 1,
            }
            if !matches!(state, CellState::Done(_)) {
                records[index] = None;
            }
        }
        let ran = (0..records.len()).filter(|index| self.scheduler.was_built(*index)).collect();
        Outcome { records, ran, report: self.report, summary, remote_warnings: self.fetches.into_warnings() }
    }
}
