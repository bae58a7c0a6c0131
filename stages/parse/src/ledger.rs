//! The account of what was kept and dropped.

use std::collections::BTreeMap;

use cwm_contract::Context;
use serde_json::{Value, json};

use crate::rules::{Drop, Reason};

/// Faulty games that are named in the log; the others are only counted.
const NAMED: u64 = 20;

/// Counts games as they come.
#[derive(Default)]
pub struct Ledger {
    /// Games seen, kept or not.
    pub read: u64,
    /// Games kept.
    pub kept: u64,
    /// Plies of the kept games.
    pub plies: u64,
    dropped: BTreeMap<Reason, u64>,
    faults: u64,
}

impl Ledger {
    /// Counts a game that is kept.
    pub fn keep(&mut self, plies: usize) {
        self.read += 1;
        self.kept += 1;
        self.plies += plies as u64;
    }

    /// Counts a game that is not, the one numbered `number` in its file; names it in the log if it is one of the first
    /// faulty ones, with `of_file` behind it.
    pub fn drop(&mut self, number: u64, of_file: &str, drop: &Drop, context: &Context) {
        self.read += 1;
        *self.dropped.entry(drop.reason).or_default() += 1;
        if drop.reason.is_fault() {
            self.faults += 1;
            if self.faults <= NAMED {
                context.log(format!("left out {}", describe(number, of_file, drop)));
            }
        }
    }

    /// Writes the totals to the log and the metrics.
    pub fn tell(&self, context: &Context) {
        if self.faults > NAMED {
            context.log(format!("left out {} more faulty games", self.faults - NAMED));
        }
        for (&reason, &games) in &self.dropped {
            context.log(format!("dropped for {}: {games}", reason.name()));
            context.metric(&format!("dropped_{}", reason.name()), games as f64);
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
            ("stage", json!("parse")),
            ("read", json!(self.read)),
            ("kept", json!(self.kept)),
            ("plies", json!(self.plies)),
            ("dropped", json!(dropped)),
        ]);
        format!("{}\n", json!(counts))
    }
}

/// A game that is dropped: its number, place, and what is wrong with it.
pub fn describe(number: u64, of_file: &str, drop: &Drop) -> String {
    let seen = drop.seen.as_deref().map(|seen| format!(", {seen}")).unwrap_or_default();
    format!("game {number}{of_file}: {} at byte {} of the text{seen}", drop.reason.name(), drop.offset)
}
