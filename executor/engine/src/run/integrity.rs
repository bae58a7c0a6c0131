//! Checks that the files of results exist and are unchanged, just before a cell reads them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Engine;
use crate::cause::Cause;
use cwm_core::{Digest, Result};
use cwm_store::{ActionRecord, Damage, MissingContent};

/// The files that a run found missing or changed.
#[derive(Default)]
pub struct LostFiles {
    /// Changed content that is in quarantine: the reason for all results of which it is missing.
    quarantined: HashMap<Digest, Damage>,
    /// Cells that are built again, with the cause as it was found first: some of the files may exist again since.
    pub to_rebuild: BTreeMap<usize, Cause>,
    /// Cells whose files a reader needs.
    pub wanted: BTreeSet<usize>,
    /// True if the hint was shown that remotes have files that are built again.
    pull_hint_shown: bool,
}

impl Engine<'_> {
    /// Returns the files of a result that cannot be read. A file that changed since it was stored is quarantined.
    pub(super) fn missing_files(&mut self, cell: usize, record: &ActionRecord) -> Result<Vec<MissingContent>> {
        let store = self.context.store;
        let mut missing = store.missing_or_damaged(record, self.context.digests)?;
        for one in &mut missing {
            let Some(damage) = &one.damage else {
                one.damage = self.lost_files.quarantined.get(&one.digest).cloned();
                continue;
            };
            if let Some(finding) = store.quarantine_damaged(damage)? {
                self.sinks.warn(format!("{}: {finding}", self.label(cell)));
            }
            self.lost_files.quarantined.insert(one.digest, damage.clone());
        }
        Ok(missing)
    }

    /// Has a cell built again of whose result these files are missing. Returns the cause.
    pub(super) fn rebuild(&mut self, cell: usize, record: &ActionRecord, missing: &[MissingContent]) -> Result<Cause> {
        let cause = Cause::from_missing(self.context.store, record, missing)?;
        let could_pull = matches!(cause, Cause::NotPulled { .. }) && !self.transfers.can_fetch();
        if could_pull && !std::mem::replace(&mut self.lost_files.pull_hint_shown, true) {
            self.sinks.warn("files that remotes have are computed again here; `cwm run --pull` fetches them instead");
        }
        self.lost_files.to_rebuild.insert(cell, cause.clone());
        Ok(cause)
    }
}
