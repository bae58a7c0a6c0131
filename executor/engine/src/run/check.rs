//! A check (`cwm run --check`) builds its targets beside their recorded results, and compares. Every cell reads the recorded
//! results of its sources, so no cell waits for another. Nothing is recorded or changed.

use std::collections::{BTreeMap, BTreeSet};

use super::Engine;
use crate::event::{EventSink, RunEvent};
use crate::lookup::sources;
use crate::scheduler::{Decision, Event};
use cwm_core::{Error, Key, Result, shell_quote};
use cwm_store::{Difference, EvictionReason, MissingContent};

impl Engine<'_> {
    /// Decides on a cell of a check: a target is built unless its recorded result was checked already.
    pub(super) fn decide_check(&mut self, index: usize) -> Result<Decision> {
        let context = self.context;
        if let Some(blocked_by) = sources(context.cell(index)).find(|source| self.records[*source].is_none()) {
            return Ok(Decision::Skipped { blocked_by });
        }
        let action = context.resolve(index, |source| self.records[source].as_deref())?;
        let key = action.key;
        let record = context.find_result(index, &action)?.ok_or_else(|| {
            Error::store("the store has no result of it with the present key, so there is nothing to compare with")
                .hint("`cwm run` computes it; `cwm why` shows what changed since it was computed")
        })?;
        if !self.options.targets.contains(&index) {
            self.records[index] = Some(record.into());
            return Ok(Decision::Hit);
        }
        let cell = context.cell(index);
        if cell.stage().is_some_and(|stage| !stage.is_repeatable(&cell.values)) {
            let label = self.label(index);
            self.sinks.warn(format!(
                "{label}: its result is recorded, and a second run may give another, so it is not checked"
            ));
            self.records[index] = Some(record.into());
            return Ok(Decision::Hit);
        }
        self.require_inputs(index)?;
        let outputs = record.output_digests();
        self.records[index] = Some(record.into());
        if self.scheduler.is_in_flight(&key) {
            return Ok(Decision::SharesKey(key));
        }
        if let Some(differences) = self.failures.checked.get(&(key, outputs)).cloned() {
            self.report_check(index, key, differences);
            return Ok(Decision::Hit);
        }
        self.build(index, action, Vec::new())
    }

    /// Ends the check of a cell.
    pub(super) fn finish_check(&mut self, cell: usize, key: Key, differences: Vec<Difference>) {
        if let Some(record) = &self.records[cell] {
            self.failures.checked.insert((key, record.output_digests()), differences.clone());
        }
        self.report_check(cell, key, differences);
        self.on(Event::Finished { cell, is_built: true, has_changed: false, needs_fetch: false });
    }

    fn report_check(&mut self, cell: usize, key: Key, differences: Vec<Difference>) {
        *(if differences.is_empty() { &mut self.summary.same } else { &mut self.summary.different }) += 1;
        let seconds = self.failures.seconds(&key);
        self.sinks.event(&RunEvent::Checked { label: self.label(cell), key, seconds, differences });
    }

    /// Fails if files of an input were evicted or lost, with the command that makes them available.
    fn require_inputs(&self, index: usize) -> Result<()> {
        let mut commands: BTreeMap<&str, String> = BTreeMap::new();
        let mut lost = Vec::new();
        for source in sources(self.context.cell(index)).collect::<BTreeSet<_>>() {
            let Some(record) = &self.records[source] else { continue };
            let missing = self.context.store.missing_or_damaged(record, self.context.digests)?;
            if missing.is_empty() {
                continue;
            }
            let label = self.context.cell(source).label.to_string();
            let (command, what) = match record.evicted {
                Some(EvictionReason::NotPulled) => ("cwm pull", "were not pulled"),
                _ => ("cwm run", MissingContent::describe(&missing)),
            };
            *commands.entry(command).or_default() += &format!(" {}", shell_quote(&label));
            lost.push(format!("files of {label}, which it reads, {what}"));
        }
        if lost.is_empty() {
            return Ok(());
        }
        let commands: Vec<String> =
            commands.into_iter().map(|(command, labels)| command.to_owned() + &labels).collect();
        Err(Error::store(lost.join("; ")).hint(format!("`{}` makes them available", commands.join(" && "))))
    }
}
