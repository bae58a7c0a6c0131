//! What the engine informs the scheduler of, and what the scheduler has it do.

use std::time::Duration;

use super::CompletionKind;
use cwm_core::Key;

/// The decision of the engine about a cell that is ready.
#[derive(Clone, Debug)]
pub enum Decision {
    /// It has a result.
    Hit(Key),
    /// Remotes may have a record of it.
    FetchRecords(Key),
    /// Remotes may have the files of its result.
    FetchFiles(Key),
    /// Another cell builds or fetches its key.
    SharesKey(Key),
    /// It has to be built.
    Miss {
        /// Its key.
        key: Key,
        /// Inputs of which files are lost. They are built or fetched again first.
        lost_inputs: Vec<LostInput>,
    },
    /// It cannot be built.
    Failed,
    /// It is not checked.
    Skipped {
        /// A cell that it reads, which has no result.
        because: usize,
    },
}

/// An input of which files are lost.
#[derive(Clone, Copy, Debug)]
pub struct LostInput {
    /// The cell that made it.
    pub cell: usize,
    /// True if it is built again: remotes may have it.
    pub is_rebuilt: bool,
}

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// The run begins.
    Begin,
    /// The answer to [`Effect::Decide`].
    Decided(usize, Decision),
    /// The answer to [`Effect::FetchRecords`] or [`Effect::FetchFiles`], whatever came.
    Fetched(usize),
    /// The inputs of a cell are uploaded.
    Uploaded(usize),
    /// They cannot be: this input is nowhere any more, or nothing can be uploaded.
    NotUploaded(usize, Option<usize>),
    /// The executor has started a cell.
    Accepted(usize),
    /// Its work has begun.
    Began(usize),
    /// It has a result.
    Finished {
        /// The cell.
        cell: usize,
        /// Whether this run built it.
        how: CompletionKind,
        /// True if the result differs from the one that the cell had before.
        has_changed: bool,
        /// True if files of it have to be fetched.
        is_fetched: bool,
    },
    /// It has none.
    Failed {
        /// The cell.
        cell: usize,
        /// True if another attempt may succeed.
        is_transient: bool,
        /// True if it was stopped by this run.
        was_stopped: bool,
    },
    /// Time passed.
    Timer,
    /// Nothing is to be begun any more.
    DrainRequested,
    /// The run is to stop; if that was asked before, at once.
    StopRequested,
    /// Nothing happens any more.
    End,
}

/// An instruction to the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Look whether a cell has a result. [`Event::Decided`] is the answer.
    Decide(usize),
    /// Ask remotes for records of a cell.
    FetchRecords(usize),
    /// Ask remotes for the files of its result.
    FetchFiles(usize),
    /// Upload the inputs of a cell.
    Upload(usize),
    /// Submit a cell to its executor.
    Submit(usize),
    /// Take it back.
    Withdraw(usize),
    /// A cell is done.
    Done(usize, CompletionKind),
    /// An attempt failed, and another one follows.
    Retrying {
        /// The cell.
        cell: usize,
        /// The attempt that failed, from 1.
        attempt: u32,
        /// How long it is until the next one.
        wait: Duration,
    },
    /// A cell failed.
    Failed(usize),
    /// It was to be attempted again, and the run ended before.
    GaveUp(usize),
    /// It was stopped.
    Stopped(usize),
    /// A cell is skipped because another one failed or was stopped. It comes again for each other one that fails.
    Skipped {
        /// The cell.
        cell: usize,
        /// The other one.
        because: usize,
    },
}
