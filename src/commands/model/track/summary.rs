//! Counts over a whole game, and the JSON of a position.

use std::fmt;

use cwm_contract::PositionPrediction;
use serde::Serialize;
use serde_json::{Value, json};

/// Counts over the positions so far.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    /// The number of positions, with the initial one.
    pub positions: u64,
    exact: u64,
    right: u64,
    labels: u64,
    first_error: Option<u64>,
}

impl Summary {
    /// Counts a position.
    pub fn add(&mut self, tracked: &PositionPrediction) {
        self.positions += 1;
        self.right += u64::from(tracked.correct);
        self.labels += u64::from(tracked.labels);
        if tracked.correct == tracked.labels {
            self.exact += 1;
        } else if self.first_error.is_none() {
            self.first_error = Some(tracked.ply);
        }
    }
}

/// `12 of 13 positions exact, 974 of 975 labels right; the first error is at ply 12`.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { positions, exact, right, labels, first_error } = self;
        write!(f, "{exact} of {positions} positions exact, {right} of {labels} labels right")?;
        first_error.map_or(Ok(()), |ply| write!(f, "; the first error is at ply {ply}"))
    }
}

/// Returns a position as `--json` prints it.
pub fn to_json(position: &PositionPrediction) -> Value {
    json!({
        "ply": position.ply,
        "uci": position.last_move.as_ref().map(|played| &played.uci),
        "san": position.last_move.as_ref().map(|played| &played.san),
        "believed": position.predicted.fen,
        "true": position.truth.fen,
        "right": position.correct,
        "labels": position.labels,
        "wrong": position.errors,
        "joint_probability": position.joint_probability,
        "least_confident": position.least_confident,
    })
}
