//! The account of what was written and dropped: the output `counts`.

use std::collections::BTreeMap;

use cwm_contract::{Context, Failure};
use cwm_sequences::NO_LOSS;
use serde_json::{Value, json};

use crate::encoded_sequence::Row;
use crate::forms::Form;

/// Counts rows and what is dropped.
pub struct Counts {
    form: &'static Form,
    rows: u64,
    tokens: u64,
    targets: u64,
    truncated: u64,
    dropped: BTreeMap<&'static str, u64>,
}

impl Counts {
    /// The counts before the first row.
    pub fn new(form: &'static Form) -> Self {
        let dropped = form.reasons.iter().map(|reason| (*reason, 0)).collect();
        Counts { form, rows: 0, tokens: 0, targets: 0, truncated: 0, dropped }
    }

    /// Counts a row.
    pub fn add(&mut self, row: &Row) {
        self.rows += 1;
        self.tokens += row.tokens.len() as u64;
        self.targets += row.targets.iter().filter(|target| **target != NO_LOSS).count() as u64;
    }

    /// Counts a sequence that was cut.
    pub fn count_truncated(&mut self) {
        self.truncated += 1;
    }

    /// Counts what was dropped for this reason.
    pub fn count_dropped(&mut self, reason: &'static str, count: u64) {
        *self.dropped.entry(reason).or_default() += count;
    }

    /// Writes `counts`.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn finish(self, context: &Context) -> Result<(), Failure> {
        let counts: BTreeMap<&str, Value> = BTreeMap::from([
            ("stage", json!("encode")),
            ("form", json!(self.form.name)),
            ("rows", json!(self.rows)),
            ("tokens", json!(self.tokens)),
            ("targets", json!(self.targets)),
            ("cut", json!(self.truncated)),
            ("dropped", json!(self.dropped)),
        ]);
        fs_err::write(context.output("counts")?, format!("{}\n", json!(counts)))?;
        context.metric("rows", self.rows as f64);
        context.metric("targets", self.targets as f64);
        Ok(())
    }
}
