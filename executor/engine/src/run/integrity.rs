//! Checks that the files of results exist and are unchanged, just before a cell reads them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::cause::Cause;
use crate::event::{EventSink, EventSinks, RunEvent};
use crate::lookup::RunInputs;
use cwm_core::{Digest, Error, Key};
use cwm_store::{ActionRecord, Corruption, MissingContent};

/// The files that a run found missing or changed.
#[derive(Default)]
pub struct IntegrityGuard {
    /// Changed content that is in quarantine: the reason for all results of which it is missing.
    quarantined: HashMap<Digest, Corruption>,
    /// The cause of each result with missing files, as it was found first: some of the files may exist again since.
    causes: HashMap<(usize, Key), Cause>,
    /// Cells that are built again, with the cause.
    pub to_rebuild: BTreeMap<usize, Cause>,
    /// Cells whose files a reader needs.
    pub wanted: BTreeSet<usize>,
    /// True if the hint was shown that remotes have files that are built again.
    pull_hint_shown: bool,
}

impl IntegrityGuard {
    /// Returns the files of a result that cannot be read. A file that changed since it was stored is quarantined.
    pub fn missing_files(
        &mut self,
        inputs: &RunInputs<'_>,
        index: usize,
        record: &ActionRecord,
        sinks: &mut EventSinks,
    ) -> Result<Vec<MissingContent>, Error> {
        let mut missing = inputs.store.missing_or_corrupt(record, inputs.files)?;
        for one in &mut missing {
            let Some(damage) = &one.damage else {
                one.damage = self.quarantined.get(&one.digest).cloned();
                continue;
            };
            if let Some(finding) = inputs.store.quarantine_corrupt(damage)? {
                let message = format!("{}: {finding}", inputs.plan.cells[index].label);
                sinks.event(&RunEvent::Warning { message });
            }
            self.quarantined.insert(one.digest, damage.clone());
        }
        Ok(missing)
    }

    /// Returns the cause of a cell that is built again since files of it are missing: the first one of this run.
    pub fn cause(
        &mut self,
        inputs: &RunInputs<'_>,
        index: usize,
        record: &ActionRecord,
        missing: &[MissingContent],
        has_fetcher: bool,
        sinks: &mut EventSinks,
    ) -> Result<Cause, Error> {
        if let Some(cause) = self.causes.get(&(index, record.key)) {
            return Ok(cause.clone());
        }
        let cause = Cause::from_missing(inputs.store, record, missing)?;
        let could_pull = matches!(cause, Cause::NotPulled { .. }) && !has_fetcher;
        if could_pull && !std::mem::replace(&mut self.pull_hint_shown, true) {
            let message = "files that remotes have are made again here; `cwm run --pull` fetches such in place of that";
            sinks.event(&RunEvent::Warning { message: message.to_owned() });
        }
        self.causes.insert((index, record.key), cause.clone());
        Ok(cause)
    }
}
