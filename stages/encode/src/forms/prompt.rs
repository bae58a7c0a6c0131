//! A position with its legal moves as text; the targets are the characters of the best move and the end of the answer.

use cwm_evaluations::Evaluation;
use cwm_policy::actions::move_of;
use cwm_policy::inputs::board::Board;
use cwm_policy::inputs::prompt::{CONTEXT, VOCABULARY, ids, question};
use cwm_policy::replay::best_action;

use super::{Encoder, Form};
use crate::encoded_sequence::{EncodedSequence, Row, position_name};

/// The form `prompt`.
pub const FORM: Form = Form {
    name: "prompt",
    version: 1,
    parts: &["board", "prompt"],
    inputs: &["evaluations"],
    vocabulary: (VOCABULARY as u16, VOCABULARY as u16),
    longest: |_| CONTEXT,
    reasons: &[LEGAL_MOVES],
    encoder: Encoder::Position(encode),
};

/// Positions with more legal moves than a prompt has room for.
const LEGAL_MOVES: &str = "legal_moves";

fn encode(evaluation: &Evaluation) -> Result<EncodedSequence, String> {
    let board = Board::parse(&evaluation.fen).map_err(|error| error.to_string())?;
    let best = best_action(board.position(), evaluation.best())?;
    let best = move_of(best).ok_or_else(|| format!("there is no action {best}"))?;
    let Some(question) = question(&board) else { return Ok(EncodedSequence::dropped(LEGAL_MOVES)) };
    let ids = ids(&format!("{question}{best}$")).map_err(|other| format!("{other:?} is not a symbol of the form"))?;
    Ok(Row::text(position_name(evaluation), &ids, question.len()).into())
}
