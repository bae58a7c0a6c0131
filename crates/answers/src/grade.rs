//! What an answer is.

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
        /// What the published rule extracts; none if nothing is found.
        extracted: Option<String>,
        /// The published verdict, such as `correct` or `format_error`; of a graded item one such as `legal`.
        verdict: String,
        /// Whether the verdict is `correct`; of a graded item, whether the reward is 1.
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
        /// Of a graded item: the rank of a legal move, whether the candidate is the right one, or how much a list has
        /// in common with the true one, from 0 to 1; none where any move can be answered and none that is legal was.
        score: Option<f64>,
        /// Of a graded item: the reward of reinforcement learning.
        reward: Option<f64>,
        /// Of a legal move: the share of the other legal moves that are not better, from 0 to 1.
        rank: Option<f64>,
        /// Of a legal move: the win probability of the best move less its own.
        win_loss: Option<f64>,
        /// Of a legal move: the same in centipawns, at most 1,000.
        cp_loss: Option<f64>,
        /// Of a legal move: whether it is one of the sixteen trivial moves.
        trivial: Option<bool>,
        /// Claims about moves in the text before the answer. None where claims are not counted; so are the three below.
        move_claims: Option<u64>,
        /// Those that are true.
        true_move_claims: Option<u64>,
        /// Claims about pieces.
        piece_claims: Option<u64>,
        /// Those that are true.
        true_piece_claims: Option<u64>,
        /// Of a readable answer to `reasoning_predict_move`, where claims are counted: whether its move is among the move claims.
        grounded: Option<bool>,
        /// Whether its move is the last of the move claims.
        last: Option<bool>,
    }
}
