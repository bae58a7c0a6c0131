//! The events that the engine sends to the scheduler, and the effects that the scheduler returns.

use std::time::Duration;

use cwm_core::Key;

/// The decision of the engine about a cell that is ready.
#[derive(Clone, Debug)]
pub enum Decision {
    /// It has a result.
    Hit,
    /// Remotes may have a record of it, or the files of its result, and are queried. [`Event::Fetched`] is the answer.
    Fetch(Key),
    /// Another cell builds or fetches its key.
    SharesKey(Key),
    /// It has to be built.
    Miss {
        key: Key,
        /// Inputs of which files are lost. They are built or fetched again first.
        lost_inputs: Vec<usize>,
    },
    /// The decision failed.
    Failed,
    /// It is not checked.
    Skipped {
        /// A cell that it reads, which has no result.
        blocked_by: usize,
    },
}

/// An input of the state machine: something that happened outside it.
#[derive(Clone, Debug)]
pub enum Event {
    /// The run begins.
    RunStarted,
    /// The answer to [`Effect::Decide`].
    Decided(usize, Decision),
    /// A fetch ended.
    Fetched(usize),
    /// Files of the result of a cell that is done, or files that a queued cell reads, exist nowhere any more.
    FilesLost(usize),
    /// The executor has started a cell.
    Launched(usize),
    /// Its work has begun.
    WorkStarted(usize),
    /// It has a result.
    Finished {
        cell: usize,
        /// True if this run built it, false if another run did meanwhile.
        is_built: bool,
        /// True if the result differs from the one that the cell had before.
        has_changed: bool,
        /// True if it is decided again, since files of it may have to be fetched.
        needs_fetch: bool,
    },
    /// It has none.
    Failed {
        cell: usize,
        /// True if another attempt may succeed.
        is_transient: bool,
        /// True if it was stopped by this run.
        was_stopped: bool,
    },
    /// Time passed.
    Timer,
    /// No other cell is to start.
    DrainRequested,
    /// The run is to stop; the second time, at once.
    StopRequested,
    /// Nothing happens any more.
    End,
}

/// An instruction to the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Decide on a cell. [`Event::Decided`] is the answer.
    Decide(usize),
    /// Submit a cell to its executor.
    Submit(usize),
    /// Take it back.
    Withdraw(usize),
    /// A cell is done.
    Done(usize),
    /// An attempt failed, and another one follows.
    Retrying {
        cell: usize,
        /// The attempt that failed, from 1.
        attempt: u32,
        /// The time until the next one.
        wait: Duration,
    },
    /// A cell failed, or the run ended before its next attempt.
    Failed(usize),
    /// It was stopped.
    Stopped(usize),
    /// A cell is skipped because another one failed or was stopped. The effect is repeated for each other cell that fails.
    Skipped { cell: usize, blocked_by: usize },
}
