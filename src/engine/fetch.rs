//! What a run asks of remotes, as far as the engine knows of them.

use crate::digest::Key;
use crate::store::ActionRecord;

/// Whoever fetches what others made. Its work is done in the background: nothing here waits for it.
pub trait Fetcher {
    /// Takes over the records that there are of these keys. [`Tidings::Records`] is the end.
    fn records(&self, cell: usize, keys: Vec<Key>, tell: Tell);

    /// Fetches the files of the first of these results that can be had whole. [`Tidings::Files`] is the end.
    fn files(&self, cell: usize, candidates: Vec<ActionRecord>, tell: Tell);
}

/// Who is told, from any thread.
pub type Tell = Box<dyn Fn(Tidings) + Send + Sync>;

/// How it goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Tidings {
    /// Remotes were asked for records; what did not go well, in words.
    Records {
        /// For which cell.
        cell: usize,
        /// A sentence each.
        faults: Vec<String>,
    },
    /// Files begin to come.
    Begun {
        /// For which cell.
        cell: usize,
        /// How many.
        objects: u64,
        /// Their bytes.
        bytes: u64,
    },
    /// Files come.
    Progress {
        /// For which cell.
        cell: usize,
        /// Bytes that came.
        done: u64,
        /// Bytes that are to come.
        total: u64,
    },
    /// Files came, or did not.
    Files {
        /// For which cell.
        cell: usize,
        /// How many came.
        objects: u64,
        /// Their bytes.
        bytes: u64,
        /// Seconds that it took.
        seconds: f64,
        /// What could not be had, a line each; nothing if the result is whole now.
        lacks: Vec<String>,
    },
}
