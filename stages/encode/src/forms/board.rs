//! A position as a board; the target is the best move, at the last place.

use cwm_evaluations::Evaluation;
use cwm_policy::actions::ACTIONS;
use cwm_policy::inputs::board::{Board, LENGTH};
use cwm_policy::replay::best_action;
use cwm_sequences::NO_LOSS;

use super::{Encoder, Form};
use crate::encoded_sequence::{EncodedSequence, Row, position_name};

/// The form `board`. Its symbols share their ids with actions, as in the authors' code.
pub const FORM: Form = Form {
    name: "board",
    version: 1,
    parts: &["board"],
    inputs: &["evaluations"],
    vocabulary: (ACTIONS as u16, ACTIONS as u16),
    longest: |_| LENGTH + 1,
    reasons: &[],
    encoder: Encoder::Position(encode),
};

/// The token before the board.
const FIRST: u16 = 0;

fn encode(evaluation: &Evaluation) -> Result<EncodedSequence, String> {
    let board = Board::parse(&evaluation.fen).map_err(|error| error.to_string())?;
    let best = best_action(board.position(), evaluation.best())?;
    let tokens: Vec<u16> = std::iter::once(FIRST).chain(board.ids().map(u16::from)).collect();
    let mut targets = vec![NO_LOSS; tokens.len()];
    targets[tokens.len() - 1] = best;
    Ok(Row { id: position_name(evaluation), tokens, targets }.into())
}
