//! The training of an arm's model, from its choices and from the counts of `encode` of its sequences.

use cwm_choices::Chooser;
use serde_json::Value;

use super::counts::CountedValue;

/// The known properties of a training.
#[derive(Clone, Copy)]
pub(crate) struct Training<'a> {
    chooser: &'a Chooser,
    /// Targets and tokens of its sequences.
    encoded: Option<(u64, u64)>,
}

impl<'a> Training<'a> {
    /// The training of this model. Its sequences are those of the stages `encode` with its form and as many rows, if
    /// all of these counted the same.
    pub(crate) fn new(chooser: &'a Chooser, counts: &[CountedValue]) -> Self {
        let form = chooser.form.as_deref();
        let rows = chooser.training.get("rows").and_then(Value::as_u64);
        let mut found: Vec<(u64, u64)> = Vec::new();
        for counted in counts.chunk_by(|one, next| one.label == next.label) {
            let get = |what: &str| counted.iter().find(|counted| counted.what == what).map(|counted| &counted.value);
            let number = |what: &str| get(what).and_then(Value::as_u64);
            let is_its = counted[0].stage == "encode" && get("form").and_then(Value::as_str) == form;
            if is_its && rows.is_some() && number("rows") == rows {
                found.extend(number("targets").zip(number("tokens")));
            }
        }
        found.dedup();
        let encoded = if let [one] = found[..] { Some(one) } else { None };
        Training { chooser, encoded }
    }

    /// A number of the training's description.
    pub(crate) fn number(self, key: &str) -> Option<f64> {
        self.chooser.training.get(key).and_then(Value::as_f64)
    }

    /// The number of different positions that it learned from; in a list of moves each target is one.
    pub(crate) fn positions(self) -> Option<u64> {
        let targets = self.encoded.map(|(targets, _)| targets);
        self.chooser.trained_positions.or(targets.filter(|_| self.chooser.form.as_deref() == Some("moves")))
    }

    /// The number of different positions times the epochs.
    pub(crate) fn visits(self) -> Option<u64> {
        let epochs = self.chooser.steps? as f64 / self.number("steps_per_epoch")?;
        Some((self.positions()? as f64 * epochs).round() as u64)
    }

    /// Tokens of a batch, on average.
    pub(crate) fn batch_tokens(self) -> Option<f64> {
        let (_, tokens) = self.encoded?;
        Some(self.number("batch_size")? * tokens as f64 / self.number("rows")?)
    }

    /// The last learning rate: the floor; `None` if the schedule does not reach it.
    pub(crate) fn lowest_rate(self) -> Option<f64> {
        let arrives = self.number("horizon")? <= self.chooser.steps? as f64;
        let falls = self.falls() && arrives;
        Some(self.number("lr")? * self.number("lr_floor")?).filter(|_| falls)
    }

    /// The number of updates until the learning rate is at its floor.
    pub(crate) fn horizon(self) -> Option<f64> {
        self.number("horizon").filter(|_| self.falls())
    }

    fn falls(self) -> bool {
        self.chooser.training.get("schedule").and_then(Value::as_str).is_some_and(|schedule| schedule != "constant")
    }
}
