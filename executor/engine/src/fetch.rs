//! What a run asks of remotes, as far as the engine knows of them.

use std::collections::BTreeMap;

use crate::event::Direction;
use cwm_core::digest::{Digest, Key};
use cwm_store::ActionRecord;
use cwm_store::outside::Snapshot;

/// Whoever fetches what others made. Its work is done in the background: nothing here waits for it.
pub trait Fetcher {
    /// Takes over the records that there are of these keys. [`Tidings::Records`] is the end.
    fn records(&self, cell: usize, keys: Vec<Key>, tell: Tell);

    /// Fetches the files of the first of these results that can be had whole. [`Tidings::Files`] is the end.
    fn files(&self, cell: usize, candidates: Vec<ActionRecord>, tell: Tell);
}

/// Whoever sees to it that jobs on nodes that do not read the run's store find what they read: with a remote. It works in the
/// background as well.
pub trait Provider {
    /// Sends what the remote lacks of this. [`Tidings::Provided`] is the end.
    fn provide(&self, cell: usize, article: Article, tell: Tell);
}

/// What a job reads.
#[derive(Clone, Debug)]
pub enum Article {
    /// The result of another cell.
    Result(Box<ActionRecord>),
    /// A file from outside.
    File(Snapshot),
}

/// What tells articles apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ArticleId {
    /// A result, by its key and what came out.
    Result(Key, BTreeMap<String, Digest>),
    /// A file, by its content.
    File(Digest),
}

impl Article {
    /// What tells it from others.
    pub fn id(&self) -> ArticleId {
        match self {
            Article::Result(record) => ArticleId::of(record),
            Article::File(file) => ArticleId::File(file.digest),
        }
    }
}

impl ArticleId {
    /// That of a result.
    pub fn of(record: &ActionRecord) -> ArticleId {
        ArticleId::Result(record.key, record.output_digests())
    }
}

/// What came of providing something.
#[derive(Clone, Debug, PartialEq)]
pub enum Provided {
    /// The remote has all of it now.
    There {
        /// Pieces of content that were sent; the others were there.
        objects: u64,
        /// Their bytes.
        bytes: u64,
        /// Seconds that it took.
        seconds: f64,
    },
    /// Files of it are neither with the remote nor here.
    Nowhere,
    /// It could not be sent, and why.
    Failed(String),
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
    /// Files begin to move.
    Begun {
        /// For which cell.
        cell: usize,
        /// Which way.
        direction: Direction,
        /// How many.
        objects: u64,
        /// Their bytes.
        bytes: u64,
    },
    /// Files move.
    Progress {
        /// For which cell.
        cell: usize,
        /// Bytes that moved.
        done: u64,
        /// Bytes that are to move.
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
        /// Whether every remote answered.
        reached: bool,
    },
    /// Something is to be known of a remote, such as that it was begun.
    Said(String),
    /// Something was provided, or could not be.
    Provided {
        /// What.
        article: ArticleId,
        /// How it went.
        came: Provided,
    },
}
