//! The history of a store, from its records: the last result of a cell, and the producer of some content.

use std::collections::HashMap;

use cwm_contract::Label;
use jiff::Timestamp;

use cwm_core::{Digest, Result};
use cwm_store::{ActionRecord, Store};

/// All records of a store, with an index by content.
pub struct History {
    records: Vec<ActionRecord>,
    /// Records by the digests of their outputs.
    producers: HashMap<Digest, Vec<usize>>,
}

impl History {
    /// Reads all records, without those that are damaged, which `cwm store verify` finds.
    ///
    /// # Errors
    /// The store's folder cannot be read.
    pub fn read(store: &Store) -> Result<Self> {
        let keys = store.keys()?;
        let records: Vec<ActionRecord> = keys.iter().filter_map(|key| store.actions(key).ok()).flatten().collect();
        let mut producers: HashMap<Digest, Vec<usize>> = HashMap::new();
        for (index, record) in records.iter().enumerate() {
            for output in record.outputs.values() {
                producers.entry(output.digest).or_default().push(index);
            }
        }
        Ok(History { records, producers })
    }

    /// Returns the last result of this cell, by its start.
    pub fn latest_result(&self, label: &Label) -> Option<&ActionRecord> {
        self.records.iter().filter(|record| record.label == *label).max_by_key(|record| record.circumstances.started)
    }

    /// Returns the last record of another key than `now` that made `content`, of the same kind, and of the same cell if there is one.
    pub fn producer(&self, content: &Digest, now: &ActionRecord) -> Option<&ActionRecord> {
        let made = self.producers.get(content)?.iter().map(|index| &self.records[*index]);
        made.filter(|record| record.key != now.key && record.components.kind == now.components.kind)
            .max_by_key(|record| (record.label == now.label, record.circumstances.started))
    }
}

/// Formats a point in time in the local time zone: `2026-11-20 18:02`.
pub fn format_time(time: Timestamp) -> String {
    time.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}
