//! The scheduler of a run: a state machine without input, output or clock.
//!
//! The engine informs it of [`Event`]s and carries out the [`Effect`]s that it returns. `now` is the time since the run began.
//!
//! # States of a cell
//!
//! A cell begins as `NotSelected` if it takes no part, as `Ready` if it has no inputs, and as `Blocked` otherwise.
//!
//! *Again* stands for the state in which it is decided once more: `Ready` if all of its inputs are `Done`; `Skipped`, with its
//! descendants, if one of them is `Failed`, `Stopped` or `Skipped` (effects `Skipped`); else `Blocked`.
//! *Skips* stands for: all descendants that are reached through cells in `Blocked` or `Skipped` become `Skipped` (effects
//! `Skipped`, also for those that are `Skipped` already).
//!
//! | in state | on event | becomes | effects |
//! |---|---|---|---|
//! | `Blocked` | the last input that was not `Done` becomes `Done` | `Ready` | |
//! | `Blocked`, `Skipped` | a cell that it depends on *skips*, or becomes `Skipped` by *again* | `Skipped` | `Skipped` |
//! | `Ready` | any event, if the run is `Running`, no cell is `Deciding`, and it is the first in the plan's order | `Deciding` | `Decide` |
//! | `Deciding` | `Decided(Hit)` | `Done` | `Done` |
//! | `Deciding` | `Decided(Fetch)` | `Fetching`, as the owner of the key | |
//! | `Deciding` | `Decided(SharesKey)`, and the key has an owner | `SharesKey`, as a waiter of the key | |
//! | `Deciding` | `Decided(SharesKey)`, and the key has no owner | again | |
//! | `Deciding` | `Decided(Miss)` with lost inputs | `Blocked`; those inputs that are `Done` are invalidated | |
//! | `Deciding` | `Decided(Miss)` otherwise | `Queued`, as the owner of the key | `Submit` |
//! | `Deciding` | `Decided(Failed)` | `Failed`; skips | `Failed` |
//! | `Deciding` | `Decided(Skipped)`, in a check | `Skipped`; its descendants stay | `Skipped` |
//! | `SharesKey` | the key is released | again | |
//! | `Fetching` | `Fetched` | again; releases the key | |
//! | `Queued` | `Launched` | `Running`, not begun | |
//! | `Queued` | `FilesLost` | again; releases the key | `Withdraw` |
//! | `Queued` | `Failed`: it could not be submitted or started | `Failed`; skips; releases the key | `Failed` |
//! | `Running` | `WorkStarted` | `Running`, begun | |
//! | `Running` | `Finished`, and files of the result have to be fetched | again; releases the key | |
//! | `Running` | `Finished` otherwise | `Done`; releases the key | `Done` |
//! | `Running` | `Failed`, and another attempt follows | `Backoff`; it stays the owner of the key | `Retrying` |
//! | `Running` | `Failed`, and this run stopped it | `Stopped`; skips; releases the key | `Stopped` |
//! | `Running` | `Failed` otherwise | `Failed`; skips; releases the key | `Failed` |
//! | `Backoff` | `Timer`, when its time is over and the run is `Running` | again; releases the key | |
//! | `Backoff` | `End` | `Failed`; skips | `Failed` |
//! | `Done` | `FilesLost`, or `Decided(Miss)` of a reader: a reader needs files of it that are lost | again | |
//! | `Done` | `Finished` of an ancestor with another result, if all cells on a path between them are `Done` | again | |
//! | `Ready`, `Deciding`, `SharesKey` | an input is no longer `Done` | `Blocked` | |
//! | `Fetching` | an input is no longer `Done` | `Blocked`; releases the key | |
//! | `Queued` | an input is no longer `Done` | `Blocked`; releases the key | `Withdraw` |
//! | `Blocked`, `Ready`, `Deciding`, `SharesKey`, `Fetching`, `Queued`, `Running` | `End` | `Skipped` | |
//!
//! If an input is no longer `Done`, readers in `Running`, `Backoff` and `Done` stay: they have opened their files, are decided
//! again anyway, or have a result. `NotSelected`, `Failed` and `Stopped` are final, and so is `Skipped`. An event that does not
//! fit the state of its cell changes nothing.
//!
//! Another attempt follows if the failed one had begun, its failure is transient, this run did not stop it, the run is
//! `Running` or `Draining`, and the retry policy of the cell allows one more.
//!
//! # State of the run
//!
//! | in state | on event | becomes |
//! |---|---|---|
//! | `Running` | `DrainRequested`, `End` | `Draining` |
//! | `Running`, `Draining` | `StopRequested` | `Stopping` |
//! | `Stopping` | `StopRequested` | `Killing` |
//!
//! Only in `Running` a cell becomes `Deciding`, and a `Backoff` ends by `Timer`. Cells that are `Queued` already still move when
//! the scheduler receives their events; the engine starts none once the run drains.
//!
//! # State of a key
//!
//! | part | changes |
//! |---|---|
//! | `owner`, the one cell that builds or fetches it | set by `Decided(Fetch)` and `Decided(Miss)` without lost inputs; removed when the key is released |
//! | `waiters` | a cell is added when it becomes `SharesKey`; all are removed, and those still in `SharesKey` decided again, when the key is released |
//! | `attempts` | one more on `WorkStarted` |
//! | `is_built` | true on `Finished` |
//! | `failed` | the cell, when it becomes `Failed` from `Running` after it began |

mod events;

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use crate::retry::wait_after;
use cwm_core::Key;
use cwm_pipeline::plan::RetryOptions;
pub use events::{Decision, Effect, Event};

/// The specification of a cell.
#[derive(Default)]
pub struct CellSpec {
    /// Cells whose outputs it reads, each once.
    pub inputs: Vec<usize>,
    /// True if an output of it is exported.
    pub is_exported: bool,
    /// The retry policy.
    pub retry: RetryOptions,
    /// True if it continues when the run stops.
    pub outlives_run: bool,
}

/// The state of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellState {
    /// It takes no part in the run.
    NotSelected,
    /// It waits for inputs.
    Blocked,
    /// All inputs are done.
    Ready,
    /// The engine decides whether it has a result.
    Deciding,
    /// Its result is being fetched.
    Fetching(Key),
    /// Another cell builds or fetches the same key.
    SharesKey(Key),
    /// It was submitted to its executor, or is when a remote has its inputs.
    Queued(Key),
    /// Its executor has started it.
    Running {
        key: Key,
        /// True if its work has begun: it may wait for another process first.
        has_begun: bool,
    },
    /// An attempt failed, and another one follows.
    Backoff {
        key: Key,
        /// The time of the next attempt.
        until: Duration,
    },
    /// Its result is known.
    Done,
    /// It failed.
    Failed,
    /// It was stopped while it ran.
    Stopped,
    /// It was not built: an input failed, or the run ended before.
    Skipped,
}

/// The state of a key in a run.
#[derive(Clone, Debug, Default)]
pub struct KeyState {
    /// The cell that builds or fetches it now.
    owner: Option<usize>,
    /// Cells with the same key, which wait for the owner.
    waiters: Vec<usize>,
    /// Attempts that began.
    pub attempts: u32,
    /// True if it was built in this run.
    pub is_built: bool,
    /// The cell that failed to build it.
    pub failed: Option<usize>,
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunState {
    /// Cells start when they can.
    Running,
    /// Running cells end, and no other one starts.
    Draining,
    /// Running cells are to stop.
    Stopping,
    /// Running cells are killed.
    Killing,
}

struct Cell {
    spec: CellSpec,
    state: CellState,
    dependents: Vec<usize>,
    /// The number of its inputs that are not `Done`.
    open_inputs: usize,
    /// True if it was built in this run, under whatever key.
    was_built: bool,
}

/// The state of a run.
pub struct Scheduler {
    cells: Vec<Cell>,
    keys: HashMap<Key, KeyState>,
    /// Cells in the state `Ready`.
    ready: BTreeSet<usize>,
    /// The cell in the state `Deciding`.
    deciding: Option<usize>,
    run: RunState,
    /// The effects of the event that is being handled.
    effects: Vec<Effect>,
}

impl CellState {
    /// Returns true if the cell does not leave this state by itself.
    pub fn is_final(self) -> bool {
        use CellState::{Done, Failed, NotSelected, Skipped, Stopped};
        matches!(self, NotSelected | Done | Failed | Stopped | Skipped)
    }
}

impl Scheduler {
    /// Starts a run of these cells. Those that are `None` take no part. An input comes before its readers.
    pub fn new(specs: Vec<Option<CellSpec>>) -> Self {
        let mut cells: Vec<Cell> = Vec::with_capacity(specs.len());
        let mut ready = BTreeSet::new();
        for (index, spec) in specs.into_iter().enumerate() {
            let state = match &spec {
                None => CellState::NotSelected,
                Some(spec) if spec.inputs.is_empty() => CellState::Ready,
                Some(_) => CellState::Blocked,
            };
            if state == CellState::Ready {
                ready.insert(index);
            }
            let spec = spec.unwrap_or_default();
            spec.inputs.iter().for_each(|input| cells[*input].dependents.push(index));
            let open_inputs = spec.inputs.len();
            cells.push(Cell { spec, state, dependents: Vec::new(), open_inputs, was_built: false });
        }
        let (keys, effects) = (HashMap::new(), Vec::new());
        Scheduler { cells, keys, ready, deciding: None, run: RunState::Running, effects }
    }

    /// Returns the specification of a cell.
    pub fn spec(&self, cell: usize) -> &CellSpec {
        &self.cells[cell].spec
    }

    /// Returns the state of a cell.
    pub fn state(&self, cell: usize) -> CellState {
        self.cells[cell].state
    }

    /// Returns the states of all cells.
    pub fn states(&self) -> impl Iterator<Item = CellState> + '_ {
        self.cells.iter().map(|cell| cell.state)
    }

    /// Returns the state of a key, if it is known.
    pub fn key(&self, key: &Key) -> Option<&KeyState> {
        self.keys.get(key)
    }

    /// Returns true if a cell builds or fetches the key.
    pub fn is_in_flight(&self, key: &Key) -> bool {
        self.keys.get(key).is_some_and(|key| key.owner.is_some())
    }

    /// Returns true if this run has a result of this key, made by it or by a job that it found.
    pub fn is_built(&self, key: &Key) -> bool {
        self.keys.get(key).is_some_and(|key| key.is_built)
    }

    /// Returns true if a cell was built in this run, even if it was invalidated since.
    pub fn was_built(&self, cell: usize) -> bool {
        self.cells[cell].was_built
    }

    /// Returns true if the files of a cell are needed without a reader: it is exported, or no cell of the run reads it.
    pub fn has_final_output(&self, cell: usize) -> bool {
        let Cell { spec, dependents, .. } = &self.cells[cell];
        spec.is_exported || dependents.is_empty()
    }

    /// Returns the state of the run.
    pub fn run_state(&self) -> RunState {
        self.run
    }

    /// Returns true if the run has nothing to wait for.
    pub fn is_over(&self) -> bool {
        let is_running = |cell: &Cell| matches!(cell.state, CellState::Running { .. });
        !self.cells.iter().any(|cell| match self.run {
            RunState::Running => !cell.state.is_final() && cell.state != CellState::Blocked,
            RunState::Draining => is_running(cell),
            RunState::Stopping | RunState::Killing => is_running(cell) && !cell.spec.outlives_run,
        })
    }

    /// Returns the time of the next [`Event::Timer`].
    pub fn next_timer(&self) -> Option<Duration> {
        let until = |state| if let CellState::Backoff { until, .. } = state { Some(until) } else { None };
        self.states().filter_map(until).min().filter(|_| self.run == RunState::Running)
    }

    /// Handles an event. One that does not fit the state of its cell is outdated, and changes nothing.
    pub fn on(&mut self, event: Event, now: Duration) -> Vec<Effect> {
        match event {
            Event::Decided(cell, decision) => {
                self.deciding = self.deciding.filter(|deciding| *deciding != cell);
                if self.state(cell) == CellState::Deciding {
                    self.decided(cell, decision);
                }
            }
            Event::Fetched(cell) if let CellState::Fetching(key) = self.state(cell) => {
                self.requeue(cell);
                self.release(key);
            }
            Event::FilesLost(cell) if let CellState::Queued(key) = self.state(cell) => {
                self.effects.push(Effect::Withdraw(cell));
                self.requeue(cell);
                self.release(key);
            }
            Event::FilesLost(cell) => self.invalidate(cell),
            Event::Launched(cell) if let CellState::Queued(key) = self.state(cell) => {
                self.set(cell, CellState::Running { key, has_begun: false });
            }
            Event::WorkStarted(cell) if let CellState::Running { key, .. } = self.state(cell) => {
                self.keys.entry(key).or_default().attempts += 1;
                self.cells[cell].state = CellState::Running { key, has_begun: true };
            }
            Event::Finished { cell, is_built, has_changed, needs_fetch }
                if let CellState::Running { key, .. } = self.state(cell) =>
            {
                self.finished(cell, key, is_built, has_changed, needs_fetch);
            }
            Event::Failed { cell, is_transient, was_stopped }
                if let CellState::Running { key, has_begun } = self.state(cell) =>
            {
                self.failed(cell, key, has_begun, is_transient, was_stopped, now);
            }
            Event::Failed { cell, .. } if let CellState::Queued(key) = self.state(cell) => {
                self.end(cell, CellState::Failed);
                self.release(key);
            }
            Event::Timer => {
                for cell in 0..self.cells.len() {
                    if let CellState::Backoff { key, until } = self.state(cell)
                        && until <= now
                        && self.run == RunState::Running
                    {
                        self.requeue(cell);
                        self.release(key);
                    }
                }
            }
            Event::DrainRequested => self.run = self.run.max(RunState::Draining),
            Event::StopRequested => {
                self.run = if self.run < RunState::Stopping { RunState::Stopping } else { RunState::Killing };
            }
            Event::End => {
                self.run = self.run.max(RunState::Draining);
                for cell in 0..self.cells.len() {
                    match self.state(cell) {
                        CellState::Backoff { .. } => self.end(cell, CellState::Failed),
                        state if !state.is_final() => self.set(cell, CellState::Skipped),
                        _ => {}
                    }
                }
            }
            // Outdated, or only a reason to look for the next cell.
            _ => {}
        }
        if self.deciding.is_none()
            && self.run == RunState::Running
            && let Some(next) = self.ready.first().copied()
        {
            self.set(next, CellState::Deciding);
            self.deciding = Some(next);
            self.effects.push(Effect::Decide(next));
        }
        std::mem::take(&mut self.effects)
    }

    fn decided(&mut self, cell: usize, decision: Decision) {
        match decision {
            Decision::Hit => {
                self.set(cell, CellState::Done);
                self.effects.push(Effect::Done(cell));
            }
            Decision::Fetch(key) => {
                self.keys.entry(key).or_default().owner = Some(cell);
                self.set(cell, CellState::Fetching(key));
            }
            Decision::SharesKey(key) => match self.keys.get_mut(&key).filter(|key| key.owner.is_some()) {
                Some(known) => {
                    known.waiters.push(cell);
                    self.set(cell, CellState::SharesKey(key));
                }
                None => self.requeue(cell),
            },
            Decision::Miss { lost_inputs, .. } if !lost_inputs.is_empty() => {
                for lost in lost_inputs {
                    self.invalidate(lost);
                }
                if self.state(cell) == CellState::Deciding {
                    self.requeue(cell);
                }
            }
            Decision::Miss { key, .. } => {
                self.keys.entry(key).or_default().owner = Some(cell);
                self.set(cell, CellState::Queued(key));
                self.effects.push(Effect::Submit(cell));
            }
            Decision::Failed => self.end(cell, CellState::Failed),
            Decision::Skipped { blocked_by } => {
                self.set(cell, CellState::Skipped);
                self.effects.push(Effect::Skipped { cell, blocked_by });
            }
        }
    }

    fn finished(&mut self, cell: usize, key: Key, is_built: bool, has_changed: bool, needs_fetch: bool) {
        self.keys.entry(key).or_default().is_built = true;
        self.cells[cell].was_built |= is_built;
        if needs_fetch {
            self.requeue(cell);
        } else {
            self.set(cell, CellState::Done);
            self.effects.push(Effect::Done(cell));
        }
        let mut changed = if has_changed { vec![cell] } else { Vec::new() };
        while let Some(cell) = changed.pop() {
            for dependent in self.cells[cell].dependents.clone() {
                if self.state(dependent) == CellState::Done {
                    self.requeue(dependent);
                    changed.push(dependent);
                }
            }
        }
        self.release(key);
    }

    fn failed(&mut self, cell: usize, key: Key, has_begun: bool, is_transient: bool, was_stopped: bool, now: Duration) {
        let known = self.keys.entry(key).or_default();
        let attempt = known.attempts;
        let wait = wait_after(self.cells[cell].spec.retry, attempt);
        match wait.filter(|_| has_begun && is_transient && !was_stopped && self.run < RunState::Stopping) {
            Some(wait) => {
                self.set(cell, CellState::Backoff { key, until: now + wait });
                return self.effects.push(Effect::Retrying { cell, attempt, wait });
            }
            None if was_stopped => self.end(cell, CellState::Stopped),
            None => {
                if has_begun {
                    known.failed = Some(cell);
                }
                self.end(cell, CellState::Failed);
            }
        }
        self.release(key);
    }

    /// Has a cell that was done built or fetched again. Its readers wait for that.
    fn invalidate(&mut self, lost: usize) {
        if self.state(lost) == CellState::Done {
            self.requeue(lost);
        }
    }

    /// Decides on a cell again when all of its inputs are done.
    fn requeue(&mut self, cell: usize) {
        let is_dead = |state| matches!(state, CellState::Failed | CellState::Stopped | CellState::Skipped);
        let dead = self.cells[cell].spec.inputs.iter().copied().find(|input| is_dead(self.state(*input)));
        match dead {
            Some(blocked_by) => {
                self.set(cell, CellState::Skipped);
                self.effects.push(Effect::Skipped { cell, blocked_by });
                self.skip_dependents(cell);
            }
            None if self.cells[cell].open_inputs == 0 => self.set(cell, CellState::Ready),
            None => self.set(cell, CellState::Blocked),
        }
    }

    /// Releases a key that no cell builds or fetches any more. The cells that waited for it are decided again.
    fn release(&mut self, key: Key) {
        let Some(known) = self.keys.get_mut(&key) else { return };
        known.owner = None;
        for waiter in std::mem::take(&mut known.waiters) {
            if self.state(waiter) == CellState::SharesKey(key) {
                self.requeue(waiter);
            }
        }
    }

    /// Ends a cell without a result.
    fn end(&mut self, cell: usize, state: CellState) {
        self.set(cell, state);
        self.effects.push(if state == CellState::Stopped { Effect::Stopped(cell) } else { Effect::Failed(cell) });
        self.skip_dependents(cell);
    }

    /// Skips the cells that depend on a cell, in the plan's order. The effect is repeated for those that are skipped already.
    fn skip_dependents(&mut self, blocked_by: usize) {
        let mut descendants = BTreeSet::new();
        let mut open = self.cells[blocked_by].dependents.clone();
        while let Some(next) = open.pop() {
            if matches!(self.state(next), CellState::Blocked | CellState::Skipped) && descendants.insert(next) {
                open.extend(&self.cells[next].dependents);
            }
        }
        for cell in descendants {
            self.set(cell, CellState::Skipped);
            self.effects.push(Effect::Skipped { cell, blocked_by });
        }
    }

    /// Changes the state of a cell, and the states of its readers.
    fn set(&mut self, cell: usize, new: CellState) {
        let old = std::mem::replace(&mut self.cells[cell].state, new);
        if old == CellState::Ready {
            self.ready.remove(&cell);
        }
        if new == CellState::Ready {
            self.ready.insert(cell);
        }
        let is_done = new == CellState::Done;
        if is_done == (old == CellState::Done) {
            return;
        }
        let dependents = self.cells[cell].dependents.clone();
        // All counts are right before a state depends on one.
        for &dependent in &dependents {
            let open_inputs = &mut self.cells[dependent].open_inputs;
            *open_inputs = if is_done { *open_inputs - 1 } else { *open_inputs + 1 };
        }
        for dependent in dependents {
            if !is_done {
                self.block(dependent);
            } else if self.state(dependent) == CellState::Blocked && self.cells[dependent].open_inputs == 0 {
                self.set(dependent, CellState::Ready);
            }
        }
    }

    /// Blocks a cell of which an input is not done any more.
    fn block(&mut self, cell: usize) {
        let state = self.state(cell);
        match state {
            CellState::Ready | CellState::Deciding | CellState::SharesKey(_) => {
                self.set(cell, CellState::Blocked);
            }
            CellState::Fetching(key) | CellState::Queued(key) => {
                if matches!(state, CellState::Queued(_)) {
                    self.effects.push(Effect::Withdraw(cell));
                }
                self.set(cell, CellState::Blocked);
                self.release(key);
            }
            // A running cell has opened its files; a backoff ends by itself.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
