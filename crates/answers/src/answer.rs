//! The answer to an item.

use std::borrow::Cow;

use crate::PlayerSettings;
use crate::row::row;

/// [`Answer::finish`] of a question that got no answer; `fault` has the reason.
pub const FAILED: &str = "failed";

/// [`Answer::finish`] of an item that is not put to the player, such as one that lacks what the player needs. It counts
/// nowhere.
pub const NOT_ASKED: &str = "not_asked";

/// The most dollars that an answer costs, or a million tokens.
const MOST_DOLLARS: f64 = 1e9;

row! {
    /// The answer to an item. Programs that are not ours must give `task_id` and `response` alone.
    Answer, "an answers", "cwm.run", PlayerSettings {
        /// The item's id.
        task_id: String,
        /// The number of the answer among those of the player to the item, from 0; none means 0.
        sample: Option<u64>,
        /// The first 16 bytes of the BLAKE3 of the request.
        request: Option<[u8; 16]>,
        /// The visible text; none if there is no answer.
        response: Option<String>,
        /// The reasoning, where the server sends it apart.
        reasoning: Option<String>,
        /// The reason why the text ends: `stop`, `length`, [`FAILED`], [`NOT_ASKED`], or another word of the server's.
        finish: Option<String>,
        /// Tokens of the prompt.
        prompt_tokens: Option<u64>,
        /// Tokens of the completion, its reasoning included.
        completion_tokens: Option<u64>,
        /// Tokens of the reasoning.
        reasoning_tokens: Option<u64>,
        /// All tokens, by the server's own count.
        total_tokens: Option<u64>,
        /// Dollars, by the server's own count.
        cost: Option<f64>,
        /// Requests that were sent.
        attempts: Option<u64>,
        /// The reason why there is no answer.
        fault: Option<String>,
    }
}

impl Answer {
    /// The number of the answer among those to the item.
    pub fn sample_number(&self) -> u64 {
        self.sample.unwrap_or(0)
    }

    /// All that was written: the reasoning, where the server sends it apart, with a line end, and the visible text.
    pub fn whole_text(&self) -> Cow<'_, str> {
        let response = self.response.as_deref().unwrap_or_default();
        match &self.reasoning {
            Some(reasoning) => Cow::Owned(format!("{reasoning}\n{response}")),
            None => Cow::Borrowed(response),
        }
    }

    /// Returns true if the item was put to the player.
    pub fn is_asked(&self) -> bool {
        self.finish.as_deref() != Some(NOT_ASKED)
    }
}

/// Returns true if an answer, or a million tokens, can cost so many dollars.
pub fn is_cost(dollars: f64) -> bool {
    (0.0..=MOST_DOLLARS).contains(&dollars)
}
