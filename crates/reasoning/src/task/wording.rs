//! The questions, in our own words.

use super::ReasoningTask;

/// The user's message: the board, the task, and the form of the answer. `subject` is the list of candidates, or the piece.
pub(super) fn question(task: ReasoningTask, board: &str, subject: &str) -> String {
    let one_move = "a move in UCI notation, such as <answer> e2e4 </answer>";
    let (wanted, form) = match task {
        ReasoningTask::PredictMove => ("Find the best move.".to_owned(), one_move),
        ReasoningTask::BestMove => (format!("Which of these moves is the best: {subject}?"), one_move),
        ReasoningTask::WorstMove => (format!("Which of these moves is the worst: {subject}?"), one_move),
        ReasoningTask::LegalMoves => (
            format!("List all legal moves of the {subject}. Each promotion is a move of its own."),
            "a list of moves in UCI notation, such as <answer> ['e2e3', 'e2e4'] </answer>",
        ),
    };
    format!(
        "Here is a chess position. It is your turn.\n\n{board}\n\n{wanted} You may think aloud first. Give your final answer inside \
         <answer> </answer>: {form}"
    )
}

/// Moves as a list of texts in Python's syntax.
pub(super) fn list(moves: &[&str]) -> String {
    let quoted: Vec<String> = moves.iter().map(|uci| format!("'{uci}'")).collect();
    format!("[{}]", quoted.join(", "))
}
