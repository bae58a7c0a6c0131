//! Words as text.

use crate::words::{self, END, LONE_SQUARE, name, promotion_of, square_of};

/// The text of the words of an answer, up to the end word: moves and numbers without spaces inside, values in brackets,
/// and one space between. Any words give a text.
pub fn text(answer: &[u16]) -> String {
    let length = answer.iter().position(|word| *word == END).unwrap_or(answer.len());
    let mut rest = &answer[..length];
    let mut parts = Vec::new();
    while let Some((part, behind)) = part(rest) {
        parts.push(part);
        rest = behind;
    }
    parts.join(" ")
}

/// The first part of some words, and the words behind it.
fn part(words: &[u16]) -> Option<(String, &[u16])> {
    let (&first, rest) = words.split_first()?;
    let value = || {
        let (sign, digits, behind) = number(rest).filter(|_| is_value(first))?;
        Some((format!("[{}{sign}{digits}]", name(first)), behind))
    };
    let number = || {
        let (sign, digits, behind) = number(words)?;
        Some((if sign == "-" { format!("-{digits}") } else { digits }, behind))
    };
    let found = move_part(words).or_else(|| lone_square(first, rest)).or_else(value).or_else(number);
    Some(found.unwrap_or_else(|| (name(first), rest)))
}

/// Two squares, and a promotion if one follows.
fn move_part(words: &[u16]) -> Option<(String, &[u16])> {
    let [from, to, rest @ ..] = words else { return None };
    let (from, to) = (square_of(*from)?, square_of(*to)?);
    let promotion = rest.first().and_then(|word| promotion_of(*word));
    Some(match promotion {
        Some(role) => (format!("{from}{to}{}", role.char()), &rest[1..]),
        None => (format!("{from}{to}"), rest),
    })
}

fn lone_square(first: u16, rest: &[u16]) -> Option<(String, &[u16])> {
    let (square, behind) = rest.split_first()?;
    let square = square_of(*square).filter(|_| words::named(LONE_SQUARE) == Some(first))?;
    Some((square.to_string(), behind))
}

fn is_value(word: u16) -> bool {
    VALUES.iter().any(|name| words::named(name) == Some(word))
}

/// The words before a number that is a value.
pub(crate) const VALUES: [&str; 3] = ["mm", "v", "Δ"];

/// A sign, and the digits behind it, of which there is at least one.
fn number(words: &[u16]) -> Option<(String, String, &[u16])> {
    let (sign, rest) = words.split_first()?;
    let sign = name(*sign);
    let is_digit = |word: &u16| matches!(name(*word).as_bytes(), [b'0'..=b'9']);
    let digits = rest.iter().take_while(|word| is_digit(word)).count();
    let is_number = (sign == "+" || sign == "-") && digits > 0;
    is_number.then(|| (sign, rest[..digits].iter().map(|word| name(*word)).collect(), &rest[digits..]))
}
