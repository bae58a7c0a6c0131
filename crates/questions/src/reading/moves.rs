//! Moves, in UCI or SAN.

use shakmaty::san::San;
use shakmaty::uci::UciMove;
use shakmaty::{Move, Role};

use crate::reading::answer::{Answer, plain, words};
use crate::truth::Position;

/// The moves of a list: UCI, legal or not, or legal moves in SAN.
pub fn moves(text: &str, position: Option<&Position>) -> Option<Answer> {
    let one = |word: &str| {
        let plain = plain(word);
        if is_uci(&plain) {
            Some(plain)
        } else {
            san(word, position?).map(|played| UciMove::from_standard(played).to_string())
        }
    };
    words(text).map(one).collect()
}

fn is_uci(word: &str) -> bool {
    let (squares, promotion) = word.as_bytes().split_at(word.len().min(4));
    matches!(squares, [b'a'..=b'h', b'1'..=b'8', b'a'..=b'h', b'1'..=b'8'])
        && matches!(promotion, [] | [b'q' | b'r' | b'b' | b'n'])
}

/// The only legal move that SAN writes so. The sign of a capture may be missing, a hyphen may stand between
/// squares, and castling may be written with zeros.
fn san(word: &str, position: &Position) -> Option<Move> {
    let mut word = word.trim_end_matches(['+', '#', '!', '?']).replace('0', "O");
    if !word.starts_with('O') {
        word.retain(|character| character != '-');
    }
    let san = San::from_ascii(word.as_bytes()).ok()?;
    let captures = match san {
        San::Normal { role, file, rank, capture: false, to, promotion } if role != Role::Pawn || file.is_some() => {
            Some(San::Normal { role, file, rank, capture: true, to, promotion })
        }
        _ => None,
    };
    let is_it = |played: &&Move| san.matches(**played) || captures.as_ref().is_some_and(|san| san.matches(**played));
    let mut matching = position.moves().iter().filter(is_it);
    matching.next().copied().filter(|_| matching.next().is_none())
}
