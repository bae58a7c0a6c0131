//! Texts of answers as words.

use shakmaty::{Role, Square};

use crate::text::VALUES;
use crate::words::{self, LONE_SQUARE, named};

/// The tags of an answer.
const TAGS: [&str; 4] = ["<think>", "</think>", "<answer>", "</answer>"];

/// The words of an answer, without the end word. In a text with answer tags, words are what the language has of it: tags, moves,
/// values and `|`; its prose is left out. A text without them is words throughout.
///
/// # Errors
/// A part of a text without answer tags has no words; the error names it.
pub fn answer_words(text: &str) -> Result<Vec<u16>, String> {
    let mut all = Vec::new();
    if text.contains("<answer>") {
        thoughts(text, &mut all);
        return Ok(all);
    }
    for part in text.split_whitespace() {
        let found = words_of(part, &mut all);
        found.ok_or_else(|| format!("the small language has no words for {part:?} of the answer {text:?}"))?;
    }
    Ok(all)
}

/// The words of a text of prose with tags.
fn thoughts(text: &str, into: &mut Vec<u16>) {
    let spaced = TAGS.iter().fold(text.replace(',', " "), |text, tag| text.replace(tag, &format!(" {tag} ")));
    for part in spaced.split_whitespace() {
        if TAGS.contains(&part) || part == "|" {
            into.extend(named(part));
            continue;
        }
        let bare = part.trim_matches(|c: char| !c.is_alphanumeric());
        if move_words(bare, into).is_some() {
            continue;
        }
        let value = part.find('[').zip(part.find(']')).and_then(|(open, close)| part.get(open..=close));
        if let Some(value) = value {
            value_words(value, into);
        }
    }
}

/// Adds the words of a part of an answer; none if it has none.
fn words_of(part: &str, into: &mut Vec<u16>) -> Option<()> {
    if TAGS.contains(&part) || ["Yes", "No", "mate", "|"].contains(&part) {
        into.push(named(part)?);
        return Some(());
    }
    if let Ok(square) = part.parse::<Square>() {
        into.extend([named(LONE_SQUARE)?, words::square(square)]);
        return Some(());
    }
    move_words(part, into).or_else(|| value_words(part, into)).or_else(|| number_words(part, into))
}

/// Adds the words of a move in UCI notation.
pub(crate) fn move_words(uci: &str, into: &mut Vec<u16>) -> Option<()> {
    let square = |at: usize| uci.get(at..at + 2)?.parse::<Square>().ok();
    let (from, to) = (square(0)?, square(2)?);
    let promotion = match uci.get(4..)?.as_bytes() {
        [] => None,
        [letter] if letter.is_ascii_lowercase() => Some(words::promotion(Role::from_char(char::from(*letter))?)?),
        _ => return None,
    };
    into.extend([words::square(from), words::square(to)]);
    into.extend(promotion);
    Some(())
}

/// Adds the words of `[Δ+d]`, `[v+d]` or `[mm+d]`, with either sign.
fn value_words(part: &str, into: &mut Vec<u16>) -> Option<()> {
    let inner = part.strip_prefix('[')?.strip_suffix(']')?;
    let (name, number) = VALUES.iter().find_map(|name| Some((*name, inner.strip_prefix(name)?)))?;
    let first = into.len();
    into.push(named(name)?);
    let found = if number.starts_with(['+', '-']) { signed_words(number, into) } else { None };
    if found.is_none() {
        into.truncate(first);
    }
    found
}

/// Adds the words of a whole number; the plus sign of a positive one is no part of its text.
fn number_words(part: &str, into: &mut Vec<u16>) -> Option<()> {
    if part.starts_with('-') { signed_words(part, into) } else { signed_words(&format!("+{part}"), into) }
}

/// Adds the words of a sign and at least one digit.
pub(crate) fn signed_words(number: &str, into: &mut Vec<u16>) -> Option<()> {
    let digits = number.get(1..)?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut letters = [0; 4];
    into.extend(number.chars().filter_map(|letter| named(letter.encode_utf8(&mut letters))));
    Some(())
}
