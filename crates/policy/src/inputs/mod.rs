//! The forms in which a model reads a position or a game, one file each. Each form is a part of its own in the fingerprint
//! of what uses it.

pub mod board;
pub mod characters;
pub mod moves;
pub mod prompt;
pub mod words;

/// The ids of the characters of `text` by their place in `symbols`; the error is the first character that has none.
fn ids_of(symbols: &str, text: &str) -> Result<Vec<u8>, char> {
    text.chars().map(|c| symbols.find(c).map(|place| place as u8).ok_or(c)).collect()
}
