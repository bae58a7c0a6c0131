//! Building cells again next to what is recorded of them, to see whether the same bytes come out (`cwm run --check`). Cells read
//! what is recorded of their sources, so none waits for another. Nothing is recorded or changed.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use cwm_contract::{DeviceChoice, Failure, Label};

use crate::components::{Resolved, resolve};
use crate::event::{EventSink, EventSinks, FailedCell, RunEvent, SkippedCell};
use crate::executor::{ActionUpdate, BatchExecutor, Cancel, Executor, ExecutorEvent, ExecutorEvents, Started, Task};
use crate::machine::Machine;
use crate::run::action::{action_file, needs_of};
use crate::run::{RunInputs, RunReport, emit_message, executors, log_tail, place_of, watch_signals};
use crate::status::{find_result, sources};
use cwm_action::{ActionFailure, ActionFailureKind, ActionMessage, ActionOutcome, AttemptOptions};
use cwm_core::{Error, ErrorKind, Key, shell_quote};
use cwm_store::{ActionRecord, Difference, EvictionReason, MissingContent};

/// The cells to check, and the machine to use.
pub struct VerifyOptions {
    /// Cells to check.
    pub targets: BTreeSet<usize>,
    /// The machine to use.
    pub machine: Machine,
    /// Where stages compute that can choose, in place of what the pipeline says.
    pub device: Option<DeviceChoice>,
    /// The command line.
    pub command: String,
    /// Carries out checks as batch jobs, if there is one.
    pub batch: Option<BatchExecutor>,
}

/// The outcome of a check.
#[derive(Default)]
pub struct VerifyOutcome {
    /// Cells that made the same bytes.
    pub same: usize,
    /// Cells that made others.
    pub different: usize,
    /// Cells that were not checked because an input has no result, or because the check was stopped.
    pub skipped: usize,
    /// The cells that failed or were skipped.
    pub report: RunReport,
    /// True if it was stopped from outside.
    pub interrupted: bool,
    /// True if a check could not be started because the store cannot be used.
    pub store_refused: bool,
}

/// Cells with one key and one recorded result, which are built once.
struct Check {
    cells: Vec<usize>,
    resolved: Option<Resolved>,
    key: Key,
    began: Option<Instant>,
    differences: Option<Vec<Difference>>,
    failure: Option<ActionFailure>,
}

enum Message {
    Executor(ExecutorEvent),
    Signal,
}

struct Verifier<'a> {
    inputs: RunInputs<'a>,
    options: (Option<DeviceChoice>, String),
    records: Vec<Option<ActionRecord>>,
    checks: Vec<Check>,
    /// Checks that are submitted, by their first cell.
    submitted: BTreeMap<usize, usize>,
    executors: Vec<Box<dyn Executor>>,
    local_stages: Vec<String>,
    outcome: VerifyOutcome,
    sinks: &'a mut EventSinks,
}

/// Builds the targets again, and compares.
///
/// # Errors
/// The store cannot be read at all; what fails for one cell is an event and is counted.
pub fn verify(inputs: RunInputs<'_>, options: VerifyOptions, sinks: &mut EventSinks) -> Result<VerifyOutcome, Error> {
    let targets: Vec<usize> = options.targets.iter().copied().collect();
    let selected = inputs.plan.ancestors(&targets);
    sinks.event(&RunEvent::Planned { cells: selected.len() });
    let (messages, inbox) = channel();
    let to_signal: Sender<Message> = messages.clone();
    let signals = watch_signals(move || to_signal.send(Message::Signal).is_ok())?;
    let events: ExecutorEvents = Arc::new(move |event| drop(messages.send(Message::Executor(event))));
    let (executors, local_stages) = executors(inputs.store, options.machine, options.batch, events);
    let mut verifier = Verifier {
        inputs,
        options: (options.device, options.command),
        records: inputs.plan.cells.iter().map(|_| None).collect(),
        checks: Vec::new(),
        submitted: BTreeMap::new(),
        executors,
        local_stages,
        outcome: VerifyOutcome::default(),
        sinks,
    };
    for index in selected {
        verifier.look_up(index, options.targets.contains(&index));
    }
    let mut next = 0;
    loop {
        if !verifier.outcome.interrupted {
            verifier.submit(&mut next);
        }
        let outlives = |(cell, _): (&usize, &usize)| verifier.executors[verifier.executor_of(*cell)].outlives_run();
        if verifier.submitted.is_empty() || verifier.outcome.interrupted && verifier.submitted.iter().all(outlives) {
            break;
        }
        match inbox.recv_timeout(Duration::from_millis(500)) {
            Ok(Message::Signal) => verifier.stop(),
            Ok(Message::Executor(event)) => verifier.on_event(event),
            Err(RecvTimeoutError::Timeout) => verifier.sinks.tick(),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    verifier.executors.iter_mut().for_each(|executor| executor.close());
    signals.close();
    let begun = |check: &&Check| check.differences.is_some() || check.failure.is_some();
    let open = verifier.checks.iter().filter(|check| !begun(check)).map(|check| check.cells.len()).sum::<usize>();
    verifier.outcome.skipped += open;
    Ok(verifier.outcome)
}

impl Verifier<'_> {
    /// Finds the recorded result of a cell, and has it checked if it is a target.
    fn look_up(&mut self, index: usize, is_target: bool) {
        let RunInputs { plan, store, files, known } = self.inputs;
        let cell = &plan.cells[index];
        if let Some(because) = sources(cell).find(|source| self.records[*source].is_none()) {
            let (label, because) = (cell.label.clone(), plan.cells[because].label.clone());
            self.outcome.skipped += 1;
            self.sinks.event(&RunEvent::Skipped { label: label.clone(), because: because.clone() });
            self.outcome.report.skipped.insert(index, SkippedCell { label, because, also: Vec::new() });
            return;
        }
        let record =
            |source: usize| self.records[source].as_ref().unwrap_or_else(|| unreachable!("all sources have a result"));
        let found = resolve(cell, files, known.pins, record).and_then(|resolved| {
            let found = find_result(store, files, &resolved.components, &cell.label, known)?;
            let found = found.ok_or_else(|| {
                Error::store("nothing is recorded of it as it stands now, so there is nothing to compare with")
                    .hint("`cwm run` makes it; `cwm why` says what changed since it was made")
            })?;
            if is_target {
                self.require_inputs(index)?;
            }
            Ok((resolved, found))
        });
        match found {
            Ok((resolved, record)) => {
                let key = resolved.components.key();
                let is_same = |check: &&mut Check| {
                    let other = self.records[check.cells[0]].as_ref();
                    check.key == key && other.is_some_and(|other| other.outputs == record.outputs)
                };
                match self.checks.iter_mut().find(is_same) {
                    Some(check) if is_target => check.cells.push(index),
                    None if is_target => self.checks.push(Check {
                        cells: vec![index],
                        resolved: Some(resolved),
                        key,
                        began: None,
                        differences: None,
                        failure: None,
                    }),
                    _ => {}
                }
                self.records[index] = Some(record);
            }
            Err(error) => self.fail(&[index], None, &error.into(), 0.0),
        }
        for finding in store.take_damaged_records() {
            let message = format!("{}: {finding}", cell.label);
            self.sinks.event(&RunEvent::Warning { message });
        }
    }

    /// Fails if files of an input were evicted or lost, with the command that brings them back.
    fn require_inputs(&self, index: usize) -> Result<(), Error> {
        let RunInputs { plan, store, files, .. } = self.inputs;
        let mut commands = BTreeMap::new();
        let mut lost = Vec::new();
        let unique: BTreeSet<usize> = sources(&plan.cells[index]).collect();
        for source in unique {
            let Some(record) = &self.records[source] else { continue };
            let missing = store.missing_or_corrupt(record, files)?;
            if missing.is_empty() {
                continue;
            }
            let label = plan.cells[source].label.to_string();
            let (command, what) = match record.evicted {
                Some(EvictionReason::NotPulled) => ("cwm pull", "were not pulled"),
                _ => ("cwm run", MissingContent::describe(&missing)),
            };
            *commands.entry(command).or_insert_with(String::new) += &format!(" {}", shell_quote(&label));
            lost.push(format!("files of {label}, which it reads, {what}"));
        }
        if lost.is_empty() {
            return Ok(());
        }
        let commands: Vec<String> =
            commands.into_iter().map(|(command, labels)| command.to_owned() + &labels).collect();
        Err(Error::store(lost.join("; ")).hint(format!("`{}` brings them back", commands.join(" && "))))
    }

    fn executor_of(&self, cell: usize) -> usize {
        place_of(&self.inputs.plan.cells[cell].label.stage, self.executors.len(), &self.local_stages)
    }

    /// Submits checks from `next` on, of one key one after the other, and starts what there is room for.
    fn submit(&mut self, next: &mut usize) {
        let mut busy: HashSet<Key> = self.submitted.values().map(|check| self.checks[*check].key).collect();
        while *next < self.checks.len() && busy.insert(self.checks[*next].key) {
            let cell = self.checks[*next].cells[0];
            self.submitted.insert(cell, *next);
            if let Err(error) = self.submit_one(cell, *next) {
                self.conclude(cell, Err(error.into()));
            }
            *next += 1;
        }
        self.inputs.files.save_if_possible();
        for executor in 0..self.executors.len() {
            for start in self.executors[executor].start_queued() {
                let label = self.inputs.plan.cells[start.cell].label.clone();
                if let Some(warning) = start.warning {
                    self.sinks.event(&RunEvent::Warning { message: format!("{label} {warning}") });
                }
                match start.started {
                    Ok(Started::Now) => self.report_start(start.cell, label),
                    Ok(Started::Later) => {}
                    Err(error) => {
                        self.outcome.store_refused |= error.kind == ErrorKind::Store;
                        self.conclude(start.cell, Err(error.into()));
                    }
                }
            }
        }
    }

    fn submit_one(&mut self, cell: usize, check: usize) -> Result<(), Error> {
        let plan = self.inputs.plan;
        let resolved = self.checks[check].resolved.take();
        let resolved = resolved.ok_or_else(|| Error::internal("a check was submitted twice"))?;
        let mut action = action_file(plan, cell, resolved, Vec::new(), |source| self.records[source].as_ref())?;
        action.recorded = self.records[cell].as_ref().map(|record| record.outputs.clone());
        let planned = &plan.cells[cell];
        let terms = AttemptOptions {
            time: planned.retry.time,
            memory: planned.retry.memory,
            check: true,
            requested_by: Some(format!("{}, for {}", self.options.1, planned.label)),
            ..AttemptOptions::default()
        };
        let (needs, device) = needs_of(planned, self.options.0);
        let executor = self.executor_of(cell);
        self.executors[executor].submit(Task { cell, action, terms, needs, device, time: planned.time });
        Ok(())
    }

    fn report_start(&mut self, cell: usize, label: Label) {
        let Some(check) = self.submitted.get(&cell) else { return };
        let key = self.checks[*check].key;
        self.sinks.event(&RunEvent::Started { label, key, cause: Vec::new(), attempt: 1 });
    }

    fn on_event(&mut self, event: ExecutorEvent) {
        match event {
            ExecutorEvent::Emit(event) => self.sinks.event(&event),
            ExecutorEvent::Update(cell, ActionUpdate::Message(line)) => {
                let Some(check) = self.submitted.get(&cell).copied() else { return };
                let label = self.inputs.plan.cells[cell].label.clone();
                match line {
                    ActionMessage::Start => {
                        self.checks[check].began = Some(Instant::now());
                        if self.executors[self.executor_of(cell)].outlives_run() {
                            self.report_start(cell, label);
                        }
                    }
                    ActionMessage::Outcome(Ok(ActionOutcome::Comparison(differences))) => {
                        self.checks[check].differences = Some(differences);
                    }
                    ActionMessage::Outcome(Err(failure)) => self.checks[check].failure = Some(failure),
                    line => emit_message(self.sinks, label, line),
                }
            }
            ExecutorEvent::Update(cell, ActionUpdate::Exited(exited)) => {
                let executor = self.executor_of(cell);
                self.executors[executor].release(cell);
                self.conclude(cell, exited);
            }
        }
    }

    /// A check ended.
    fn conclude(&mut self, cell: usize, exited: Result<(), ActionFailure>) {
        let Some(index) = self.submitted.remove(&cell) else { return };
        let check = &mut self.checks[index];
        let (key, cells) = (check.key, check.cells.clone());
        let seconds = check.began.map_or(0.0, |began| began.elapsed().as_secs_f64());
        let failure = match (check.failure.take(), exited, &check.differences) {
            (None, Ok(()), Some(differences)) => {
                for cell in cells {
                    let (label, differences) = (self.inputs.plan.cells[cell].label.clone(), differences.clone());
                    *(if differences.is_empty() { &mut self.outcome.same } else { &mut self.outcome.different }) += 1;
                    self.sinks.event(&RunEvent::Checked { label, key, seconds, differences });
                }
                return;
            }
            (Some(failure), ..) | (None, Err(failure), _) => failure,
            (None, Ok(()), None) => ActionFailure {
                kind: ActionFailureKind::System,
                message: "another check of the same ran at the same time".to_owned(),
                hint: Some("check it again when that has ended".to_owned()),
            },
        };
        check.failure = Some(failure.clone());
        match failure.kind {
            ActionFailureKind::Cancelled | ActionFailureKind::Killed | ActionFailureKind::Crash
                if self.outcome.interrupted =>
            {
                let label = &self.inputs.plan.cells[cell].label;
                let message = format!("{label} {}", Failure::cancelled().message);
                self.outcome.skipped += cells.len();
                self.sinks.event(&RunEvent::Warning { message });
            }
            _ => self.fail(&cells, Some(key), &failure, seconds),
        }
    }

    fn fail(&mut self, cells: &[usize], key: Option<Key>, failure: &ActionFailure, seconds: f64) {
        let log = key.map(|key| self.inputs.store.checking(&key).log()).filter(|log| log.is_file());
        let ActionFailure { kind, message: reason, hint } = failure.clone();
        let attempts = u32::from(seconds > 0.0);
        for cell in cells {
            let label = self.inputs.plan.cells[*cell].label.clone();
            let log_tail = log.as_deref().map(|log| log_tail(log, &reason)).unwrap_or_default();
            let (reason, hint, log) = (reason.clone(), hint.clone(), log.clone());
            let failed =
                FailedCell { label: label.clone(), kind, reason: reason.clone(), attempts, seconds, log: log.clone() };
            self.outcome.report.failed.insert(*cell, failed);
            self.sinks.event(&RunEvent::Failed { label, key, kind, reason, hint, log_tail, log, attempts, seconds });
        }
    }

    /// First asks what runs to stop, then kills it.
    fn stop(&mut self) {
        let is_first = !std::mem::replace(&mut self.outcome.interrupted, true);
        let how = if is_first { Cancel::Ask } else { Cancel::Kill };
        let cancelled: usize = self.executors.iter_mut().map(|executor| executor.cancel(how)).sum();
        if cancelled > 0 {
            let message = if is_first { "stopping at the next safe point; once more to kill" } else { "killed" };
            self.sinks.event(&RunEvent::Warning { message: message.to_owned() });
        }
        let started: BTreeSet<usize> = self.submitted.keys().copied().collect();
        for cell in started {
            let executor = self.executor_of(cell);
            if self.executors[executor].withdraw(cell) {
                self.submitted.remove(&cell);
            }
        }
    }
}
