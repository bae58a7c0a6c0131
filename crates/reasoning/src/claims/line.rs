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

/// Whether a sentence ends between these bytes: at a line end, or at `.`, `!` or `?` before white space. The full stop behind the
/// number of a move ends none.
fn ends_a_sentence(text: &str, from: usize, to: usize) -> bool {
    let between = &text[from..to];
    let mut word_is_number = false;
    let mut characters = between.chars().peekable();
    let mut word_length = 0;
    while let Some(character) = characters.next() {
        let is_end = match character {
            '\n' => return true,
            '.' => !(word_length > 0 && word_is_number),
            '!' | '?' => true,
            _ => false,
        };
        if is_end && characters.peek().is_none_or(|next| is_space(*next)) {
            return true;
        }
        if character.is_alphanumeric() {
            word_is_number = character.is_ascii_digit() && (word_length == 0 || word_is_number);
            word_length += 1;
        } else {
            word_length = 0;
        }
    }
    false
}
