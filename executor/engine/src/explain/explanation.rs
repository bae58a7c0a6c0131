//! The explanation of a cell, as data and as sentences.

use serde::Serialize;

use crate::cause::Cause;
use crate::status::CellStatus;
use cwm_core::join_some;

/// The most causes that one sentence names.
const MAX_NAMED: usize = 3;

/// The explanation of a cell.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Explanation {
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
    pub sentences: Vec<String>,
    /// The outcome of its probe with today's code, if only its code changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<String>,
    /// The causes for which the cached result was made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recorded_causes: Vec<String>,
    /// The causes for which it would run, or ran again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// An alternative to running it, or a note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// The cells that it depends on and that would run, or ran again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<Explanation>,
}

impl Explanation {
    /// Returns each cause as a sentence that goes back to what changed first: `input … changed, because corpus ran again, because
    /// parameter … changed`.
    pub(super) fn sentences(&self) -> Vec<String> {
        let sentences = self.causes.iter().map(|cause| self.sentence(cause));
        sentences.chain(self.recorded_causes.iter().cloned()).collect()
    }

    /// Returns a cause with those behind it.
    fn sentence(&self, cause: &Cause) -> String {
        let mut text = cause.to_string();
        let Cause::Input { source, .. } = cause else { return text };
        let Some(reason) = self.dependencies.iter().find(|reason| reason.label == *source) else { return text };
        let sentences = reason.sentences();
        // The source is named once.
        let change = text.strip_suffix(&format!(", from {source}")).unwrap_or(&text);
        text = format!("{change}, because {source} {}", reason.state.as_verb());
        if !sentences.is_empty() {
            text += &format!(", because {}", join_some(&sentences, " and ", MAX_NAMED));
        }
        text
    }
}
