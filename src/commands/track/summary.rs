//! How a whole game went, and a position for programs.

use std::fmt;

use cwm_contract::{LabelPrediction, PositionPrediction};
use serde_json::{Value, json};

/// Counts over the positions so far.
#[derive(Debug, Default)]
pub struct Summary {
    /// Positions, the initial one among them.
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

    /// The same for programs.
    pub fn as_json(&self) -> Value {
        json!({
            "positions": self.positions,
            "exact": self.exact,
            "labels": self.labels,
            "right": self.right,
            "first_error": self.first_error,
        })
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

/// A position for programs.
pub fn as_json(tracked: &PositionPrediction) -> Value {
    let wrong = tracked.errors.iter().map(
        |wrong| json!({ "label": wrong.label, "believed": belief(&wrong.predicted), "true": belief(&wrong.truth) }),
    );
    json!({
        "ply": tracked.ply,
        "uci": tracked.last_move.as_ref().map(|played| &played.uci),
        "san": tracked.last_move.as_ref().map(|played| &played.san),
        "believed": tracked.predicted.fen,
        "true": tracked.truth.fen,
        "right": tracked.correct,
        "labels": tracked.labels,
        "wrong": wrong.collect::<Vec<_>>(),
        "joint_probability": number(tracked.joint_probability),
        "least_confident": { "label": tracked.least_confident.label, "believed": belief(&tracked.least_confident.prediction) },
    })
}

fn belief(belief: &LabelPrediction) -> Value {
    json!({ "value": belief.value, "probability": number(belief.probability) })
}

/// Null where it is no number, which JSON has no word for.
fn number(number: f64) -> Value {
    if number.is_finite() { json!(number) } else { Value::Null }
}
