//! Why a cell runs.

mod differences;
mod values;
mod words;

use cwm_contract::Value;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::history::CodeSince;
use cwm_core::digest::Digest;
use cwm_core::files::FileError;
use cwm_store::{ActionRecord, Dropped, Missing, Store};

pub use differences::{Line, differences};

/// One reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum Cause {
    /// No earlier result of this cell is known.
    NeverRan,
    /// An attempt at just this left its log and no result.
    Unfinished {
        /// When it last wrote into its log.
        #[serde(with = "cwm_store::timestamp")]
        at: Timestamp,
    },
    /// Another process does just this now.
    Running {
        /// Which.
        holder: String,
    },
    /// The lock file names a result of this cell that the store has no record of.
    RecordMissing {
        /// Whether it would be the result of what the cell is now; if not, something changed, and the store cannot tell what.
        /// Nothing where that is not known yet.
        same: Option<bool>,
    },
    /// What is recorded of its result is damaged.
    RecordDamaged,
    /// It was asked for with `--force`.
    Forced,
    /// There is a record, but its files are gone.
    ObjectsMissing {
        /// How many.
        count: usize,
    },
    /// There is a record, but files of it were changed since they were stored.
    ObjectsDamaged {
        /// How many.
        count: usize,
    },
    /// There is a record; its files were let go on purpose.
    LetGo {
        /// Why.
        reason: Dropped,
    },
    /// Others have its result, and its files were not pulled.
    NotPulled {
        /// The remote that told of it, where that is known.
        from: Option<String>,
        /// Who made it, and when.
        origin: String,
    },
    /// A parameter changed.
    Parameter {
        /// Its name.
        name: String,
        /// What it was; nothing if it was not there.
        old: Option<Value>,
        /// What it is; nothing if it is gone.
        new: Option<Value>,
        /// The line of the YAML where its value is written, if it is: in the stage, or as a variable or an axis.
        line: Option<usize>,
        /// Whether its value comes from `--set`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        set: bool,
    },
    /// What it brings in changed.
    Source {
        /// What it was; nothing if it was not there.
        old: Option<Value>,
        /// What it is; nothing if it is gone.
        new: Option<Value>,
        /// Whether a pin says what it is.
        pinned: bool,
        /// Whether the pin is what changed: the same URL, and other bytes.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        repinned: bool,
    },
    /// Of some of what it brings in no sum is known.
    NotPinned {
        /// Of how much.
        count: usize,
    },
    /// An input's content changed.
    Input {
        /// Name of the input.
        name: String,
        /// Label of the artifact within a group; empty for a single one.
        label: String,
        /// What made it: a stage, or a file from outside.
        source: String,
        /// Content before, if it was there.
        old: Option<Digest>,
        /// Content now, if it is there.
        new: Option<Digest>,
        /// Another output of what makes it that has the content of before: then it is the reference that changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        old_output: Option<String>,
    },
    /// An input has another name or label than before, and the same content.
    InputRenamed {
        /// Name of the input.
        name: String,
        /// Label of the artifact within a group; empty for a single one.
        label: String,
        /// What made it: a stage, or a file from outside.
        source: String,
        /// Its name before.
        old_name: String,
        /// Its label before.
        old_label: String,
    },
    /// Code changed.
    Code {
        /// The crates or parts that changed.
        what: Vec<String>,
        /// The same with their digests, before and now.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changes: Vec<CodeChange>,
        /// Since when, as far as the store's records tell; only where people ask why.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        since: Vec<CodeSince>,
    },
    /// Another kind of stage stands under this name.
    Kind {
        /// Before.
        old: String,
        /// Now.
        new: String,
    },
    /// cwm computes keys in another way than when the result was made.
    KeyFormat,
}

impl Cause {
    /// What is to be said of a result that lacks these files.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn of_missing(store: &Store, record: &ActionRecord, missing: &[Missing]) -> Result<Cause, FileError> {
        Ok(match (missing.iter().filter(|missing| missing.damage.is_some()).count(), record.dropped) {
            (0, Some(Dropped::NotPulled)) => {
                Cause::NotPulled { from: store.remote_of_unpulled(record)?, origin: record.origin() }
            }
            (0, Some(reason)) => Cause::LetGo { reason },
            (0, None) => Cause::ObjectsMissing { count: missing.len() },
            (count, _) => Cause::ObjectsDamaged { count },
        })
    }

    /// What is brought in is what a pin says.
    pub fn as_pinned(&mut self) {
        if let Cause::Source { pinned, .. } = self {
            *pinned = true;
        }
    }

    /// What is brought in changed because its pin did.
    pub fn by_pin(&mut self) {
        if let Cause::Source { pinned, repinned, .. } = self {
            (*pinned, *repinned) = (true, true);
        }
    }
}

/// A crate or part that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeChange {
    /// `crate …` or `part …`.
    pub what: String,
    /// Its digest before, if it was there.
    pub old: Option<String>,
    /// Its digest now, if it is there.
    pub new: Option<String>,
}
