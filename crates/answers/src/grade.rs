//! The grade of an answer.

use crate::GradesDescription;
use crate::row::row;

row! {
    /// The grade of a run's answer to an item.
    Grade, "a grades", "cwm.grades", GradesDescription {
        /// Full name of the run.
        run: String,
        /// The item's id.
        task_id: String,
        /// Its task.
        task: String,
        /// Its category.
        category: String,
        /// The number of the answer among those of the run to the item, from 0.
        sample: u64,
        /// The text that the published rule extracts; none if nothing is found.
        extracted: Option<String>,
        /// The published verdict, such as `correct` or `format_error`; of a graded item one such as `legal`.
        verdict: String,
        /// True if the verdict is `correct`; of a graded item, if the reward is 1.
        correct: bool,
        /// True if the answer is that of a chess player who follows the prompt; none if it cannot be read.
        sound: Option<bool>,
        /// The fault of a wrong move: `illegal_move`, `not_a_move`, `legal_but_wrong` or `says_none`.
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
        /// The score of a graded item, from 0 to 1: the rank of a legal move, 1 for the right candidate, or the overlap
        /// of a list with the true one; none where any move can be answered and the answer is no legal one.
        score: Option<f64>,
        /// The reinforcement-learning reward of a graded item.
        reward: Option<f64>,
        /// The rank of a legal move: the share of the other legal moves that are not better, from 0 to 1.
        rank: Option<f64>,
        /// The win probability of the best move less that of a legal move.
        win_loss: Option<f64>,
        /// The centipawns of the best move less those of a legal move, at most 1,000.
        cp_loss: Option<f64>,
        /// True if a legal move is one of the sixteen trivial moves.
        trivial: Option<bool>,
        /// Claims about moves in the text before the answer. None where claims are not counted; so are the three below.
        move_claims: Option<u64>,
        /// True claims about moves.
        true_move_claims: Option<u64>,
        /// Claims about pieces.
        piece_claims: Option<u64>,
        /// True claims about pieces.
        true_piece_claims: Option<u64>,
        /// True if the move of a readable answer to `reasoning_predict_move` is among the move claims; none where these
        /// are not counted.
        grounded: Option<bool>,
        /// True if its move is the last of the move claims.
        last: Option<bool>,
    }
}
