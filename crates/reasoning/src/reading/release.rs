//! The published rule.

use cwm_questions::is_space;

use super::LONGEST;
use super::literal::{Literal, literal};
use super::tags::last_answer;

/// One text, or a list of one: its letters and digits.
pub(super) fn one_move(text: &str) -> Option<String> {
    let answer = last_answer(text)?;
    let read = match literal(answer) {
        None => letters_and_digits(answer),
        Some(Literal::Text(text)) => letters_and_digits(&text),
        Some(Literal::List(entries)) => match entries.as_slice() {
            [Some(text)] => letters_and_digits(text),
            _ => return None,
        },
        Some(_) => return None,
    };
    (read.chars().count() <= LONGEST).then_some(read)
}

/// A list of texts, of each its letters and digits; or a text, cut at white space and commas.
pub(super) fn moves(text: &str) -> Option<Vec<String>> {
    let answer = last_answer(text)?;
    let read = match literal(answer) {
        None => words(answer)?,
        Some(Literal::Text(text)) => words(&text)?,
        Some(Literal::List(entries)) => {
            entries.iter().map(|entry| entry.as_deref().map(letters_and_digits)).collect::<Option<_>>()?
        }
        Some(_) => return None,
    };
    (read.len() <= LONGEST).then_some(read)
}

fn letters_and_digits(text: &str) -> String {
    text.chars().filter(|character| character.is_alphanumeric()).collect()
}

/// The words that are a square, or two; none if there are none.
fn words(text: &str) -> Option<Vec<String>> {
    let words = text.split(|character| is_space(character) || character == ',');
    let kept: Vec<String> = words.filter(|word| is_square_or_two(word)).map(str::to_owned).collect();
    (!kept.is_empty()).then_some(kept)
}

/// `^[a-zA-Z]\d(?:[a-zA-Z]\d)?$`
fn is_square_or_two(word: &str) -> bool {
    let mut characters = word.chars();
    let mut is_square = || {
        characters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
            && characters.next().is_some_and(|digit| digit.is_ascii_digit())
    };
    match word.chars().count() {
        2 => is_square(),
        4 => is_square() && is_square(),
        _ => false,
    }
}
