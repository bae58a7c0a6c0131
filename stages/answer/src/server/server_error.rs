//! Reasons why an attempt gave no answer.

use std::time::Duration;

use cwm_contract::Failure;

use crate::entry::Usage;

/// The reason why an attempt gave no answer.
#[derive(Debug)]
pub enum ServerError {
    /// Another attempt may succeed.
    Transient(TransientError),
    /// The question is too long for the model; no attempt will succeed.
    TooLong(Failure),
    /// The server refuses the key; no question will be answered.
    Key(Failure),
    /// No question will be answered.
    Fatal(Failure),
}

/// A fault after which the question is sent again.
#[derive(Debug)]
pub struct TransientError {
    /// The fault as `answers` has it.
    pub fault: &'static str,
    /// The description of the fault.
    pub message: String,
    /// The time that the server wants to pass before the next request.
    pub retry_after: Option<Duration>,
    /// True if it concerns the server and not this question alone, so that all questions wait.
    pub is_shared: bool,
    /// The tokens and the cost that the server reports; without them, the pieces that had arrived count as the completion's
    /// tokens.
    pub usage: Box<Usage>,
}

impl ServerError {
    /// A fault of this question alone.
    pub fn transient(fault: &'static str, message: impl Into<String>) -> Self {
        ServerError::Transient(TransientError {
            fault,
            message: message.into(),
            retry_after: None,
            is_shared: false,
            usage: Box::default(),
        })
    }

    /// Adds the `usage` that the server counted for the attempt, after so many pieces of an answer.
    pub fn with_usage(mut self, usage: Usage, pieces: u64) -> Self {
        if let ServerError::Transient(again) = &mut self {
            let completion_tokens = usage.completion_tokens.or((pieces > 0).then_some(pieces));
            *again.usage = Usage { completion_tokens, ..usage };
        }
        self
    }
}
