//! Pieces on squares.

use crate::reading::answer::{Answer, square};
use crate::reading::markup::bare_word;

const COLOURS: [&str; 2] = ["white", "black"];
const PIECES: [&str; 6] = ["king", "queen", "rook", "bishop", "knight", "pawn"];

/// A list of `White Queen at e5`, or `on`.
pub fn checkers(text: &str) -> Option<Answer> {
    let text = text.to_ascii_lowercase().replace(" and ", ",");
    let parts = text.split([',', ';', '\n']).map(bare_word).filter(|part| !part.is_empty());
    let checker = |part: &str| {
        let mut words: Vec<&str> = part.split_whitespace().collect();
        if words.first() == Some(&"the") {
            words.remove(0);
        }
        match words[..] {
            [colour, piece, "at" | "on", place] if COLOURS.contains(&colour) && PIECES.contains(&piece) => {
                Some(format!("{colour} {piece} {}", square(place)?))
            }
            _ => None,
        }
    };
    parts.map(checker).collect()
}

/// A list of `White Rook: ['a1', 'f1']`; quotes and brackets may be others or missing.
pub fn arrangement(text: &str) -> Option<Answer> {
    let text = text.to_ascii_lowercase();
    let is_separator = |character: char| character.is_whitespace() || "[]{}()'\",;:.".contains(character);
    let (mut answer, mut colour, mut piece) = (Answer::new(), None, None);
    for word in text.split(is_separator).filter(|word| !word.is_empty()) {
        if COLOURS.contains(&word) {
            (colour, piece) = (Some(word), None);
        } else if colour.is_some() && piece.is_none() && PIECES.contains(&word) {
            piece = Some(word);
        } else {
            answer.insert(format!("{} {} {}", colour?, piece?, square(word)?));
        }
    }
    (!answer.is_empty()).then_some(answer)
}
