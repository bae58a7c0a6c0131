//! The comment that fits a move best by the names in it.

use cwm_contract::Failure;
use cwm_questions::Item;
use cwm_questions::truth::role_name;
use serde_json::Value;
use shakmaty::Position;

use super::engine::position;

/// The letter of the option that names most of the move's squares, piece and side; of equals the first. Empty without options.
///
/// # Errors
/// The input is no position.
pub fn best_letter(item: &Item) -> Result<String, Failure> {
    let position = position(item)?;
    let played = item.metadata.text("move_uci").unwrap_or_default();
    let squares: Vec<&str> = [played.get(..2), played.get(2..4)].into_iter().flatten().collect();
    let piece = squares.first().and_then(|from| position.board().role_at(from.parse().ok()?)).map(role_name);
    let side = position.turn().fold_wb("white", "black");
    let names: Vec<&str> = squares.into_iter().chain(piece).chain([side]).collect();
    let count = |text: &str| {
        let text = text.to_lowercase();
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
        // `Nf3` and `exd5` name squares too.
        names.iter().filter(|name| words.iter().any(|word| word.ends_with(**name))).count()
    };
    let options = item.metadata.get("options").and_then(Value::as_array);
    let options = options.into_iter().flatten().filter_map(Value::as_str);
    let best = ('A'..='Z').zip(options).max_by_key(|(letter, text)| (count(text), std::cmp::Reverse(*letter)));
    Ok(best.map(|(letter, _)| letter.to_string()).unwrap_or_default())
}
