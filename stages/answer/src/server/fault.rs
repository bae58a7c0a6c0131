//! Why an attempt gave no answer.

use std::time::Duration;

use cwm_contract::Failure;

/// The reason.
#[derive(Debug)]
pub enum Fault {
    /// Another attempt may succeed.
    Again(Again),
    /// The question is too long for the model; no attempt will succeed.
    TooLong(Failure),
    /// No question will be answered.
    Fatal(Failure),
}

/// A fault after which the question is asked again.
#[derive(Debug)]
pub struct Again {
    /// The fault in a word, as `answers` has it.
    pub fault: &'static str,
    /// The fault in a sentence.
    pub words: String,
    /// The time that the server wants to pass before the next request.
    pub after: Option<Duration>,
    /// True if it concerns the server and not this question alone, so that all questions wait.
    pub is_shared: bool,
    /// Tokens of the answer that had arrived.
    pub tokens: u64,
}

impl Fault {
    /// A fault of this question alone.
    pub fn again(fault: &'static str, words: impl Into<String>) -> Self {
        Fault::Again(Again { fault, words: words.into(), after: None, is_shared: false, tokens: 0 })
    }

    /// The same after so many tokens.
    pub fn with_tokens(mut self, arrived: u64) -> Self {
        if let Fault::Again(again) = &mut self {
            again.tokens = arrived;
        }
        self
    }
}
