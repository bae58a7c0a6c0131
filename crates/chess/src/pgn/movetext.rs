//! The moves of a game.

use cwm_encoding::PlainMove;
use memchr::memchr;
use shakmaty::{Chess, Position};

use super::is_space;
use super::san::{SanError, read_san};

/// An error in the movetext: the word that is not a move, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveError {
    /// Its first byte, from the beginning of the movetext.
    pub start: usize,
    /// The byte after its last one.
    pub end: usize,
    /// Plies played before it.
    pub plies: usize,
    /// The problem, as text.
    pub fault: SanError,
}

/// Plays the main line of `movetext` from the initial position and appends its moves, packed, to `moves`. Returns the
/// result that the movetext names, the first that is not `*`.
///
/// Comments, variations, move numbers and annotation glyphs are passed over; any other word must be a legal move.
///
/// # Errors
/// A word is not a legal move. `moves` holds what was played before.
pub fn read_moves(movetext: &[u8], moves: &mut Vec<u16>) -> Result<Option<&'static str>, MoveError> {
    read_moves_from(Chess::default(), movetext, moves)
}

/// Reads moves like [`read_moves`], from another position.
///
/// # Errors
/// As [`read_moves`].
pub fn read_moves_from(start: Chess, movetext: &[u8], moves: &mut Vec<u16>) -> Result<Option<&'static str>, MoveError> {
    let mut position = start;
    let mut result = None;
    let mut at = 0;
    let before = moves.len();
    while let Some(&byte) = movetext.get(at) {
        match byte {
            b'{' => at = after(b'}', movetext, at),
            b';' => at = before_line_end(movetext, at),
            b'%' if at == 0 || movetext[at - 1] == b'\n' => at = before_line_end(movetext, at),
            b'(' => at = after_variation(movetext, at),
            b'*' => at += 1,
            b')' | b'!' | b'?' | b'.' => at += 1,
            b'$' => at = after_digits(movetext, at + 1),
            _ if is_space(byte) => at += 1,
            _ => {
                let start = at;
                at = word_end(movetext, at);
                let word = &movetext[start..at];
                if byte.is_ascii_digit() || byte == 0xc2 {
                    if let Some(named) = named_result(word) {
                        result = result.or(Some(named));
                        continue;
                    }
                    if !is_castling_or_null(word) {
                        // A move number, with or without the move behind it: `12.`, `12...`, `12.Nf3`.
                        let number = after_digits(movetext, start);
                        if number > start {
                            at = number;
                            continue;
                        }
                    }
                }
                match read_san(&position, word) {
                    Ok(played) => {
                        moves.push(PlainMove::from(played).packed());
                        position.play_unchecked(played);
                    }
                    Err(SanError::Unreadable) if matches!(word, b"e.p." | b"ep") => {}
                    Err(fault) => {
                        return Err(MoveError { start, end: at, plies: moves.len() - before, fault });
                    }
                }
            }
        }
    }
    Ok(result)
}

fn named_result(word: &[u8]) -> Option<&'static str> {
    match word {
        b"1-0" => Some("1-0"),
        b"0-1" => Some("0-1"),
        b"1/2-1/2" => Some("1/2-1/2"),
        _ if word == "½-½".as_bytes() => Some("1/2-1/2"),
        _ => None,
    }
}

fn is_castling_or_null(word: &[u8]) -> bool {
    word.starts_with(b"0-0") || word == b"0000"
}

#[inline]
fn word_end(text: &[u8], start: usize) -> usize {
    let ends =
        |byte: u8| is_space(byte) || matches!(byte, b'{' | b'}' | b'(' | b')' | b';' | b'!' | b'?' | b'$' | b'*');
    // The first byte belongs to the word whatever it is, so that reading always moves on.
    text[start + 1..].iter().position(|&byte| ends(byte)).map_or(text.len(), |length| start + 1 + length)
}

#[inline]
fn after_digits(text: &[u8], start: usize) -> usize {
    text[start..].iter().position(|byte| !byte.is_ascii_digit()).map_or(text.len(), |length| start + length)
}

fn after(byte: u8, text: &[u8], start: usize) -> usize {
    memchr(byte, &text[start..]).map_or(text.len(), |length| start + length + 1)
}

fn before_line_end(text: &[u8], start: usize) -> usize {
    memchr(b'\n', &text[start..]).map_or(text.len(), |length| start + length)
}

/// Passes over a variation and those inside it; without its end, over the rest of the game.
fn after_variation(text: &[u8], start: usize) -> usize {
    let mut depth = 0usize;
    let mut at = start;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'{' => at = after(b'}', text, at),
            b';' => at = before_line_end(text, at),
            b'%' if text[at - 1] == b'\n' => at = before_line_end(text, at),
            b'(' => {
                depth += 1;
                at += 1;
            }
            b')' => {
                depth -= 1;
                at += 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    at
}
