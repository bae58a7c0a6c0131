//! Running a plan: ready cells side by side within the machine, each in its own process; a failure stops what depends
//! on it and nothing else.

mod asked;
mod attempts;
mod check;
mod decide;
mod fetch;
mod jobs;
mod lost;
mod outcome;
mod provide;
mod signals;
mod start;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use cwm_contract::DeviceChoice;

use crate::cause::Cause;
use crate::child::{ActionProcess, ChildMessage};
use crate::components::Resolved;
use crate::event::{EventSink, EventSinks, RunEvent};
use crate::executor::{ActionUpdate, ExecutorEvent, ExecutorEvents};
use crate::fetch::{Fetcher, Provider, Tidings};
use crate::machine::{Pool, Share};
use crate::schedule::{Schedule, Stand};
use crate::status::Known;
pub use asked::{Failures, Options, Outcome, Summary};
use attempts::{Fault, Pause, Tried};
use cwm_action::{FailedKind, out_of_memory};
use cwm_core::digest::{Digest, Key};
use cwm_core::error::Error;
use cwm_pipeline::plan::Plan;
use cwm_project::accepted::Accepted;
use cwm_project::lock_file::LockFile;
use cwm_project::pins::Pins;
use cwm_store::outside::Files;
use cwm_store::{ActionRecord, Damage, Difference, Store};
use jobs::Jobs;
use outcome::End;
use provide::{Provisions, Unfetched};
pub use signals::stop_signals;

enum Message {
    Child(ChildMessage),
    Executor(ExecutorEvent),
    Remote(Tidings),
    Signal,
}

impl From<ChildMessage> for Message {
    fn from(message: ChildMessage) -> Self {
        Message::Child(message)
    }
}

/// Where a cell is being done.
enum Place {
    /// In a process that this one started, with a share of this machine.
    Child { process: ActionProcess, share: Share },
    /// In a batch job: why it is made, and which attempt it is.
    Job { cause: Vec<String>, attempt: u32 },
}

/// A cell that is being done.
struct Running {
    place: Place,
    key: Key,
    /// When its work began: it may wait for another process first.
    began: Option<Instant>,
    failure: Option<(FailedKind, String, Option<String>)>,
    /// What it recorded, if it did.
    outputs: Option<BTreeMap<String, Digest>>,
    /// In what it differs from what is recorded, if that was asked and told.
    checked: Option<Vec<Difference>>,
    out_of_memory_before: u64,
    /// How often what it reads had been reopened when it was started.
    reopened_before: u32,
}

impl Running {
    /// Nothing was heard of it yet.
    fn new(place: Place, key: Key, reopened_before: u32) -> Self {
        let out_of_memory_before = out_of_memory::kills();
        let (began, failure, outputs, checked) = (None, None, None, None);
        Running { place, key, began, failure, outputs, checked, out_of_memory_before, reopened_before }
    }
}

/// What was made of a key in this run.
#[derive(Default)]
struct Made {
    /// How often.
    times: u32,
    /// How many cells lost its files while they ran: each of these may have it made once more.
    lost_by: u32,
    /// Whether that is to be used: its files were not missed since.
    stands: bool,
}

/// A run under way.
struct Engine<'a> {
    plan: &'a Plan,
    store: &'a Store,
    files: &'a Files,
    locked: &'a LockFile,
    pins: &'a Pins,
    accepted: &'a Accepted,
    sinks: &'a mut EventSinks,
    force: BTreeSet<usize>,
    /// What those of them had made before, or the lock file's.
    before_force: BTreeMap<usize, BTreeMap<String, Digest>>,
    /// [`Options::device`].
    on: Option<DeviceChoice>,
    schedule: Schedule,
    pool: Pool,
    running: BTreeMap<usize, Running>,
    /// Keys that a process of this run is making, and the cells that wait for them.
    in_making: HashMap<Key, Vec<usize>>,
    /// Cells whose key is known and that wait for room.
    for_room: BTreeMap<usize, (Resolved, Vec<Cause>)>,
    /// Cells whose recorded files are gone, with what is to be said of that, and what they had made.
    to_remake: BTreeMap<usize, (Cause, BTreeMap<String, Digest>)>,
    /// Content that this run found changed and set aside: for all that lack it, that is why.
    set_aside: HashMap<Digest, Damage>,
    /// Why cells whose recorded files are gone are made again, as it was when that was seen first: of what they share with
    /// others some may be there again.
    lacked: HashMap<(usize, Key), Cause>,
    /// Cells that ran in this run.
    ran: BTreeSet<usize>,
    /// Keys that were made in this run.
    made: HashMap<Key, Made>,
    /// How often cells that were done were reopened.
    reopened: HashMap<usize, u32>,
    /// Cells that failed while what they read was lost, and are tried once more.
    once_more: BTreeSet<usize>,
    /// What was tried in this run.
    tried: HashMap<Key, Tried>,
    /// What failed for good, by which cell and why: those that do the same need not.
    failed: HashMap<Key, (usize, Fault)>,
    /// Cells that failed and wait to be tried again.
    pausing: BTreeMap<usize, Pause>,
    failures: Failures,
    /// [`Options::targets`].
    targets: BTreeSet<usize>,
    /// [`Options::held`].
    held: Arc<AtomicBool>,
    /// [`Options::check`].
    check: bool,
    /// [`Options::whole`].
    whole: bool,
    /// What is recorded of the cells that are checked.
    to_check: BTreeMap<usize, ActionRecord>,
    /// How often checks of cells had to be begun anew, after others of the same.
    overtaken: BTreeMap<usize, u32>,
    /// [`Options::command`].
    command: String,
    /// Who does cells as batch jobs, if anybody.
    jobs: Option<Jobs>,
    /// [`Options::has_remotes`].
    has_remotes: bool,
    /// [`Options::fetcher`].
    fetcher: Option<Box<dyn Fetcher>>,
    /// Cells that wait for remotes, with the keys that were asked for.
    fetching: BTreeMap<usize, Key>,
    /// Keys whose records remotes were asked for.
    asked: HashSet<Key>,
    /// Keys whose files they were asked for.
    asked_files: HashSet<Key>,
    /// Cells whose files are wanted, if remotes have them.
    to_fetch: BTreeSet<usize>,
    /// Whether it was said that remotes have what is made again.
    told_of_pull: bool,
    /// What was told of remotes.
    told_of_remotes: BTreeSet<String>,
    /// Cells whose files were asked for and did not come.
    unfetched: BTreeMap<usize, Unfetched>,
    /// [`Options::provider`].
    provider: Option<Box<dyn Provider>>,
    /// What jobs elsewhere can read.
    provisions: Provisions,
    /// What jobs made, where its files are waited for.
    awaited: BTreeMap<usize, ActionRecord>,
    messages: Sender<Message>,
    stopping: u32,
    summary: Summary,
}

/// Runs the targets of `options`.
///
/// # Errors
/// The store or the machine cannot be used at all; failures of stages are events and are counted.
pub fn run(
    plan: &Plan,
    store: &Store,
    files: &Files,
    known: Known<'_>,
    options: Options,
    sinks: &mut EventSinks,
) -> Result<Outcome, Error> {
    let mut wanted = vec![false; plan.cells.len()];
    for index in plan.ancestors(&options.targets) {
        wanted[index] = true;
    }
    sinks.event(&RunEvent::Planned { cells: wanted.iter().filter(|wanted| **wanted).count() });
    let (messages, inbox) = channel();
    let signals = signals::watch(messages.clone())?;
    let jobs = options.batch.map(|batch| {
        let messages = messages.clone();
        // A run that has ended listens no more.
        let events: ExecutorEvents = Arc::new(move |event| drop(messages.send(Message::Executor(event))));
        Jobs { executor: (batch.start)(events), local_stages: batch.local_stages, queued: BTreeMap::new() }
    });
    let mut engine = Engine {
        plan,
        store,
        files,
        locked: known.locked,
        pins: known.pins,
        accepted: known.accepted,
        sinks,
        force: options.force,
        before_force: BTreeMap::new(),
        on: options.device,
        schedule: Schedule::new(plan, &wanted),
        pool: Pool::new(options.machine),
        running: BTreeMap::new(),
        in_making: HashMap::new(),
        for_room: BTreeMap::new(),
        to_remake: BTreeMap::new(),
        set_aside: HashMap::new(),
        lacked: HashMap::new(),
        ran: BTreeSet::new(),
        made: HashMap::new(),
        reopened: HashMap::new(),
        once_more: BTreeSet::new(),
        tried: HashMap::new(),
        failed: HashMap::new(),
        pausing: BTreeMap::new(),
        failures: Failures::default(),
        targets: options.targets.iter().copied().collect(),
        held: options.held,
        check: options.check,
        whole: options.whole,
        to_check: BTreeMap::new(),
        overtaken: BTreeMap::new(),
        command: options.command,
        jobs,
        has_remotes: options.has_remotes,
        fetcher: options.fetcher,
        fetching: BTreeMap::new(),
        asked: HashSet::new(),
        asked_files: HashSet::new(),
        to_fetch: BTreeSet::new(),
        told_of_pull: false,
        told_of_remotes: BTreeSet::new(),
        unfetched: BTreeMap::new(),
        provider: options.provider,
        provisions: Provisions::default(),
        awaited: BTreeMap::new(),
        messages,
        stopping: 0,
        summary: Summary::default(),
    };
    engine.drive(&inbox);
    signals.close();
    let (ran, failures, summary) = (engine.ran, engine.failures, engine.summary);
    let unasked = engine.told_of_remotes.into_iter().collect();
    let records = engine.schedule.stands.into_iter().map(|stand| match stand {
        Stand::Done(record) => Some(*record),
        _ => None,
    });
    Ok(Outcome { records: records.collect(), ran, failures, summary, unasked })
}

impl Engine<'_> {
    fn known(&self) -> Known<'_> {
        Known { locked: self.locked, pins: self.pins, accepted: self.accepted }
    }

    fn drive(&mut self, inbox: &Receiver<Message>) {
        let mut changed = true;
        loop {
            changed |= !self.begins_nothing() && self.end_pauses();
            if !self.begins_nothing() && std::mem::take(&mut changed) {
                self.advance();
            }
            if !self.holds_on() && (self.begins_nothing() || !self.can_go_on()) {
                break;
            }
            const TICK: Duration = Duration::from_millis(500);
            match inbox.recv_timeout(self.next_due().unwrap_or(TICK).min(TICK)) {
                Ok(Message::Signal) => self.stop(),
                Ok(Message::Remote(tidings)) => {
                    self.heard_of_remote(tidings);
                    changed = true;
                }
                Ok(Message::Child(ChildMessage::Line(cell, line))) => self.hear(cell, line),
                Ok(Message::Child(ChildMessage::Ended(cell, child))) => {
                    self.ended(cell, End::of(child));
                    changed = true;
                }
                Ok(Message::Executor(event)) => {
                    changed |= matches!(event, ExecutorEvent::Update(_, ActionUpdate::Exited(_)));
                    self.receive(event);
                }
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => self.sinks.tick(),
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
            }
        }
        self.close_jobs(inbox);
        self.give_up_pauses();
        self.leave_jobs();
        self.summary.interrupted = self.stopping > 0;
        if self.begins_nothing() {
            self.summary.skipped += if self.check { self.unbegun_checks() } else { 0 };
            self.summary.skipped += self.schedule.stands.iter().filter(|stand| matches!(stand, Stand::Waiting)).count();
        }
    }

    /// Whether what runs is waited for, and that is all.
    fn begins_nothing(&self) -> bool {
        self.stopping > 0 || self.held.load(Ordering::SeqCst)
    }

    fn can_go_on(&self) -> bool {
        let waits = !self.pausing.is_empty() || !self.fetching.is_empty();
        waits || !self.schedule.ready.is_empty() || !self.for_room.is_empty()
    }

    /// Looks at every ready cell: cached ones are done at once, which may make others ready; then starts what there is
    /// room for.
    fn advance(&mut self) {
        // One that cannot be started may let others go.
        while !self.schedule.ready.is_empty() || self.something_starts() {
            while let Some(index) = self.schedule.ready.pop_first() {
                if let Err(error) = self.look_at(index) {
                    self.fail(index, None, Fault::of(error), true);
                }
                for finding in self.store.take_damaged_records() {
                    let message = format!("{}: {finding}", self.plan.cells[index].label);
                    self.sinks.event(&RunEvent::Warning { message });
                }
            }
        }
    }

    /// Starts what there is room for; returns whether anything is ready to be looked at because of that.
    fn something_starts(&mut self) -> bool {
        let waiting: Vec<usize> = self.for_room.keys().copied().collect();
        // What asks for the same as one that had no room has none either: thousands of cells may wait.
        let mut refused = Vec::new();
        let (jobs, waiting): (Vec<usize>, Vec<usize>) = waiting.into_iter().partition(|index| self.is_job(*index));
        self.submit(&jobs);
        for index in waiting {
            if self.has_to_go_alone(index) {
                continue;
            }
            let asks = self.asks(index);
            if !refused.contains(&asks) && !self.start_if_room(index, asks) {
                refused.push(asks);
            }
        }
        !self.schedule.ready.is_empty()
    }

    /// First asks, then kills.
    fn stop(&mut self) {
        self.stopping += 1;
        let mut children = 0;
        for running in self.running.values() {
            // Jobs go on.
            let Place::Child { process, .. } = &running.place else { continue };
            children += 1;
            if self.stopping == 1 { process.ask_to_stop() } else { process.kill() }
        }
        let message = match (self.stopping, children) {
            (_, 0) => return,
            (1, _) => "stopping at the next safe point; once more to kill".to_owned(),
            _ => "killed".to_owned(),
        };
        self.sinks.event(&RunEvent::Warning { message });
    }
}
