//! What an answer is.

use crate::Graded;
use crate::row::row;

row! {
    /// The grade of a run's answer to an item.
    Grade, "a grades", "cwm.grades", Graded {
        /// Full name of the run.
        run: String,
        /// The item's id.
        task_id: String,
        /// Its task.
        task: String,
        /// Its category.
        category: String,
        /// What the published rule extracts; none if nothing is found.
        extracted: Option<String>,
        /// The published verdict, such as `correct` or `format_error`.
        verdict: String,
        /// Whether the verdict is `correct`.
        correct: bool,
        /// Whether a chess player who follows the prompt is right; none if the answer cannot be read.
        sound: Option<bool>,
        /// Of a wrong move: `illegal_move`, `not_a_move`, `legal_but_wrong` or `says_none`.
        fault: Option<String>,
        /// Tokens of the prompt.
        prompt_tokens: Option<u64>,
        /// Tokens of the completion.
        completion_tokens: Option<u64>,
        /// Tokens of the reasoning.
        reasoning_tokens: Option<u64>,
        /// All tokens.
        total_tokens: Option<u64>,
        /// Dollars: by the server's own count, otherwise by the price list.
        cost: Option<f64>,
    }
}
