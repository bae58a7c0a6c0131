//! The account of what was kept and left out.

use std::collections::BTreeMap;

use cwm_contract::Context;
use serde_json::{Value, json};

use crate::judge::Reason;

/// Records left out that are named in the log; the others are only counted.
const NAMED: u64 = 20;

/// Counts records as they come.
#[derive(Default)]
pub struct Ledger {
    /// Records seen, kept or not.
    pub read: u64,
    /// Games kept.
    pub kept: u64,
    plies: u64,
    dropped: BTreeMap<Reason, u64>,
}

impl Ledger {
    /// Counts a game that is kept.
    pub fn keep(&mut self, plies: usize) {
        self.read += 1;
        self.kept += 1;
        self.plies += plies as u64;
    }

    /// Counts a record that is left out; `place` names it and says what is wrong.
    pub fn drop(&mut self, reason: Reason, place: &str, context: &Context) {
        self.read += 1;
        *self.dropped.entry(reason).or_default() += 1;
        if self.read - self.kept <= NAMED {
            context.log(format!("left out {place}"));
        }
    }

    /// Writes the totals to the log and the metrics.
    pub fn tell(&self, context: &Context) {
        let dropped = self.read - self.kept;
        if dropped > NAMED {
            context.log(format!("left out {} more", dropped - NAMED));
        }
        for (&reason, &records) in &self.dropped {
            context.log(format!("left out for {}: {records}", reason.name()));
            context.metric(&format!("dropped_{}", reason.name()), records as f64);
        }
        context.metric("games_read", self.read as f64);
        context.metric("games_kept", self.kept as f64);
        context.metric("plies", self.plies as f64);
    }

    /// The `counts` file; every reason is there, with 0 where it did not occur.
    pub fn to_json(&self) -> String {
        let dropped: BTreeMap<&str, u64> =
            Reason::ALL.iter().map(|reason| (reason.name(), self.dropped.get(reason).copied().unwrap_or(0))).collect();
        let counts: BTreeMap<&str, Value> = BTreeMap::from([
            ("stage", json!("import")),
            ("read", json!(self.read)),
            ("kept", json!(self.kept)),
            ("plies", json!(self.plies)),
            ("dropped", json!(dropped)),
        ]);
        format!("{}\n", json!(counts))
    }
}
