//! Why a cell runs.

mod differences;
mod display;
mod values;

use cwm_contract::Value;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::history::CodeChangeHistory;
use cwm_core::{Digest, FileError};
use cwm_store::{ActionRecord, EvictionReason, MissingContent, Store};

pub use differences::{ValueOrigin, differences};

/// One reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum Cause {
    /// No earlier result of this cell is known.
    NeverRan,
    /// An attempt at just this left its log and no result.
    Unfinished {
        /// When it last wrote into its log.
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
    /// The record of its result is damaged.
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
    #[serde(rename = "let_go")]
    Evicted {
        /// Why.
        reason: EvictionReason,
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
        /// True if a pin says what it is.
        pinned: bool,
        /// True if the pin is what changed: the same URL, and other bytes.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        repinned: bool,
    },
    /// No checksum is known of some of its external sources.
    NotPinned {
        /// How many.
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
        /// Its producer: a stage, or an external file.
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
        since: Vec<CodeChangeHistory>,
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
    /// Returns the cause for a result that lacks these files.
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

    /// Marks a source as pinned.
    pub fn mark_pinned(&mut self) {
        if let Cause::Source { pinned, .. } = self {
            *pinned = true;
        }
    }

    /// Marks a source as changed by its pin.
    pub fn mark_repinned(&mut self) {
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
