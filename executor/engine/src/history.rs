//! The history of a store, from its records: the last use of some code, and the producer of some content.

use std::collections::HashMap;

use cwm_contract::Label;
use jiff::Timestamp;

use cwm_core::{Digest, Error};
use cwm_store::{ActionRecord, Store};

/// A run of a cell, in short.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RunSummary {
    /// Its start.
    pub at: String,
    /// The cell that ran.
    pub label: String,
    /// The version of cwm that ran it.
    pub cwm_version: String,
}

/// The date at which a crate or part changed.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CodeChangeHistory {
    /// The crate or part.
    pub what: String,
    /// The last run with the old code that the store knows.
    pub last_old: Option<RunSummary>,
    /// The first run with the new code, if there was one.
    pub first_new: Option<RunSummary>,
}

impl CodeChangeHistory {
    /// Describes it: `crate cwm-chess since 2026-11-20 18:02, when corpus last ran with the old (cwm 0.1.0)`.
    pub fn describe(&self) -> String {
        let mut text = self.what.clone();
        if let Some(RunSummary { at, label, cwm_version }) = &self.last_old {
            text += &format!(" since {at}, when {label} last ran with the old (cwm {cwm_version})");
        }
        if let Some(RunSummary { at, label, cwm_version }) = &self.first_new {
            let link = if self.last_old.is_some() { "," } else { ":" };
            text += &format!("{link} {label} first with the new at {at} (cwm {cwm_version})");
        }
        text
    }
}

/// All records of a store, with an index by content.
pub struct History {
    records: Vec<ActionRecord>,
    /// Records by the digests of their outputs.
    makers: HashMap<Digest, Vec<usize>>,
}

impl History {
    /// Reads all records, without those that are damaged, which `cwm verify` finds.
    ///
    /// # Errors
    /// The store's folder cannot be read.
    pub fn read(store: &Store) -> Result<Self, Error> {
        let keys = store.keys()?;
        let records: Vec<ActionRecord> = keys.iter().filter_map(|key| store.actions(key).ok()).flatten().collect();
        let mut makers: HashMap<Digest, Vec<usize>> = HashMap::new();
        for (index, record) in records.iter().enumerate() {
            for output in record.outputs.values() {
                makers.entry(output.digest).or_default().push(index);
            }
        }
        Ok(History { records, makers })
    }

    /// Returns the last result of this cell, by its start.
    pub fn latest_result(&self, label: &Label) -> Option<&ActionRecord> {
        self.records.iter().filter(|record| record.label == *label).max_by_key(|record| record.circumstances.started)
    }

    /// Returns the last record of another key than `now` that made `content`, of the same kind, and of the same cell if there is one.
    pub fn producer(&self, content: &Digest, now: &ActionRecord) -> Option<&ActionRecord> {
        let made = self.makers.get(content)?.iter().map(|index| &self.records[*index]);
        made.filter(|record| record.key != now.key && record.components.kind == now.components.kind)
            .max_by_key(|record| (record.label == now.label, record.circumstances.started))
    }

    /// Returns the last use of the code `old` of `what`, and the first of `new`.
    pub fn code_change(&self, what: &str, old: Option<&String>, new: Option<&String>) -> CodeChangeHistory {
        let with = |digest: Option<&String>| {
            let digest = digest.cloned();
            self.records
                .iter()
                .filter(move |record| digest.is_some() && record.components.code.get(what) == digest.as_ref())
        };
        let started = |record: &&ActionRecord| record.circumstances.started;
        CodeChangeHistory {
            what: what.to_owned(),
            last_old: with(old).max_by_key(started).map(run_summary),
            first_new: with(new).min_by_key(started).map(run_summary),
        }
    }
}

fn run_summary(record: &ActionRecord) -> RunSummary {
    RunSummary {
        at: format_time(record.circumstances.started),
        label: record.label.to_string(),
        cwm_version: record.circumstances.cwm_version.clone(),
    }
}

/// Formats a point in time in the local time zone: `2026-11-20 18:02`.
pub fn format_time(time: Timestamp) -> String {
    time.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}
