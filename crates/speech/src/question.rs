//! Questions about a position, as words.

use cwm_questions::Metadata;
use serde_json::Value;
use shakmaty::{Chess, Position, Square};

use crate::answer::{move_words, signed_words};
use crate::facts::questions;
use crate::words::{self, named};

/// The words of a question: the name of a task or of a builder, and its parameters, by `known` of the item or the
/// example, and by the user's message.
pub(crate) fn question_words(name: &str, known: &Metadata, position: &Chess, user: &str) -> Result<Vec<u16>, String> {
    let belongs = match name {
        "reasoning_predict_move" | "best_move" | "verbalised" => Vec::new(),
        "reasoning_best_move" | "reasoning_worst_move" => candidates(known)?,
        "reasoning_legal_moves" => piece(known, position)?,
        "best_line" => plies(known)?,
        "factual" => questions(user, position)?,
        _ => return Err(format!("the small language has no question {name:?}")),
    };
    let first = named(name).ok_or_else(|| format!("{name:?} is no word"))?;
    Ok([&[first][..], &belongs].concat())
}

fn candidates(known: &Metadata) -> Result<Vec<u16>, String> {
    let wrong = || "its `candidates` are no list of moves in UCI notation".to_owned();
    let candidates = known.get("candidates").and_then(Value::as_array).ok_or_else(wrong)?;
    let mut all = Vec::with_capacity(2 * candidates.len());
    for candidate in candidates {
        candidate.as_str().and_then(|uci| move_words(uci, &mut all)).ok_or_else(wrong)?;
    }
    Ok(all)
}

fn piece(known: &Metadata, position: &Chess) -> Result<Vec<u16>, String> {
    let square = known.text("square").and_then(|square| square.parse::<Square>().ok());
    let square = square.ok_or("its `square` is no square")?;
    Ok(vec![words::piece(position.board().piece_at(square)), words::square(square)])
}

fn plies(known: &Metadata) -> Result<Vec<u16>, String> {
    let plies = known.get("plies").and_then(Value::as_u64).ok_or("its `plies` are no number")?;
    let mut all = Vec::new();
    signed_words(&format!("+{plies}"), &mut all).ok_or("its `plies` are no number")?;
    Ok(all)
}
