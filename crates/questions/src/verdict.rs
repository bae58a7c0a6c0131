//! The published verdict on an answer.

use std::collections::BTreeSet;
use std::fmt;

use crate::form::AnswerType;
use crate::reading::strip;

/// Share of the allowed tokens from which an answer counts as cut.
const CUT: f64 = 0.98;

/// The verdict on an answer, by the published rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PublishedVerdict {
    /// The key.
    Correct,
    /// An answer of as many tokens as allowed, whatever it is.
    MaxTokenReached,
    /// No answer is found.
    FormatError,
    /// An answer other than the key.
    WrongAnswer,
    /// A list with all entries of the key, and false ones.
    MultiExtraItems,
    /// A list with entries of the key alone, but not all.
    MultiMissingItems,
    /// A list with false entries that lacks some of the key.
    MultiFalseItems,
}

impl PublishedVerdict {
    /// The published name.
    pub fn name(self) -> &'static str {
        match self {
            PublishedVerdict::Correct => "correct",
            PublishedVerdict::MaxTokenReached => "max_token_reached",
            PublishedVerdict::FormatError => "format_error",
            PublishedVerdict::WrongAnswer => "wrong_answer",
            PublishedVerdict::MultiExtraItems => "multi_extra_items",
            PublishedVerdict::MultiMissingItems => "multi_missing_items",
            PublishedVerdict::MultiFalseItems => "multi_false_items",
        }
    }
}

impl fmt::Display for PublishedVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The length of an answer, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Length {
    /// Tokens of the completion.
    pub completion_tokens: Option<u64>,
    /// Tokens that were allowed.
    pub max_tokens: Option<u64>,
}

impl Length {
    fn is_truncated(self) -> bool {
        let lengths = self.completion_tokens.zip(self.max_tokens);
        lengths.is_some_and(|(tokens, allowed)| tokens as f64 >= allowed as f64 * CUT)
    }
}

/// The verdict on the extracted text of an answer.
pub fn verdict(extracted: Option<&str>, key: &str, answer_type: AnswerType, length: Length) -> PublishedVerdict {
    let lower = |text: &str| strip(&text.to_lowercase()).to_owned();
    if length.is_truncated() {
        return PublishedVerdict::MaxTokenReached;
    }
    let Some(extracted) = extracted else { return PublishedVerdict::FormatError };
    if answer_type == AnswerType::Single {
        return if lower(extracted) == lower(key) { PublishedVerdict::Correct } else { PublishedVerdict::WrongAnswer };
    }
    let entries =
        |text: &str| -> BTreeSet<String> { text.split(',').map(lower).filter(|entry| !entry.is_empty()).collect() };
    let (extracted, key) = (entries(extracted), entries(key));
    match (extracted.is_subset(&key), key.is_subset(&extracted)) {
        (true, true) => PublishedVerdict::Correct,
        (false, true) => PublishedVerdict::MultiExtraItems,
        (true, false) => PublishedVerdict::MultiMissingItems,
        (false, false) => PublishedVerdict::MultiFalseItems,
    }
}
