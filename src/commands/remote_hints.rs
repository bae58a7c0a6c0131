//! Hints about results that remotes may have, and about missing files.

use std::collections::BTreeSet;

use crate::workspace::Workspace;
use cwm_core::{Error, Key};
use cwm_engine::{CacheStatus, Cause, KeyStatus, sources};
use cwm_pipeline::plan::Plan;
use cwm_project::lock_file::LockLine;
use cwm_project::site::Site;

/// Prints how to fetch results of the lock file that are not in the store, if there are remotes.
pub fn hint_at_remotes<'c>(site: &Site, mut causes: impl Iterator<Item = &'c Cause>) {
    let is_theirs = |cause: &Cause| matches!(cause, Cause::RecordMissing { same: Some(true) | None });
    if !site.remotes.is_empty() && causes.any(is_theirs) {
        eprintln!(
            "hint: the remotes may have what the lock file names: `cwm run --pull` asks them, `cwm pull` fetches it"
        );
    }
}

/// Prints that a run of these cells cannot begin, if files that they read are missing.
pub fn hint_at_missing_files(plan: &Plan, cells: &[usize]) {
    if !plan.missing_files(&plan.ancestors(cells)).is_empty() {
        eprintln!("hint: files that these read are missing: `cwm run` begins only when they are there");
    }
}

impl Workspace {
    /// Before a run that asks no remote computes `cells`: how many results of them the lock file names that are not here, where
    /// there are remotes, and `how` they are asked. Nothing is asked of them; where all that it names is here, it takes one look
    /// a cell.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn results_elsewhere(&mut self, cells: &[usize], how: &str) -> Result<Option<String>, Error> {
        if self.site.remotes.is_empty() {
            return Ok(None);
        }
        for cell in cells {
            if let Some(line) = self.locked.get(&self.plan.cells[*cell].label)
                && !self.has_locked(line)?
            {
                let cache_status = self.cache_status()?;
                return self.elsewhere(&cache_status, cells, how);
            }
        }
        Ok(None)
    }

    /// As [`Workspace::results_elsewhere`], of what a survey found.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn elsewhere(
        &self,
        cache_status: &CacheStatus,
        cells: &[usize],
        how: &str,
    ) -> Result<Option<String>, Error> {
        if self.site.remotes.is_empty() {
            return Ok(None);
        }
        let mut count = 0;
        // What is not as the lock file has it, or rests on such: its result is another one.
        let mut changed = BTreeSet::new();
        for cell in cells {
            let line = self.locked.get(&self.plan.cells[*cell].label);
            let is_locked = |key: Key| line.is_some_and(|line| line.key == key);
            let is_as_locked = match &cache_status.states[*cell] {
                KeyStatus::Cached(record) => is_locked(record.key),
                KeyStatus::Absent(resolved) => is_locked(resolved.components.key()),
                // Its key is not known before what it rests on.
                KeyStatus::KeyUnknown | KeyStatus::PipeUnread(_) => line.is_some(),
                KeyStatus::Unreadable(_) => false,
            };
            if !is_as_locked || sources(&self.plan.cells[*cell]).any(|source| changed.contains(&source)) {
                changed.insert(*cell);
            } else if !matches!(&cache_status.states[*cell], KeyStatus::Cached(_))
                && let Some(line) = line
            {
                count += u64::from(!self.has_locked(line)?);
            }
        }
        if count == 0 {
            return Ok(None);
        }
        let lock = self.locked.path().file_name().unwrap_or_default().to_string_lossy();
        let results = match count {
            1 => format!("1 result that {lock} names is"),
            _ => format!("{count} results that {lock} names are"),
        };
        let names: Vec<&str> = self.site.remotes.iter().map(|remote| remote.name.as_str()).collect();
        let remotes = if names.len() == 1 { "the remote" } else { "the remotes" };
        let them = if count == 1 { "it" } else { "them" };
        Ok(Some(format!("{results} not here; {remotes} {} may have {them}: {how}", names.join(", "))))
    }

    fn has_locked(&self, line: &LockLine) -> Result<bool, Error> {
        Ok(!self.store.actions(&line.key)?.is_empty())
    }
}
