//! The account of what a stage that makes games kept and dropped: its outputs `counts` and `faults`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use cwm_contract::{Context, Failure};
use serde_json::{Value, json};

/// Faults that are named in the log as well as in the output `faults`.
const MAX_LOGGED: u64 = 20;

/// A reason for which a stage drops games.
pub trait DropReason: Copy + Ord + 'static {
    /// All reasons.
    const ALL: &'static [Self];

    /// Its name in `counts` and `faults`.
    fn name(self) -> &'static str;
}

/// Counts games as they come, and writes down the faulty ones.
pub struct CorpusStats<R> {
    /// Games seen, kept or not.
    pub read: u64,
    /// Games kept.
    pub kept: u64,
    plies: u64,
    dropped: BTreeMap<R, u64>,
    faults: u64,
    list: BufWriter<File>,
    path: PathBuf,
}

impl<R: DropReason> CorpusStats<R> {
    /// An empty one, which lists faults in the file `faults`.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn create(faults: &Path) -> Result<Self, Failure> {
        let list = File::create(faults).map_err(|error| Failure::io("create", faults, error))?;
        let (list, path) = (BufWriter::new(list), faults.to_owned());
        Ok(CorpusStats { read: 0, kept: 0, plies: 0, dropped: BTreeMap::new(), faults: 0, list, path })
    }

    /// Counts a game that is kept.
    pub fn count_kept(&mut self, plies: usize) {
        self.read += 1;
        self.kept += 1;
        self.plies += plies as u64;
    }

    /// Counts a game that is sound and not wanted.
    pub fn count_dropped(&mut self, reason: R) {
        self.read += 1;
        *self.dropped.entry(reason).or_default() += 1;
    }

    /// Counts and lists a faulty game: `place` says where it is, `message` the same and what is wrong, for people.
    ///
    /// # Errors
    /// The list cannot be written.
    pub fn record_fault<'a>(
        &mut self,
        reason: R,
        place: impl IntoIterator<Item = (&'a str, Value)>,
        message: &str,
        context: &Context,
    ) -> Result<(), Failure> {
        self.count_dropped(reason);
        self.faults += 1;
        if self.faults <= MAX_LOGGED {
            context.log(format!("dropped {message}"));
        }
        let mut entry: BTreeMap<&str, Value> = place.into_iter().collect();
        entry.insert("reason", json!(reason.name()));
        writeln!(self.list, "{}", json!(entry)).map_err(|error| Failure::io("write", &self.path, error))
    }

    /// Ends the list, writes the file `counts` of the stage of this kind, and reports the totals.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(mut self, kind: &str, counts: &Path, context: &Context) -> Result<(), Failure> {
        self.list.flush().map_err(|error| Failure::io("write", &self.path, error))?;
        fs::write(counts, self.counts(kind)).map_err(|error| Failure::io("write", counts, error))?;
        if self.faults > MAX_LOGGED {
            context.log(format!("dropped {} more, all of which the output `faults` names", self.faults - MAX_LOGGED));
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

    /// Every reason is there, with 0 where it did not occur.
    fn counts(&self, kind: &str) -> String {
        let games = |reason: &R| self.dropped.get(reason).copied().unwrap_or(0);
        let dropped: BTreeMap<&str, u64> = R::ALL.iter().map(|reason| (reason.name(), games(reason))).collect();
        let counts: BTreeMap<&str, Value> = BTreeMap::from([
            ("stage", json!(kind)),
            ("read", json!(self.read)),
            ("kept", json!(self.kept)),
            ("plies", json!(self.plies)),
            ("dropped", json!(dropped)),
        ]);
        format!("{}\n", json!(counts))
    }
}
