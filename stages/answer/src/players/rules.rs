//! What rules answer: the truth of Structural and Motifs, and simple guesses elsewhere.

use cwm_contract::Failure;
use cwm_questions::{Category, Form, Item, Keys, key};

use super::{judgement, semantic, tactics};

/// The answer to an item; `None` of a task that is not known.
///
/// # Errors
/// The input is no position, or lacks what the task needs.
pub fn answer(item: &Item) -> Result<Option<String>, Failure> {
    let Some(task) = item.task() else { return Ok(None) };
    if matches!(task.category(), Category::Structural | Category::Motifs) {
        return truth(item).map(Some);
    }
    Ok(Some(match task.form() {
        Form::Centipawns => judgement::nearest(item, judgement::material(&tactics::position(item)?)),
        Form::Letter => semantic::best_letter(item)?,
        _ => tactics::best_move(&tactics::position(item)?),
    }))
}

/// The true answer, by the rule by which the item's key was made.
fn truth(item: &Item) -> Result<String, Failure> {
    let keys = if item.metadata.text("keys") == Some("sound") { Keys::Sound } else { Keys::Published };
    Ok(key(item, keys)?.unwrap_or_default())
}
