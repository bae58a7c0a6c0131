//! True answers: the keys of items, from their `input` and `metadata` alone, and the answers about positions.

mod checks;
mod judgement;
mod legal;
mod motifs;
mod position;
mod predicted;
pub(crate) mod rules;
mod structural;
mod tactics;
mod tracking;
mod uci;

use cwm_contract::Failure;
use cwm_encoding::EnPassant;
use serde_json::Value;
use shakmaty::Square;

pub use judgement::nearest;
pub(crate) use legal::was_passed;
pub use position::{Position, chess_of_fen};
pub use predicted::{predicted_answer, predicted_position};
pub use structural::{piece_name, role_name};
pub use tracking::fen_after;
pub(crate) use uci::played;

use crate::{Item, Task};
use structural::SquareKind;

/// The rules by which an answer is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// The keys of the published items.
    Published,
    /// The answers of a chess player who follows the prompt.
    Sound,
}

/// The key of `item`, computed from its input and metadata. Lists have a comma and a space between their entries; a sound key of
/// Short Tactics lists all moves of which each is right. None if these do not decide it: a Semantic item without the text of its
/// true option, a tactic without its line.
///
/// # Errors
///
/// The item's task is not known, its input is no position, or its metadata lacks what its task needs.
pub fn key(item: &Item, keys: Keys) -> Result<Option<String>, Failure> {
    let task = item.task().ok_or_else(|| unknown_task(item))?;
    let found = match task {
        Task::StateTrackingShort | Task::StateTrackingMid | Task::StateTrackingLong => {
            after_moves(item, EnPassant::Legal).map(Some)
        }
        Task::Rating(_) | Task::Theme(_) => {
            item.metadata.text("pv").map(|pv| tactics::solution(&item.input, pv, keys)).transpose()
        }
        Task::Judgement(_) => judged(item),
        Task::Semantic(_) => Ok(letter(item)),
        _ => of_position(item, task, keys),
    };
    found.map_err(|wrong| fault(item, wrong))
}

pub(crate) fn fault(item: &Item, wrong: String) -> Failure {
    Failure::input(format!("{}: {wrong}", item.task_id))
}

pub(crate) fn unknown_task(item: &Item) -> Failure {
    fault(item, format!("the task {:?} is not known", item.task_type))
}

/// The truth of a Structural task (but state tracking) or of a Motif in a position. None for other tasks, and for tasks about a
/// square without one.
pub fn answer_in_position(task: Task, position: &Position, square: Option<Square>, keys: Keys) -> Option<String> {
    let board = position.board();
    let reached = |reach| square.map(|square| structural::squares(board, square, reach, keys));
    match task {
        Task::PieceArrangement => Some(structural::piece_arrangement(board)),
        Task::LegalMovePiece => square.map(|square| structural::legal_moves(position, Some(square))),
        Task::LegalMoveAll => Some(structural::legal_moves(position, None)),
        Task::CheckDetection => Some(structural::checkers(position)),
        Task::CheckIn1 => Some(structural::checking_moves(position)),
        Task::CaptureSquares => reached(SquareKind::Capture),
        Task::ControlSquares => reached(SquareKind::Control),
        Task::ProtectSquares => reached(SquareKind::Protect),
        Task::Pin => Some(motifs::pins(board)),
        Task::Fork => Some(motifs::forks(board)),
        Task::Battery => Some(motifs::batteries(board, keys)),
        Task::Skewer => Some(motifs::skewers(board)),
        Task::DiscoveredCheck => Some(checks::discovered_checks(position, keys)),
        Task::DoubleCheck => Some(checks::double_checks(position, keys)),
        _ => None,
    }
}

/// The square that an item is about.
///
/// # Errors
///
/// Its metadata names one that is none.
pub fn target_square(item: &Item) -> Result<Option<Square>, String> {
    let Some(name) = item.metadata.text("target_square") else { return Ok(None) };
    name.parse().map(Some).map_err(|_| format!("the target_square {name:?} of its metadata is no square"))
}

fn of_position(item: &Item, task: Task, keys: Keys) -> Result<Option<String>, String> {
    let square = target_square(item)?;
    let truth = answer_in_position(task, &Position::of_fen(&item.input)?, square, keys);
    truth.map(Some).ok_or_else(|| "its metadata has no target_square".to_owned())
}

fn after_moves(item: &Item, en_passant: EnPassant) -> Result<String, String> {
    let parts = item.input.split_once(" | ").ok_or("its input has no moves after ' | '")?;
    fen_after(parts.0, parts.1, en_passant)
}

/// The options of a Position Judgement item.
///
/// # Errors
///
/// Its metadata lists none.
pub fn grid(item: &Item) -> Result<Vec<i64>, String> {
    let options = item.metadata.get("options").and_then(Value::as_array);
    let options = options.and_then(|options| options.iter().map(Value::as_i64).collect::<Option<Vec<_>>>());
    options
        .filter(|options| !options.is_empty())
        .ok_or_else(|| "its metadata has no options that are integers".to_owned())
}

fn judged(item: &Item) -> Result<Option<String>, String> {
    let evaluation = item.metadata.get("actual_evaluation").and_then(Value::as_i64);
    let evaluation = evaluation.ok_or("its metadata has no actual_evaluation that is an integer")?;
    Ok(nearest(&grid(item)?, evaluation).map(|option| option.to_string()))
}

/// The letter of the option whose text is `correct_text`.
fn letter(item: &Item) -> Option<String> {
    let correct = item.metadata.text("correct_text")?;
    let options = item.metadata.get("options")?.as_array()?;
    let at = options.iter().position(|option| option.as_str() == Some(correct))?;
    Some(char::from(b'A' + u8::try_from(at).ok().filter(|at| *at < 26)?).to_string())
}

#[cfg(test)]
mod tests;
