//! A sequence, and the vocabulary of its numbers.

use serde::{Deserialize, Serialize};

/// The target of a place that has none.
pub const NO_LOSS: u16 = u16::MAX;

/// The meaning of the numbers of a folder, and their limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vocabulary {
    /// The name of the form that the rows have.
    pub form: String,
    /// Its version: rows of two versions do not mean the same.
    pub version: u32,
    /// Number of input tokens; each token is below.
    pub inputs: u16,
    /// Number of targets; each target is below, but for [`NO_LOSS`].
    pub targets: u16,
    /// Largest number of tokens of a sequence.
    pub longest: u32,
}

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence<'a> {
    /// Its name.
    pub id: &'a str,
    /// The tokens that the model reads.
    pub tokens: &'a [u16],
    /// The target at each of these places, or [`NO_LOSS`].
    pub targets: &'a [u16],
}

/// The reason why a model without a causal mask cannot learn sequences with a target before their last place, as text
/// that follows the sequence's name; and the remedy.
pub const NEEDS_MASK: (&str, &str) = (
    "has a target before its last place, and a model without a mask would read on to the answer",
    "take `mask: causal`",
);

impl Sequence<'_> {
    /// Checks that there is a target for each token, not more than the longest has, and that all are of the vocabulary;
    /// else returns the problem as text.
    pub(crate) fn check(&self, vocabulary: &Vocabulary) -> Result<(), String> {
        let (tokens, targets) = (self.tokens.len(), self.targets.len());
        if tokens != targets {
            return Err(format!("it has {tokens} tokens and {targets} targets"));
        }
        if tokens > vocabulary.longest as usize {
            return Err(format!("it has {tokens} tokens, more than the {} of its vocabulary", vocabulary.longest));
        }
        if let Some(token) = self.tokens.iter().find(|token| **token >= vocabulary.inputs) {
            return Err(format!("token {token} is not one of the {} of its vocabulary", vocabulary.inputs));
        }
        let is_unknown = |target: &&u16| **target >= vocabulary.targets && **target != NO_LOSS;
        match self.targets.iter().find(is_unknown) {
            Some(target) => Err(format!("target {target} is not one of the {} of its vocabulary", vocabulary.targets)),
            None => Ok(()),
        }
    }
}
