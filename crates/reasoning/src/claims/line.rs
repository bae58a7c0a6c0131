//! Moves that may also continue a line: legal after the moves that were claimed directly before them in the same sentence.

use cwm_questions::is_space;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position};

use super::MoveClaim;
use crate::move_text::moves_in;

pub(super) fn claims(position: &Chess, text: &str) -> Vec<MoveClaim> {
    let mut claims: Vec<MoveClaim> = Vec::new();
    // The position after the line that the last claim belongs to.
    let mut after: Option<Chess> = None;
    for (bytes, uci) in moves_in(text) {
        let before = claims.last().map_or(0, |claim| claim.bytes.end);
        if ends_a_sentence(text, before, bytes.start) {
            after = None;
        }
        let continued = after.take().and_then(|line| Some((legal(&line, &uci)?, line)));
        // A claim that does not continue the line begins one.
        let played = continued.or_else(|| Some((legal(position, &uci)?, position.clone())));
        let is_true = played.is_some();
        after = played.map(|(played, mut line)| {
            line.play_unchecked(played);
            line
        });
        claims.push(MoveClaim { uci, is_true, bytes });
    }
    claims
}

fn legal(position: &Chess, uci: &str) -> Option<Move> {
    let played = UciMove::from_ascii(uci.as_bytes()).ok()?.to_move(position).ok()?;
    // Castling as the king takes its rook is no move in UCI here.
    (cwm_encoding::PlainMove::from(played).to_string() == uci).then_some(played)
}

/// Returns true if a sentence ends between the byte `from` and `to`, at which a move begins: at a line end, or at `.`,
/// `!` or `?` before white space. The full stop behind the number of a move ends none.
fn ends_a_sentence(text: &str, from: usize, to: usize) -> bool {
    let between = &text[from..to];
    between.char_indices().any(|(at, character)| {
        let is_end = match character {
            '\n' => return true,
            '.' => {
                let word = between[..at].rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_digit())
            }
            '!' | '?' => true,
            _ => false,
        };
        is_end && between[at + 1..].starts_with(is_space)
    })
}
