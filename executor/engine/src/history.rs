//! What the store's records tell of the past: when code was last used, what made a content.

use std::collections::HashMap;

use cwm_contract::Label;
use jiff::Timestamp;

use cwm_core::{Digest, Error};
use cwm_store::{ActionRecord, Store};

/// A run of some cell, told in a few words.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RunSummary {
    /// When it started.
    pub at: String,
    /// Which cell ran.
    pub label: String,
    /// By which version of cwm.
    pub cwm_version: String,
}

/// Since when one crate or part is other code.
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
    /// In words: `crate cwm-chess since 2026-11-20 18:02, when corpus last ran with the old (cwm 0.1.0)`.
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

/// All records of a store, sought by what they hold.
pub struct History {
    records: Vec<ActionRecord>,
    /// Records by the digests of their outputs.
    makers: HashMap<Digest, Vec<usize>>,
}

impl History {
    /// Reads all records. One that is damaged tells nothing; `cwm verify` tells of it.
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

    /// The result of this cell that was begun last.
    pub fn latest_result(&self, label: &Label) -> Option<&ActionRecord> {
        self.records.iter().filter(|record| record.label == *label).max_by_key(|record| record.circumstances.started)
    }

    /// A record of another key than `now` that made `content`: of the same cell rather than of others, else of the same kind;
    /// the last of them.
    pub fn producer(&self, content: &Digest, now: &ActionRecord) -> Option<&ActionRecord> {
        let made = self.makers.get(content)?.iter().map(|index| &self.records[*index]);
        made.filter(|record| record.key != now.key && record.components.kind == now.components.kind)
            .max_by_key(|record| (record.label == now.label, record.circumstances.started))
    }

    /// Since when the code of `what` is `new` and no longer `old`.
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

/// A point in time as people here read it: `2026-11-20 18:02`.
pub fn format_time(time: Timestamp) -> String {
    time.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}
