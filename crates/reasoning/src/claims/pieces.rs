//! Pieces named with their squares.

use cwm_questions::is_space;
use shakmaty::{Chess, Color, Position, Role, Square};

use super::PieceClaim;
use crate::move_text::{is_free_after, is_free_before, is_square};

const ROLES: [(&str, Role); 6] = [
    ("pawn", Role::Pawn),
    ("knight", Role::Knight),
    ("bishop", Role::Bishop),
    ("rook", Role::Rook),
    ("queen", Role::Queen),
    ("king", Role::King),
];

/// A claim is a match of
/// `(?:(white|black|my|our|your|their|opponent(?:['’]s)?)(?:['’]s)?\s+)?(pawn|knight|bishop|rook|queen|king)\s+(?:on|at)\s+([a-h][1-8])`,
/// letters in either case, that no letter or digit touches. It is read from its end: squares are rare.
pub(super) fn claims(position: &Chess, text: &str) -> Vec<PieceClaim> {
    let bytes = text.as_bytes();
    let ends = (1..bytes.len()).filter(|&at| matches!(bytes[at], b'1'..=b'8') && is_square(bytes, at - 1));
    ends.filter_map(|at| claim(position, text, at - 1)).collect()
}

/// The claim whose square begins at this byte.
fn claim(position: &Chess, text: &str, at: usize) -> Option<PieceClaim> {
    if !is_free_after(text, at + 2) {
        return None;
    }
    let square = Square::from_ascii(&text.as_bytes()[at..at + 2].to_ascii_lowercase()).ok()?;
    let before = before_space(&text[..at])?;
    let before = before_word(before, "on").or_else(|| before_word(before, "at"))?;
    let before = before_space(before)?;
    let (before, role) = ROLES.iter().find_map(|(word, role)| Some((before_word(before, word)?, *role)))?;
    let named = before_space(before).and_then(|before| color(before, position.turn()));
    let (start, color) = match named {
        Some((start, color)) => (start, Some(color)),
        None if is_free_before(text, before.len()) => (before.len(), None),
        None => return None,
    };
    let piece = position.board().piece_at(square);
    let is_true = piece.is_some_and(|piece| piece.role == role && color.is_none_or(|color| color == piece.color));
    Some(PieceClaim { color, role, square, is_true, bytes: start..at + 2 })
}

/// The text without the white space at its end; none if there is none.
fn before_space(text: &str) -> Option<&str> {
    let trimmed = text.trim_end_matches(is_space);
    (trimmed.len() < text.len()).then_some(trimmed)
}

/// The text without the word at its end, in either case.
fn before_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (before, last) = text.split_at_checked(text.len().checked_sub(word.len())?)?;
    last.eq_ignore_ascii_case(word).then_some(before)
}

/// The first byte of the word for a side at the end of the text, and the side.
fn color(text: &str, turn: Color) -> Option<(usize, Color)> {
    let words = [
        ("white", Color::White),
        ("black", Color::Black),
        ("my", turn),
        ("our", turn),
        ("your", turn),
        ("their", !turn),
        ("opponent", !turn),
    ];
    // `opponent` may have the ending twice.
    let once = before_genitive(text);
    let twice = once.and_then(before_genitive);
    words.into_iter().find_map(|(word, color)| {
        let endings = [Some(text), once, twice.filter(|_| word == "opponent")];
        let before = endings.into_iter().flatten().find_map(|text| before_word(text, word))?;
        is_free_before(before, before.len()).then_some((before.len(), color))
    })
}

fn before_genitive(text: &str) -> Option<&str> {
    let before = before_word(text, "s")?;
    before.strip_suffix(['\'', '’'])
}
