//! Moves in running text.

use std::ops::Range;

/// The bytes of each move of a text, and the move as UCI writes it, in lower case.
///
/// A move is a match of `([a-h][1-8])[-x]?([a-h][1-8])=?([qrbn])?`, letters in either case, that no letter or digit touches.
pub(crate) fn moves_in(text: &str) -> impl Iterator<Item = (Range<usize>, String)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(start) = next_square(text, at) {
            at = start + 1;
            if let Some((end, uci)) = move_at(text, start) {
                at = end;
                return Some((start..end, uci));
            }
        }
        None
    })
}

/// The first square from this byte on.
fn next_square(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    (from..bytes.len().saturating_sub(1)).find(|&at| matches!(bytes[at + 1], b'1'..=b'8') && is_square(bytes, at))
}

/// Returns true if a file and a rank stand at this byte.
pub(crate) fn is_square(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at..at + 2), Some([b'a'..=b'h' | b'A'..=b'H', b'1'..=b'8']))
}

/// The end of the move that begins at this byte, and the move.
fn move_at(text: &str, start: usize) -> Option<(usize, String)> {
    let bytes = text.as_bytes();
    let to = start + 2 + usize::from(matches!(bytes.get(start + 2), Some(b'-' | b'x')));
    if !is_square(bytes, to) || !is_free_before(text, start) {
        return None;
    }
    let squares = to + 2;
    let equals = usize::from(bytes.get(squares) == Some(&b'='));
    // As the pattern goes back: with both `=` and a letter, with one of them, with neither.
    let promotion = |at: usize| matches!(bytes.get(at), Some(b'q' | b'r' | b'b' | b'n' | b'Q' | b'R' | b'B' | b'N'));
    let with_letter = squares + equals;
    let (end, letter) = if promotion(with_letter) && is_free_after(text, with_letter + 1) {
        (with_letter + 1, Some(bytes[with_letter]))
    } else if is_free_after(text, with_letter) {
        (with_letter, None)
    } else if is_free_after(text, squares) {
        (squares, None)
    } else {
        return None;
    };
    let characters = [bytes[start], bytes[start + 1], bytes[to], bytes[to + 1]].into_iter().chain(letter);
    Some((end, characters.map(|byte| char::from(byte.to_ascii_lowercase())).collect()))
}

/// Returns true if no letter or digit stands before this byte.
pub(crate) fn is_free_before(text: &str, at: usize) -> bool {
    !text[..at].chars().next_back().is_some_and(char::is_alphanumeric)
}

/// Returns true if no letter or digit stands at this byte.
pub(crate) fn is_free_after(text: &str, at: usize) -> bool {
    !text[at..].chars().next().is_some_and(char::is_alphanumeric)
}
