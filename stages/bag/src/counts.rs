//! The account of what was kept and dropped: the outputs `counts` and `faults`.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

use cwm_contract::{Context, Failure};
use serde_json::{Value, json};

use crate::record::{Reason, RecordError};

/// Faults that are in the log as well as in the output `faults`.
const MAX_LOGGED: u64 = 20;

/// Counts records, and lists the faulty ones.
pub struct Counts<'a> {
    context: &'a Context,
    list: BufWriter<fs_err::File>,
    /// Records kept so far.
    pub kept: u64,
    dropped: BTreeMap<Reason, u64>,
    /// Counts for action values: positions, and those of them that lack a legal move.
    positions: Option<(u64, u64)>,
}

impl<'a> Counts<'a> {
    /// The counts before the first record.
    ///
    /// # Errors
    /// The list cannot be made.
    pub fn create(context: &'a Context) -> Result<Self, Failure> {
        let list = BufWriter::new(fs_err::File::create(context.output("faults")?)?);
        Ok(Counts { context, list, kept: 0, dropped: BTreeMap::new(), positions: None })
    }

    /// Lists a faulty record of the file with this number, both from 1; `words` name file and record too.
    ///
    /// # Errors
    /// The list cannot be written.
    pub fn drop(
        &mut self,
        file: usize,
        record: usize,
        (reason, detail): RecordError,
        words: &str,
    ) -> Result<(), Failure> {
        *self.dropped.entry(reason).or_default() += 1;
        if self.faults() <= MAX_LOGGED {
            self.context.log(format!("dropped {words}"));
        }
        let entry: BTreeMap<&str, Value> = BTreeMap::from([
            ("file", json!(file)),
            ("record", json!(record)),
            ("reason", json!(reason.name())),
            ("detail", json!(detail)),
        ]);
        Ok(writeln!(self.list, "{}", json!(entry))?)
    }

    /// Counts a position with all its moves, or one that lacks some.
    pub fn position(&mut self, is_complete: bool) {
        let (positions, incomplete) = self.positions.get_or_insert_default();
        *positions += 1;
        *incomplete += u64::from(!is_complete);
    }

    fn faults(&self) -> u64 {
        self.dropped.values().sum()
    }

    /// Ends the list, and writes `counts`, with every reason that records can be dropped for.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(mut self, has_values: bool) -> Result<(), Failure> {
        self.list.flush()?;
        let faults = self.faults();
        if faults > MAX_LOGGED {
            self.context.log(format!("dropped {} more, all of which the output `faults` names", faults - MAX_LOGGED));
        }
        let of = |reason: Reason| self.dropped.get(&reason).copied().unwrap_or(0);
        let of_values = Reason::OF_VALUES.into_iter().filter(|_| has_values);
        let reasons = Reason::OF_BEST_MOVES.into_iter().chain(of_values);
        let dropped: BTreeMap<&str, u64> = reasons.map(|reason| (reason.name(), of(reason))).collect();
        let mut counts: BTreeMap<&str, Value> = BTreeMap::from([
            ("stage", json!("bag")),
            ("read", json!(self.kept + faults)),
            ("kept", json!(self.kept)),
            ("dropped", json!(dropped)),
        ]);
        if let Some((positions, incomplete)) = self.positions {
            counts.extend([("positions", json!(positions)), ("incomplete", json!(incomplete))]);
        }
        fs_err::write(self.context.output("counts")?, format!("{}\n", json!(counts)))?;
        self.context.metric("records_kept", self.kept as f64);
        self.context.metric("records_dropped", faults as f64);
        Ok(())
    }
}
