//! The causes for which a cell runs.

mod differences;
mod display;
mod values;

use cwm_contract::Value;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use cwm_core::{Digest, FileError};
use cwm_store::{ActionRecord, EvictionReason, MissingContent, Store};

pub use differences::differences;
pub use display::remote_name;

/// One cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum Cause {
    /// No earlier result of this cell is known.
    NeverRan,
    /// An attempt at the same key left its log and no result.
    Unfinished {
        /// When it last wrote into its log.
        at: Timestamp,
    },
    /// Another process builds the same key now.
    Running {
        /// The process.
        owner: String,
    },
    /// The lock file names a result of this cell that the store has no record of.
    RecordMissing {
        /// True if it is of the same key. If not, something changed, and the store has no record of what. None if the key is
        /// not known yet.
        same: Option<bool>,
    },
    /// The record of its result is damaged.
    RecordDamaged,
    /// `--force` names it.
    Forced,
    /// There is a record, but its files are gone.
    ObjectsMissing {
        /// The number of files.
        count: usize,
    },
    /// There is a record, but files of it were changed since they were stored.
    ObjectsDamaged {
        /// The number of files.
        count: usize,
    },
    /// There is a record; its files were evicted.
    Evicted {
        /// The reason.
        reason: EvictionReason,
    },
    /// A remote has its result, and its files were not pulled.
    NotPulled {
        /// The remote that its record is from, if it is known.
        from: Option<String>,
        /// The origin of the result.
        origin: String,
    },
    /// A parameter changed.
    Parameter {
        /// Its name.
        name: String,
        /// Its value before; nothing if it was not there.
        old: Option<Value>,
        /// Its value now; nothing if it is gone.
        new: Option<Value>,
        /// The line of the YAML where its value is written, if it is: in the stage, or as a variable or an axis.
        line: Option<usize>,
        /// True if its value comes from `--set`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        set: bool,
    },
    /// Its external source changed.
    Source {
        /// Its value before; nothing if it was not there.
        old: Option<Value>,
        /// Its value now; nothing if it is gone.
        new: Option<Value>,
        /// True if it is pinned.
        pinned: bool,
        /// True if the pin is what changed: the same URL, and other bytes.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        repinned: bool,
    },
    /// No checksum is known of some of its external sources.
    NotPinned {
        /// The number of sources.
        count: usize,
    },
    /// An input's content changed.
    Input {
        /// Name of the input.
        name: String,
        /// Label of the artifact within a group; empty for a single one.
        label: String,
        /// Its producer: a stage, or an external file.
        source: String,
        /// Content before, if it was there.
        old: Option<Digest>,
        /// Content now, if it is there.
        new: Option<Digest>,
        /// Another output of its producer that has the old content: then the reference changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        old_output: Option<String>,
    },
    /// Code changed.
    Code {
        /// The crates or parts that changed.
        what: Vec<String>,
        /// Their digests, before and now.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changes: Vec<CodeChange>,
    },
    /// A stage of another kind has this name.
    Kind {
        /// The kind of stage before.
        old: String,
        /// The kind of stage now.
        new: String,
    },
    /// The format of keys changed since the result was made.
    KeyFormat,
}

impl Cause {
    /// Returns the cause for a result of which these files are missing.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn from_missing(store: &Store, record: &ActionRecord, missing: &[MissingContent]) -> Result<Cause, FileError> {
        Ok(match (missing.iter().filter(|missing| missing.damage.is_some()).count(), record.evicted) {
            (0, Some(EvictionReason::NotPulled)) => {
                Cause::NotPulled { from: store.remote_of_unpulled(record)?, origin: record.origin() }
            }
            (0, Some(reason)) => Cause::Evicted { reason },
            (0, None) => Cause::ObjectsMissing { count: missing.len() },
            (count, _) => Cause::ObjectsDamaged { count },
        })
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
