//! A game as text; the target at each place is the next character.

use cwm_policy::inputs::characters::{MOST_CHARACTERS, MoveText, VOCABULARY};
use cwm_policy::replay::replay;

use super::{Encoder, Form};
use crate::encoded_sequence::{EncodedSequence, Row};
use crate::labels::LabelledGame;

/// The form `characters`.
pub const FORM: Form = Form {
    name: "characters",
    version: 1,
    parts: &["characters"],
    inputs: &["games"],
    vocabulary: (VOCABULARY as u16, VOCABULARY as u16),
    longest: |_| MOST_CHARACTERS - 1,
    reasons: &[EMPTY, MOVES],
    encoder: Encoder::Game(encode),
};

/// Games without a move.
const EMPTY: &str = "empty_games";

/// Moves that do not stand whole among the characters that are used.
const MOVES: &str = "moves_beyond_context";

fn encode(game: &LabelledGame) -> Result<EncodedSequence, String> {
    if game.moves.is_empty() {
        return Ok(EncodedSequence::dropped(EMPTY));
    }
    let mut moves = Vec::with_capacity(game.moves.len());
    replay(&game.moves, |_, _, played| {
        moves.extend(played);
        Ok(())
    })?;
    let text = MoveText::of(moves);
    let beyond = game.moves.len() - text.whole_moves().len();
    Ok(EncodedSequence {
        row: Some(Row::text(game.id.clone(), &text.ids(), 0)),
        dropped: Some((MOVES, beyond as u64)),
        is_truncated: text.text.len() > MOST_CHARACTERS,
    })
}
