//! The account of what was kept and dropped.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;

use cwm_contract::{Context, Failure};
use fs_err::File;
use serde_json::{Value, json};

use crate::rules::{Drop, Reason};

/// Faulty games that are named in the log as well as in the output `faults`.
const NAMED: u64 = 20;

/// Counts games as they come, and writes down the faulty ones.
pub struct Ledger {
    /// Games seen, kept or not.
    pub read: u64,
    /// Games kept.
    pub kept: u64,
    /// Plies of the kept games.
    pub plies: u64,
    dropped: BTreeMap<Reason, u64>,
    faults: u64,
    list: BufWriter<File>,
}

impl Ledger {
    /// An empty one, which lists faulty games in the file `list`.
    pub fn create(list: &Path) -> Result<Self, Failure> {
        let list = BufWriter::new(File::create(list)?);
        Ok(Ledger { read: 0, kept: 0, plies: 0, dropped: BTreeMap::new(), faults: 0, list })
    }

    /// Counts a game that is kept.
    pub fn keep(&mut self, plies: usize) {
        self.read += 1;
        self.kept += 1;
        self.plies += plies as u64;
    }

    /// Counts a game that is not, and lists it if it is faulty; names it in the log, too, if it is one of the first.
    pub fn drop(&mut self, place: &Place<'_>, drop: &Drop, context: &Context) -> Result<(), Failure> {
        self.read += 1;
        *self.dropped.entry(drop.reason).or_default() += 1;
        if drop.reason.is_fault() {
            self.faults += 1;
            if self.faults <= NAMED {
                context.log(format!("left out {}", describe(place.game, place.of_file, drop)));
            }
            let fault = BTreeMap::from([
                ("file", json!(place.file)),
                ("game", json!(place.game)),
                ("byte", json!(drop.offset)),
                ("reason", json!(drop.reason.name())),
                ("seen", json!(drop.seen)),
            ]);
            writeln!(self.list, "{}", json!(fault))?;
        }
        Ok(())
    }

    /// Ends the list; writes the totals to the log and the metrics.
    pub fn finish(&mut self, context: &Context) -> Result<(), Failure> {
        self.list.flush()?;
        if self.faults > NAMED {
            let more = self.faults - NAMED;
            context.log(format!("left out {more} more faulty games; the output `faults` names all of them"));
        }
        for (&reason, &games) in &self.dropped {
            context.log(format!("dropped for {}: {games}", reason.name()));
            context.metric(&format!("dropped_{}", reason.name()), games as f64);
        }
        context.metric("games_read", self.read as f64);
        context.metric("games_kept", self.kept as f64);
        context.metric("plies", self.plies as f64);
        Ok(())
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

/// Where a game is.
pub struct Place<'a> {
    /// Ordinal of its file, from 1.
    pub file: usize,
    /// What stands behind its number where people must be told the file.
    pub of_file: &'a str,
    /// Its number in the file, from 1.
    pub game: u64,
}

/// A game that is dropped: its number, place, and what is wrong with it.
pub fn describe(number: u64, of_file: &str, drop: &Drop) -> String {
    let seen = drop.seen.as_deref().map(|seen| format!(", {seen}")).unwrap_or_default();
    format!("game {number}{of_file}: {} at byte {} of the text{seen}", drop.reason.name(), drop.offset)
}
