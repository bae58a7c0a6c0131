//! The explanation of a cell, as data and as sentences.

use std::fmt;

use serde::Serialize;

use crate::cause::Cause;
use cwm_store::{ActionRecord, EvictionReason};

/// The most causes that one sentence names.
const NAMED: usize = 3;

/// The explanation of a cell.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Reason {
    /// The cell.
    pub label: String,
    /// Its predicted status.
    pub state: CellStatus,
    /// The origin of a cached result, or the reason for which nothing more is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// True if its result is one of older code, which was accepted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub accepted: bool,
    /// A sentence for each cause, followed back to what changed first; only of the cell that is explained.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
    /// The outcome of its probe with today's code, if only its code changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<String>,
    /// The causes for which the cached result was made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub made_because: Vec<String>,
    /// The causes for which it would run, or ran again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// An alternative to running it, or a note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// The cells that it depends on and that would run, or ran again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because_of: Vec<Reason>,
}

/// The predicted status of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub enum CellStatus {
    /// It has a result.
    #[default]
    #[serde(rename = "cached")]
    Cached,
    /// It is done, and files of its result are missing.
    #[serde(rename = "incomplete")]
    Incomplete,
    /// It is done, and `cwm gc` evicted its files.
    #[serde(rename = "collected")]
    Collected,
    /// Its result is known from a remote, and its files were not pulled.
    #[serde(rename = "not pulled")]
    NotPulled,
    /// It is done, and its files are not kept.
    #[serde(rename = "dropped")]
    Dropped,
    /// It ran again with another result than the one that its reader had read.
    #[serde(rename = "ran again")]
    RanAgain,
    /// It has another result than the one that its reader had read, and did not run since.
    #[serde(rename = "has another result")]
    Differs,
    /// It would run.
    #[serde(rename = "would run")]
    WouldRun,
    /// Its inputs have no results yet.
    #[serde(rename = "waits")]
    Waits,
    /// It may run: that depends on the content of a pipe, or on the results of other cells.
    #[serde(rename = "may run")]
    MayRun,
    /// A file that it depends on cannot be read.
    #[serde(rename = "would fail")]
    WouldFail,
}

impl CellStatus {
    /// Returns the status of a cell with missing files that no cell needs.
    pub fn without_files(record: &ActionRecord) -> CellStatus {
        match record.evicted {
            None => CellStatus::Incomplete,
            Some(EvictionReason::Collected) => CellStatus::Collected,
            Some(EvictionReason::NotPulled) => CellStatus::NotPulled,
            Some(EvictionReason::NotKept) => CellStatus::Dropped,
        }
    }

    /// Returns true if the cell is done and would not run.
    pub fn is_cached(self) -> bool {
        use CellStatus::{Cached, Collected, Dropped, Incomplete, NotPulled};
        matches!(self, Cached | Incomplete | Collected | NotPulled | Dropped)
    }

    /// Returns the status as a verb.
    pub fn as_verb(self) -> &'static str {
        match self {
            CellStatus::RanAgain => "ran again",
            CellStatus::Differs => "has another result",
            CellStatus::WouldRun => "would run",
            CellStatus::Waits | CellStatus::MayRun => "may run",
            CellStatus::WouldFail => "would fail",
            _ => "is cached",
        }
    }
}

impl fmt::Display for CellStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl Reason {
    /// Returns each cause as a sentence that goes back to what changed first: `input … changed, because corpus ran again, because
    /// parameter … changed`.
    pub(super) fn sentences(&self) -> Vec<String> {
        let sentences = self.causes.iter().map(|cause| self.sentence(cause));
        sentences.chain(self.made_because.iter().cloned()).collect()
    }

    /// Returns a cause with those behind it.
    fn sentence(&self, cause: &Cause) -> String {
        let Cause::Input { source, .. } = cause else { return cause.to_string() };
        let Some(reason) = self.because_of.iter().find(|reason| reason.label == *source) else {
            return cause.to_string();
        };
        let sentences = reason.sentences();
        let mut text = format!("{}, because {} {}", cause.without_source(), reason.label, reason.state.as_verb());
        if !sentences.is_empty() {
            text += &format!(", because {}", sentences[..sentences.len().min(NAMED)].join(" and "));
        }
        if sentences.len() > NAMED {
            text += &format!(" and {} more", sentences.len() - NAMED);
        }
        text
    }
}
