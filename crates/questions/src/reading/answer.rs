//! The meaning of an answer, by its form.

use std::collections::BTreeSet;

use crate::form::Form;
use crate::reading::fen::fen;
use crate::reading::markup::{bare, bare_word};
use crate::reading::moves::moves;
use crate::reading::pieces::{arrangement, checkers};
use crate::reading::white_space::is_space;
use crate::truth::Position;

/// The parts of an answer, each in one spelling: equal answers are equal sets.
pub type Answer = BTreeSet<String>;

/// The meaning of the text of an answer; none if it cannot be read. `position` is the one that moves are made in.
pub fn read_answer(form: Form, text: &str, position: Option<&Position>) -> Option<Answer> {
    let parts = bare_word(text);
    let answer = match form {
        Form::Move | Form::Moves => moves(parts, position)?,
        Form::Squares => words(parts).map(|word| square(&plain(word))).collect::<Option<_>>()?,
        Form::Lines | Form::Battery | Form::ForkLines => lines(form, parts)?,
        Form::Checkers => checkers(parts)?,
        Form::Centipawns => [centipawns(parts)?].into(),
        Form::Letter => [letter(parts)?].into(),
        Form::Arrangement => arrangement(bare(text))?,
        Form::Fen => [fen(bare(text))?].into(),
    };
    (!answer.is_empty()).then_some(answer)
}

/// Returns true if the text of an answer is that there is none: it begins with the word `none` or `no`.
pub fn is_none(text: &str) -> bool {
    words(text).next().is_some_and(|word| ["none", "no"].iter().any(|none| word.eq_ignore_ascii_case(none)))
}

/// The words of a list, without `and` and what surrounds them.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|character| is_space(character) || ",;".contains(character)).map(bare_word);
    words.filter(|word| !word.is_empty() && !word.eq_ignore_ascii_case("and"))
}

/// A word in lower case, without the signs that moves are written with.
pub fn plain(word: &str) -> String {
    word.chars()
        .filter(|character| !"-x+#=".contains(*character))
        .map(|character| character.to_ascii_lowercase())
        .collect()
}

/// The word, if it is the name of a square.
pub fn square(word: &str) -> Option<String> {
    let is_square = matches!(word.as_bytes(), [b'a'..=b'h', b'1'..=b'8']);
    is_square.then(|| word.to_owned())
}

/// Lines of squares with `>` between them; what a fork attacks has `-` between it.
fn lines(form: Form, text: &str) -> Option<Answer> {
    let text = text.to_ascii_lowercase().replace("->", ">").replace('→', ">");
    let text = without_spaces_around(&text, if form == Form::ForkLines { ">-" } else { ">" });
    words(&text).map(|line| self::line(form, line)).collect()
}

fn line(form: Form, line: &str) -> Option<String> {
    let (first, others) = line.split_once('>')?;
    let separator = if form == Form::ForkLines { "-" } else { ">" };
    let mut squares = others.split(separator).map(square).collect::<Option<Vec<_>>>()?;
    match form {
        // Both ends of a battery, and anything that a fork attacks, may come first.
        Form::Battery => {
            squares.push(square(first)?);
            squares.sort_unstable();
            Some(squares.join(">"))
        }
        _ => {
            if form == Form::ForkLines {
                squares.sort_unstable();
            }
            Some(format!("{}>{}", square(first)?, squares.join(separator)))
        }
    }
}

fn without_spaces_around(text: &str, signs: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for character in text.chars() {
        if signs.contains(character) {
            joined.truncate(joined.trim_end_matches(is_space).len());
        }
        if !(is_space(character) && joined.ends_with(|last| signs.contains(last))) {
            joined.push(character);
        }
    }
    joined
}

/// The first whole number; the minus sign of typography counts too.
fn centipawns(text: &str) -> Option<String> {
    let start = text.find(|character: char| character.is_ascii_digit())?;
    let (before, digits) = text.split_at(start);
    let end = digits.find(|character: char| !character.is_ascii_digit()).unwrap_or(digits.len());
    let number: i64 = digits[..end].parse().ok()?;
    let is_negative = before.ends_with(['-', '−']);
    Some(if is_negative { -number } else { number }.to_string())
}

/// The letter of an option that stands alone, or before a sign and more.
fn letter(text: &str) -> Option<String> {
    let mut characters = text.chars();
    let letter = characters.next()?.to_ascii_uppercase();
    let next = characters.find(|character| !is_space(*character));
    let is_alone = next.is_none_or(|next| next.is_ascii_punctuation());
    (letter.is_ascii_uppercase() && is_alone).then(|| letter.to_string())
}
