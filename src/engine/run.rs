//! Running a plan: ready cells side by side within the machine, each in its own process; a failure stops what depends
//! on it and nothing else.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use cwm_contract::Failure;

use crate::digest::{Digest, Key};
use crate::engine::cause::Cause;
use crate::engine::child::{ActionProcess, ChildMessage, describe_end, out_of_memory_kills};
use crate::engine::components::{Resolved, output_of, resolve};
use crate::engine::machine::{Machine, Pool, Share};
use crate::engine::schedule::{Schedule, Stand};
use crate::engine::status::{find, sources, why_now};
use crate::error::Error;
use crate::events::{Reader, Readers, RunEvent};
use crate::exec::{ACTION_FILE_FORMAT, ActionBody, ActionFile, ActionInput, ActionOutput, Artifact, FailedKind, Line};
use crate::exit_code::ExitCode;
use crate::lock_file::LockFile;
use crate::outside::Files;
use crate::plan::{Body, Origin, Plan};
use crate::store::{ActionRecord, Store};

/// What a run is asked for.
pub struct Options {
    /// Cells that must be done; their sources come along.
    pub targets: Vec<usize>,
    /// Cells that run even if cached.
    pub force: BTreeSet<usize>,
    /// The machine to use.
    pub machine: Machine,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Cells that ran.
    pub ran: usize,
    /// Cells that were cached.
    pub cached: usize,
    /// Cells that failed.
    pub failed: usize,
    /// Cells that were skipped.
    pub skipped: usize,
    /// Whether it was stopped from outside.
    pub interrupted: bool,
}

enum Message {
    Child(ChildMessage),
    Signal,
}

impl From<ChildMessage> for Message {
    fn from(message: ChildMessage) -> Self {
        Message::Child(message)
    }
}

/// A cell whose process runs.
struct Running {
    process: ActionProcess,
    share: Share,
    key: Key,
    failure: Option<(FailedKind, String, Option<String>)>,
    /// What it recorded, if it did.
    outputs: Option<BTreeMap<String, Digest>>,
    out_of_memory_before: u64,
}

/// A run under way.
struct Engine<'a> {
    plan: &'a Plan,
    store: &'a Store,
    files: &'a Files,
    locked: &'a LockFile,
    readers: &'a mut Readers,
    force: BTreeSet<usize>,
    schedule: Schedule,
    pool: Pool,
    running: BTreeMap<usize, Running>,
    /// Keys that a process of this run is making, and the cells that wait for them.
    in_making: HashMap<Key, Vec<usize>>,
    /// Cells whose key is known and that wait for room.
    for_room: BTreeMap<usize, (Resolved, Vec<Cause>)>,
    /// Cells whose recorded files are gone, with how many, and what they had made.
    to_remake: BTreeMap<usize, (usize, BTreeMap<String, Digest>)>,
    /// Cells that ran in this run.
    ran: BTreeSet<usize>,
    /// Their keys.
    made: HashSet<Key>,
    messages: Sender<Message>,
    stopping: u32,
    summary: Summary,
}

/// Runs the targets of `options`. Returns the record of every cell that is done, by index, and the summary.
///
/// # Errors
/// The store or the machine cannot be used at all; failures of stages are events and are counted.
pub fn run(
    plan: &Plan,
    store: &Store,
    files: &Files,
    locked: &LockFile,
    options: Options,
    readers: &mut Readers,
) -> Result<(Vec<Option<ActionRecord>>, Summary), Error> {
    let mut wanted = vec![false; plan.cells.len()];
    for index in plan.ancestors(&options.targets) {
        wanted[index] = true;
    }
    readers.read(&RunEvent::Planned { cells: wanted.iter().filter(|wanted| **wanted).count() });
    let (messages, inbox) = channel();
    let signals = watch_signals(messages.clone())?;
    let mut engine = Engine {
        plan,
        store,
        files,
        locked,
        readers,
        force: options.force,
        schedule: Schedule::new(plan, &wanted),
        pool: Pool::new(options.machine),
        running: BTreeMap::new(),
        in_making: HashMap::new(),
        for_room: BTreeMap::new(),
        to_remake: BTreeMap::new(),
        ran: BTreeSet::new(),
        made: HashSet::new(),
        messages,
        stopping: 0,
        summary: Summary::default(),
    };
    engine.drive(&inbox);
    signals.close();
    let summary = engine.summary;
    let records = engine.schedule.stands.into_iter().map(|stand| match stand {
        Stand::Done(record) => Some(*record),
        _ => None,
    });
    Ok((records.collect(), summary))
}

/// Sends a message for each signal that asks to stop. The third ends this process at once, whatever it is doing; its
/// stages end with it.
fn watch_signals(messages: Sender<Message>) -> Result<signal_hook::iterator::Handle, Error> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut watched = vec![SIGINT, SIGTERM];
    if !is_ignored(SIGHUP) {
        watched.push(SIGHUP);
    }
    let mut signals = signal_hook::iterator::Signals::new(watched)
        .map_err(|error| Error::system(format!("cannot watch for signals: {error}")))?;
    let handle = signals.handle();
    std::thread::spawn(move || {
        for (count, _) in signals.forever().enumerate() {
            if count == 2 {
                std::process::exit(ExitCode::INTERRUPTED.0.into());
            }
            if messages.send(Message::Signal).is_err() {
                break;
            }
        }
    });
    Ok(handle)
}

/// Whether whoever started this process had the signal ignored, as `nohup` does.
fn is_ignored(signal: i32) -> bool {
    // SAFETY: all-zero is a valid sigaction, and sigaction without a new action only writes into it.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

impl Engine<'_> {
    fn drive(&mut self, inbox: &Receiver<Message>) {
        let mut changed = true;
        loop {
            if self.stopping == 0 && std::mem::take(&mut changed) {
                self.advance();
            }
            if self.running.is_empty() && (self.stopping > 0 || !self.can_go_on()) {
                break;
            }
            match inbox.recv_timeout(Duration::from_millis(500)) {
                Ok(Message::Signal) => self.stop(),
                Ok(Message::Child(ChildMessage::Line(cell, line))) => self.hear(cell, line),
                Ok(Message::Child(ChildMessage::Ended(cell, child))) => {
                    self.ended(cell, child);
                    changed = true;
                }
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => self.readers.tick(),
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
            }
        }
        if self.stopping > 0 {
            self.summary.interrupted = true;
            self.summary.skipped += self.schedule.stands.iter().filter(|stand| matches!(stand, Stand::Waiting)).count();
        }
    }

    fn can_go_on(&self) -> bool {
        !self.schedule.ready.is_empty() || !self.for_room.is_empty()
    }

    /// Looks at every ready cell: cached ones are done at once, which may make others ready; then starts what there is
    /// room for.
    fn advance(&mut self) {
        // One that cannot be started may let others go.
        while !self.schedule.ready.is_empty() || self.something_starts() {
            while let Some(index) = self.schedule.ready.pop_first() {
                if let Err(error) = self.look_at(index) {
                    self.fail(index, None, error.message, error.hints.first().cloned(), true);
                }
            }
        }
    }

    /// Starts what there is room for; returns whether anything is ready to be looked at because of that.
    fn something_starts(&mut self) -> bool {
        let waiting: Vec<usize> = self.for_room.keys().copied().collect();
        for index in waiting {
            self.start_if_room(index);
        }
        !self.schedule.ready.is_empty()
    }

    fn look_at(&mut self, index: usize) -> Result<(), Error> {
        let cell = &self.plan.cells[index];
        let schedule = &self.schedule;
        let resolved = resolve(cell, self.files, |source| {
            schedule.record(source).unwrap_or_else(|| unreachable!("a ready cell's sources are done"))
        })?;
        let key = resolved.components.key();
        if let Some(waiting) = self.in_making.get_mut(&key) {
            waiting.push(index);
            return Ok(());
        }
        let mut causes = Vec::new();
        let made = self.made.contains(&key);
        if self.force.contains(&index) && !made {
            causes.push(Cause::Forced);
        } else if let (Some((count, _)), false) = (self.to_remake.get(&index), made) {
            causes.push(Cause::ObjectsMissing { count: *count });
        } else if let Some(record) = find(self.store, self.files, &resolved.components, &cell.label, self.locked)? {
            // Whoever reads a cell checks its files when it needs them; the last ones are checked here.
            let missing =
                if self.schedule.is_read(index) { Vec::new() } else { self.store.missing(&record, self.files)? };
            if missing.is_empty() {
                self.cached(index, key, record);
                return Ok(());
            }
            causes.push(Cause::ObjectsMissing { count: missing.len() });
        } else {
            causes = why_now(self.plan, index, &resolved.components, self.store, self.locked)?;
        }
        if self.remake_missing_sources(index)? {
            return Ok(());
        }
        self.in_making.insert(key, Vec::new());
        self.for_room.insert(index, (resolved, causes));
        Ok(())
    }

    fn cached(&mut self, index: usize, key: Key, record: ActionRecord) {
        let label = self.plan.cells[index].label.clone();
        self.summary.cached += 1;
        if self.locked.get(&label).is_some_and(|line| line.key == key && line.outputs != record.output_digests()) {
            let message = format!("{label}: the store has another result than the lock file; the store's is used");
            self.readers.read(&RunEvent::Warning { message });
        }
        self.readers.read(&RunEvent::Cached { label, key, origin: record.origin() });
        self.schedule.done(index, record);
    }

    /// Before `index` runs, its inputs must be there. A source whose files are gone is made again first; returns whether
    /// `index` has to wait for that.
    fn remake_missing_sources(&mut self, index: usize) -> Result<bool, Error> {
        let mut waits = false;
        let unique: BTreeSet<usize> = sources(&self.plan.cells[index]).collect();
        for source in unique {
            let Some(record) = self.schedule.record(source) else { continue };
            let missing = self.store.missing(record, self.files)?.len();
            if missing == 0 {
                continue;
            }
            if self.ran.contains(&source) {
                return Err(Error::store(format!(
                    "files of {} are missing although it has just run",
                    self.plan.cells[source].label
                ))
                .hint("is something else deleting from the store?"));
            }
            if self.summary.cached > 0 {
                self.summary.cached -= 1;
            }
            self.to_remake.insert(source, (missing, record.output_digests()));
            self.schedule.reopen(source);
            waits = true;
        }
        if waits {
            self.withdraw_those_that_cannot_go();
        }
        Ok(waits)
    }

    /// Cells that wait for room while a source of theirs was reopened are looked at again when it is done.
    fn withdraw_those_that_cannot_go(&mut self) {
        let schedule = &self.schedule;
        let withdrawn = self.for_room.extract_if(.., |index, _| !schedule.can_go(*index));
        let keys: Vec<Key> = withdrawn.map(|(_, (resolved, _))| resolved.components.key()).collect();
        for key in keys {
            self.release_waiting(&key);
        }
    }

    fn start_if_room(&mut self, index: usize) {
        let (needs, clamped) = self.pool.clamp(&self.plan.cells[index].needs);
        let Some((share, resources)) = self.pool.take(&needs) else { return };
        let Some((resolved, causes)) = self.for_room.remove(&index) else {
            self.pool.give_back(share);
            return;
        };
        let label = self.plan.cells[index].label.clone();
        if let Some(words) = clamped {
            self.readers.read(&RunEvent::Warning { message: format!("{label} {words}") });
        }
        let key = resolved.components.key();
        let cause: Vec<String> = causes.iter().map(Cause::to_string).collect();
        let started = self.action_file(index, resolved, cause.clone(), resources.clone()).and_then(|action| {
            self.store.create()?;
            // So that its process need not hash files from outside again.
            self.files.save_if_possible();
            self.store.work(&key).write_action(&action)?;
            ActionProcess::start(index, &key, self.store.root(), &resources, self.messages.clone())
        });
        match started {
            Ok(process) => {
                self.schedule.stands[index] = Stand::Running;
                let out_of_memory_before = out_of_memory_kills();
                let running = Running { process, share, key, failure: None, outputs: None, out_of_memory_before };
                self.running.insert(index, running);
                self.readers.read(&RunEvent::Started { label, key, cause });
            }
            Err(error) => {
                self.pool.give_back(share);
                self.release_waiting(&key);
                self.fail(index, Some(key), error.message, error.hints.first().cloned(), true);
            }
        }
    }

    fn action_file(
        &self,
        index: usize,
        resolved: Resolved,
        cause: Vec<String>,
        resources: cwm_contract::Resources,
    ) -> Result<ActionFile, Error> {
        let cell = &self.plan.cells[index];
        let mut inputs = BTreeMap::new();
        for input in &cell.inputs {
            let mut group = Vec::with_capacity(input.sources.len());
            for source in &input.sources {
                group.push(match &source.from {
                    Origin::Cell { index, port } => {
                        let record = self.schedule.record(*index);
                        let record =
                            record.ok_or_else(|| Error::internal("a source of a starting cell is not done"))?;
                        let artifact = Artifact::Output(output_of(record, port)?.clone());
                        ActionInput { label: source.label.clone(), artifact }
                    }
                    Origin::File(path) => {
                        let snapshot = resolved.outside.get(path).cloned();
                        let snapshot = snapshot.ok_or_else(|| Error::internal("an outside input was not hashed"))?;
                        ActionInput { label: source.label.clone(), artifact: Artifact::Outside(snapshot) }
                    }
                });
            }
            inputs.insert(input.name.clone(), group);
        }
        let body = match &cell.body {
            Body::Stage(_) => ActionBody::Stage { values: cell.values.clone(), files: resolved.files },
            Body::Command(command) => ActionBody::Command {
                run: command.run.clone(),
                environment: command
                    .environment
                    .iter()
                    .map(|(name, value)| (name.clone(), value.to_string()))
                    .collect(),
                inherited: resolved.inherited,
                deps: resolved.deps,
            },
        };
        Ok(ActionFile {
            format: ACTION_FILE_FORMAT,
            key: resolved.components.key(),
            label: cell.label.clone(),
            pipeline: stem(self.plan),
            components: resolved.components,
            body,
            inputs,
            groups: cell.inputs.iter().filter(|input| input.group).map(|input| input.name.clone()).collect(),
            outputs: cell
                .outputs
                .iter()
                .map(|output| {
                    let declared = ActionOutput { format: output.format.clone(), shape: output.shape.into() };
                    (output.name.clone(), declared)
                })
                .collect(),
            resources,
            cause,
            force: self.force.contains(&index),
        })
    }

    fn hear(&mut self, index: usize, line: Line) {
        let label = self.plan.cells[index].label.clone();
        let Some(running) = self.running.get_mut(&index) else { return };
        match line {
            Line::Waiting { holder } => self.readers.read(&RunEvent::Waiting { label, holder }),
            Line::Recorded(outputs) => running.outputs = Some(outputs),
            Line::Failed { kind, message, hint } => running.failure = Some((kind, message, hint)),
            Line::Event(cwm_contract::Event::Progress { done, total, unit }) => {
                self.readers.read(&RunEvent::Progress { label, done, total, unit });
            }
            Line::Event(cwm_contract::Event::Doing(what)) => self.readers.read(&RunEvent::Doing { label, what }),
            Line::Event(_) | Line::Started | Line::AlreadyRecorded => {}
        }
    }

    fn ended(&mut self, index: usize, mut child: Child) {
        let status = child.wait();
        let Some(mut running) = self.running.remove(&index) else { return };
        self.pool.give_back(running.share);
        let before = self.to_remake.remove(&index).map(|(_, outputs)| outputs);
        let cell = &self.plan.cells[index];
        let succeeded = status.as_ref().is_ok_and(ExitStatus::success) && running.failure.is_none();
        let record = match succeeded.then(|| self.result(index, &running.key, running.outputs.as_ref())) {
            Some(Ok(record)) => record,
            Some(Err(error)) => {
                running.failure = Some((FailedKind::System, error.message, error.hints.first().cloned()));
                None
            }
            None => None,
        };
        match record {
            Some(record) => {
                self.ran.insert(index);
                self.made.insert(running.key);
                self.summary.ran += 1;
                let note = self.note(index, &record, running.outputs.is_none());
                self.readers.read(&RunEvent::Finished {
                    label: cell.label.clone(),
                    key: running.key,
                    seconds: record.circumstances.wall_seconds,
                    bytes: record.outputs.values().map(|output| output.size).sum(),
                    note,
                });
                if before.is_some_and(|before| before != record.output_digests()) {
                    let reconsidered = self.schedule.reconsider_dependents(index);
                    self.summary.cached -= reconsidered.iter().filter(|cell| !self.ran.contains(cell)).count();
                    self.withdraw_those_that_cannot_go();
                }
                self.schedule.done(index, record);
            }
            None => {
                let out_of_memory = out_of_memory_kills() > running.out_of_memory_before;
                let (reason, hint, is_failure) = match running.failure {
                    Some((FailedKind::Cancelled, message, hint)) => (message, hint, self.stopping == 0),
                    Some((_, message, hint)) => (message, hint, true),
                    None => {
                        let (reason, hint) = describe_end(&status, out_of_memory);
                        // One that was asked to stop before it could listen ends by the signal.
                        let signal = status.as_ref().ok().and_then(ExitStatus::signal);
                        match self.stopping {
                            1 if signal == Some(libc::SIGTERM) => (Failure::cancelled().message, None, false),
                            stopping => (reason, hint, stopping < 2),
                        }
                    }
                };
                self.fail(index, Some(running.key), reason, hint, is_failure);
            }
        }
        self.release_waiting(&running.key);
    }

    /// What stands in the store for a process that ended: what it recorded, or what it found. What the store says
    /// counts, not what the process said.
    fn result(
        &mut self,
        index: usize,
        key: &Key,
        outputs: Option<&BTreeMap<String, Digest>>,
    ) -> Result<Option<ActionRecord>, Error> {
        let label = &self.plan.cells[index].label;
        let Some(outputs) = outputs else {
            let preferred = self.locked.get(label).filter(|line| line.key == *key).map(|line| &line.outputs);
            return Ok(self.store.available(key, preferred, self.files)?);
        };
        let candidates = self.store.candidates(key, Some(outputs))?;
        if candidates.len() > 1 {
            let message = format!(
                "{label}: {} different results are recorded for the same inputs, parameters and code; this run uses \
                 the one just made",
                candidates.len()
            );
            self.readers.read(&RunEvent::Warning { message });
        }
        Ok(candidates.into_iter().next())
    }

    /// What is worth saying about how it ran.
    fn note(&self, index: usize, record: &ActionRecord, already_recorded: bool) -> Option<String> {
        if already_recorded {
            return Some(format!("taken over: {}", record.origin()));
        }
        let label = &self.plan.cells[index].label;
        let same = self.locked.get(label).is_some_and(|line| {
            line.outputs.len() == record.outputs.len()
                && record.outputs.iter().all(|(name, output)| line.outputs.get(name) == Some(&output.digest))
        });
        same.then(|| "the same result as before".to_owned())
    }

    /// Cells with the key that was just made, or failed, look again.
    fn release_waiting(&mut self, key: &Key) {
        for index in self.in_making.remove(key).unwrap_or_default() {
            if self.schedule.can_go(index) {
                self.schedule.ready.insert(index);
            }
        }
    }

    /// The cell did not finish; `key` is `None` if not even that could be told.
    fn fail(&mut self, index: usize, key: Option<Key>, reason: String, hint: Option<String>, is_failure: bool) {
        let label = self.plan.cells[index].label.clone();
        let log = key.map(|key| self.store.work(&key).log());
        let skipped = self.schedule.failed(index);
        if is_failure {
            self.summary.failed += 1;
            let log_tail = log.as_deref().map(|log| log_tail(log, &reason)).unwrap_or_default();
            self.readers.read(&RunEvent::Failed { label: label.clone(), key, reason, hint, log_tail, log });
        } else {
            self.summary.skipped += 1;
            self.readers.read(&RunEvent::Warning { message: format!("{label} {reason}") });
        }
        for cell in skipped {
            self.summary.skipped += 1;
            self.readers
                .read(&RunEvent::Skipped { label: self.plan.cells[cell].label.clone(), because: label.clone() });
        }
        self.withdraw_those_that_cannot_go();
    }

    /// First asks, then kills.
    fn stop(&mut self) {
        self.stopping += 1;
        for running in self.running.values() {
            if self.stopping == 1 { running.process.ask_to_stop() } else { running.process.kill() }
        }
        let message = match (self.stopping, self.running.len()) {
            (_, 0) => return,
            (1, _) => "stopping at the next safe point; once more to kill".to_owned(),
            _ => "killed".to_owned(),
        };
        self.readers.read(&RunEvent::Warning { message });
    }
}

/// The pipeline's file name without its extension.
fn stem(plan: &Plan) -> String {
    plan.file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The last lines of a log, without the reason that is shown anyway.
fn log_tail(path: &std::path::Path, reason: &str) -> Vec<String> {
    const LINES: usize = 12;
    const BYTES: u64 = 16 * 1024;
    use std::io::{Read, Seek, SeekFrom};
    let Ok(mut file) = std::fs::File::open(path) else { return Vec::new() };
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let mut bytes = Vec::new();
    if file.seek(SeekFrom::Start(length.saturating_sub(BYTES))).is_err() || file.read_to_end(&mut bytes).is_err() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty() && *line != reason).collect();
    lines[lines.len().saturating_sub(LINES)..].iter().map(|line| (*line).to_owned()).collect()
}
