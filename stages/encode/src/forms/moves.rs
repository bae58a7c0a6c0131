//! A game as one token a move; the target after each ply is the best move there, where it is known.

use cwm_encoding::PlainMove;
use cwm_policy::actions::ACTIONS;
use cwm_policy::inputs::moves::{CONTEXT, VOCABULARY, ids};
use cwm_policy::replay::{best_action, check_position, replay};
use cwm_sequences::NO_LOSS;

use super::{Encoder, Form};
use crate::encoded_sequence::{EncodedSequence, Row};
use crate::labels::LabelledGame;

/// The form `moves`.
pub const FORM: Form = Form {
    name: "moves",
    version: 1,
    parts: &["moves"],
    inputs: &["games", "evaluations"],
    vocabulary: (VOCABULARY as u16, ACTIONS as u16),
    longest: |_| CONTEXT,
    reasons: &[UNLABELLED, POSITIONS],
    encoder: Encoder::Game(encode),
};

/// Games without a label among the places that are used.
const UNLABELLED: &str = "unlabelled_games";

/// Labelled positions behind the places that are used.
const POSITIONS: &str = "positions_beyond_context";

fn encode(game: &LabelledGame) -> Result<EncodedSequence, String> {
    let labels = game.labels_by_ply()?;
    let (mut targets, mut moves) = (vec![NO_LOSS; labels.len()], Vec::with_capacity(game.moves.len()));
    replay(&game.moves, |ply, position, played| {
        if let Some(label) = labels[ply] {
            check_position(position, &label.fen).map_err(|wrong| format!("ply {ply}: {wrong}"))?;
            targets[ply] = best_action(position, label.best()).map_err(|wrong| format!("ply {ply}: {wrong}"))?;
        }
        moves.extend(played.map(PlainMove::from));
        Ok(())
    })?;
    let used = labels.len().min(CONTEXT);
    let mut tokens = ids(moves);
    tokens.truncate(used);
    let beyond = targets.drain(used..).filter(|target| *target != NO_LOSS).count();
    if targets.iter().all(|target| *target == NO_LOSS) {
        return Ok(EncodedSequence::dropped(UNLABELLED));
    }
    Ok(EncodedSequence {
        row: Some(Row { id: game.id.clone(), tokens, targets }),
        dropped: Some((POSITIONS, beyond as u64)),
        is_truncated: labels.len() > used,
    })
}
