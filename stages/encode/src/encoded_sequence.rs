//! The sequence that a position, a game or an example becomes.

use cwm_evaluations::Evaluation;
use cwm_sequences::NO_LOSS;

/// A sequence, or none, and what was dropped.
#[derive(Debug, Default)]
pub struct EncodedSequence {
    /// The sequence.
    pub row: Option<Row>,
    /// The number that was dropped, by one of the reasons of the form.
    pub dropped: Option<(&'static str, u64)>,
    /// True if the sequence is longer than its form allows, and was cut.
    pub is_truncated: bool,
}

/// A sequence with a name of its own.
#[derive(Debug)]
pub struct Row {
    /// Its name.
    pub id: String,
    /// The tokens that a model reads.
    pub tokens: Vec<u16>,
    /// The target at each of these places, or [`NO_LOSS`].
    pub targets: Vec<u16>,
}

impl EncodedSequence {
    /// A position or a game that is dropped.
    pub fn dropped(reason: &'static str) -> Self {
        EncodedSequence { dropped: Some((reason, 1)), ..EncodedSequence::default() }
    }
}

impl Row {
    /// A text of which each character or word from the place `first` on is a target: the tokens are all but the last,
    /// and the target at a place is the next one.
    pub fn text(id: String, ids: &[impl Copy + Into<u16>], first: usize) -> Self {
        let tokens = ids[..ids.len() - 1].iter().map(|&id| id.into()).collect();
        let targets = (1..ids.len()).map(|at| if at < first { NO_LOSS } else { ids[at].into() }).collect();
        Row { id, tokens, targets }
    }
}

impl From<Row> for EncodedSequence {
    fn from(row: Row) -> Self {
        EncodedSequence { row: Some(row), ..EncodedSequence::default() }
    }
}

/// The name of a position's row: the game's and the ply, or the number of its record.
pub fn position_name(evaluation: &Evaluation) -> String {
    match evaluation.t {
        Some(t) if evaluation.game.is_some() => format!("{}:{t}", evaluation.id),
        _ => evaluation.record.to_string(),
    }
}
