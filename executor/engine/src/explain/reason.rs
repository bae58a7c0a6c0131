//! What is said of a cell, as data and as sentences.

use serde::Serialize;

use crate::cause::Cause;
use cwm_store::{ActionRecord, EvictionReason};

/// Causes that one sentence names; of more, how many there are.
pub(super) const NAMED: usize = 3;

/// The explanation of a cell.
#[derive(Clone, Debug, Serialize)]
pub struct Reason {
    /// The cell.
    pub label: String,
    /// Its predicted status.
    pub state: CellStatus,
    /// Where a cached result comes from; of what cannot be told, why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// True if its result is one of older code, which was accepted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub accepted: bool,
    /// Why it would run, a sentence a cause, each followed back to what somebody changed; of the cell that was asked about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
    /// If only its code changed: whether its probe gives the same with today's code, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<String>,
    /// Why the cached result was made then, one cause a line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub made_because: Vec<String>,
    /// Why it would run now, or ran again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// What else may be done than to run it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// What it depends on that would run or has run again, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because_of: Vec<Reason>,
}

/// The predicted status of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum CellStatus {
    /// Its result is there.
    #[serde(rename = "cached")]
    Cached,
    /// It is done, and files of its result are missing.
    #[serde(rename = "incomplete")]
    Incomplete,
    /// It is done, and `cwm gc` let its files go.
    #[serde(rename = "collected")]
    Collected,
    /// It is done by others, and its files were not pulled.
    #[serde(rename = "not pulled")]
    NotPulled,
    /// It is done, and its files are not kept.
    #[serde(rename = "dropped")]
    Dropped,
    /// Its result is there, and another one than what a cell that reads it was made from.
    #[serde(rename = "ran again")]
    RanAgain,
    /// Its result is there, and another one than what a cell that reads it was made from; it did not run since.
    #[serde(rename = "has another result")]
    Differs,
    /// It would run.
    #[serde(rename = "would run")]
    WouldRun,
    /// Whether it runs depends on what comes out of others.
    #[serde(rename = "waits")]
    Waits,
    /// Whether it runs depends on what a pipe holds.
    #[serde(rename = "may run")]
    MayRun,
    /// Something that it depends on cannot be read.
    #[serde(rename = "would fail")]
    WouldFail,
}

impl CellStatus {
    /// Returns the status of a cell that is done and whose files nobody needs.
    pub fn without_files(record: &ActionRecord) -> CellStatus {
        match record.evicted {
            None => CellStatus::Incomplete,
            Some(EvictionReason::Collected) => CellStatus::Collected,
            Some(EvictionReason::NotPulled) => CellStatus::NotPulled,
            Some(EvictionReason::NotKept) => CellStatus::Dropped,
        }
    }

    /// As a verb.
    pub fn as_verb(self) -> &'static str {
        match self {
            CellStatus::Cached
            | CellStatus::Incomplete
            | CellStatus::Collected
            | CellStatus::NotPulled
            | CellStatus::Dropped => "is cached",
            CellStatus::RanAgain => "ran again",
            CellStatus::Differs => "has another result",
            CellStatus::WouldRun => "would run",
            CellStatus::Waits | CellStatus::MayRun => "may run",
            CellStatus::WouldFail => "would fail",
        }
    }
}

impl Reason {
    /// Each cause as a sentence that goes back to what somebody changed: `input … changed, because corpus ran again, because
    /// parameter … changed`.
    pub(super) fn sentences(&self) -> Vec<String> {
        let sentences = self.causes.iter().map(|cause| self.followed(cause));
        sentences.chain(self.made_because.iter().cloned()).collect()
    }

    /// A cause, and what is behind it.
    fn followed(&self, cause: &Cause) -> String {
        let behind = match cause {
            Cause::Input { source, .. } => self.because_of.iter().find(|reason| reason.label == *source),
            _ => None,
        };
        match behind {
            None => cause.to_string(),
            Some(reason) => match reason.joined() {
                Some(why) => format!(
                    "{}, because {} {}, because {why}",
                    cause.without_source(),
                    reason.label,
                    reason.state.as_verb()
                ),
                None => format!("{}, because {} {}", cause.without_source(), reason.label, reason.state.as_verb()),
            },
        }
    }

    /// All its causes in one sentence.
    pub(super) fn joined(&self) -> Option<String> {
        let sentences = self.sentences();
        let sentences: Vec<&str> = sentences.iter().map(String::as_str).collect();
        (!sentences.is_empty()).then(|| join_limited(&sentences, NAMED, " and "))
    }
}

/// The first of them, and how many more there are.
pub(super) fn join_limited(items: &[&str], most: usize, between: &str) -> String {
    let more = items.len().saturating_sub(most);
    let shown = items[..items.len() - more].join(between);
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}
