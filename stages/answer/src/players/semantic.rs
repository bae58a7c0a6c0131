//! The comment that fits a move best by the names in it.

use cwm_contract::Failure;
use cwm_questions::Item;
use serde_json::Value;
use shakmaty::{Position, Role};

use super::tactics::position;

/// The options of an item: their letters and texts.
///
/// # Errors
/// The item has none.
pub fn options(item: &Item) -> Result<Vec<(String, String)>, Failure> {
    let texts: Option<Vec<&str>> = match item.metadata.get("options") {
        Some(Value::Array(list)) => list.iter().map(Value::as_str).collect(),
        Some(Value::Object(map)) => map.values().map(Value::as_str).collect(),
        _ => None,
    };
    let texts = texts.filter(|texts| !texts.is_empty());
    let texts = texts.ok_or_else(|| Failure::input(format!("{}: `metadata.options` lists no texts", item.task_id)))?;
    Ok(('A'..).zip(texts).map(|(letter, text)| (letter.to_string(), text.to_owned())).collect())
}

/// The letter of the option that names most of the move's squares, piece and side; of equals the first.
///
/// # Errors
/// The item has no options, or its input is no position.
pub fn best_letter(item: &Item) -> Result<String, Failure> {
    let position = position(item)?;
    let played = item.metadata.text("move_uci").unwrap_or_default();
    let squares: Vec<&str> = [played.get(..2), played.get(2..4)].into_iter().flatten().collect();
    let piece = squares.first().and_then(|from| position.board().role_at(from.parse().ok()?)).map(name);
    let side = position.turn().fold_wb("white", "black");
    let names: Vec<&str> = squares.into_iter().chain(piece).chain([side]).collect();
    let count = |text: &str| {
        let text = text.to_lowercase();
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
        // `Nf3` and `exd5` name squares too.
        names.iter().filter(|name| words.iter().any(|word| word.ends_with(**name))).count()
    };
    let options = options(item)?;
    let best = options.iter().rev().max_by_key(|(_, text)| count(text));
    Ok(best.map(|(letter, _)| letter.clone()).unwrap_or_default())
}

fn name(role: Role) -> &'static str {
    match role {
        Role::Pawn => "pawn",
        Role::Knight => "knight",
        Role::Bishop => "bishop",
        Role::Rook => "rook",
        Role::Queen => "queen",
        Role::King => "king",
    }
}
