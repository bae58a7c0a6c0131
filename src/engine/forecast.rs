//! Which recorded results lack files, and which of these a run would make again: one account for a run's dry run, `status` and
//! `why`.

use std::collections::{BTreeMap, BTreeSet};

use crate::commands::quoted;
use crate::digest::Digest;
use crate::engine::cause::Cause;
use crate::engine::status::{CellState, Survey, sources};
use crate::error::Error;
use crate::outside::Files;
use crate::plan::Plan;
use crate::store::{ActionRecord, Dropped, Missing, Store};

/// A recorded result of which files are gone, or were changed since they were stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacking {
    /// Which.
    missing: Vec<Missing>,
    /// Whether a run would make it again.
    pub remade: Remade,
}

/// Whether a run makes a result again of which files are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remade {
    /// Nothing reads them in this run.
    No,
    /// What reads them may turn out to be cached.
    Perhaps,
    /// What reads them runs, or they are asked for.
    Yes,
}

/// What a run of some cells would find missing, and make again.
#[derive(Debug, Default)]
pub struct Forecast {
    lacking: BTreeMap<usize, Lacking>,
}

impl Forecast {
    /// For a run of `targets`, of which those in `force` run anyway. A run that `fetches` does so with what others made in place of
    /// making it again.
    ///
    /// As in a run, a missing file matters only where somebody is about to read it, or nobody is: of the last cells and of what
    /// is exported.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn of(
        plan: &Plan,
        store: &Store,
        files: &Files,
        survey: &Survey,
        targets: &[usize],
        force: &BTreeSet<usize>,
        fetches: bool,
    ) -> Result<Self, Error> {
        let mut lacking = BTreeMap::new();
        let cells = plan.ancestors(targets);
        let mut needed: BTreeMap<usize, Remade> =
            plan.exports.iter().map(|export| (export.cell, Remade::Yes)).collect();
        let mut read = BTreeSet::new();
        // Sources stand before what reads them.
        for &index in cells.iter().rev() {
            let runs = match &survey.states[index] {
                _ if force.contains(&index) => Remade::Yes,
                CellState::Cached(record) => {
                    let wanted = if read.contains(&index) { Remade::No } else { Remade::Yes };
                    let remade = needed.get(&index).copied().unwrap_or(Remade::No).max(wanted);
                    // What nobody is about to read need not be hashed.
                    let missing = match remade {
                        Remade::No => store.missing(record, files)?,
                        Remade::Perhaps | Remade::Yes => store.unusable(record, files)?,
                    };
                    if missing.is_empty() {
                        Remade::No
                    } else if fetches && record.dropped == Some(Dropped::NotPulled) {
                        lacking.insert(index, Lacking { missing, remade: Remade::No });
                        Remade::No
                    } else {
                        lacking.insert(index, Lacking { missing, remade });
                        remade
                    }
                }
                CellState::Absent(_) => Remade::Yes,
                CellState::Open | CellState::Unread(_) | CellState::Unreadable(_) => Remade::Perhaps,
            };
            for source in sources(&plan.cells[index]) {
                read.insert(source);
                if runs > Remade::No {
                    let needed = needed.entry(source).or_insert(Remade::No);
                    *needed = runs.max(*needed);
                }
            }
        }
        let mut forecast = Forecast { lacking };
        forecast.spare_what_others_make(plan, &cells);
        Ok(forecast)
    }

    /// What lacks only content that is lacking before it too may find it there when its turn comes: whatever it waits for has
    /// made it again.
    fn spare_what_others_make(&mut self, plan: &Plan, cells: &[usize]) {
        let mut made: BTreeMap<usize, BTreeSet<Digest>> = BTreeMap::new();
        for &index in cells {
            let Some(lacking) = self.lacking.get_mut(&index).filter(|lacking| lacking.remade > Remade::No) else {
                continue;
            };
            let own: BTreeSet<Digest> = lacking.missing.iter().map(|missing| missing.digest).collect();
            let before = sources(&plan.cells[index]).filter_map(|source| made.get(&source));
            let before: BTreeSet<Digest> = before.flatten().copied().collect();
            if own.is_subset(&before) {
                lacking.remade = Remade::Perhaps;
            }
            made.insert(index, before.into_iter().chain(own).collect());
        }
    }

    /// What files of the cell's recorded result are gone, if any are.
    pub fn lacking(&self, index: usize) -> Option<&Lacking> {
        self.lacking.get(&index)
    }

    /// Whether the cell would run, or might, because files of its recorded result are gone.
    pub fn remade(&self, index: usize) -> Option<&Lacking> {
        self.lacking(index).filter(|lacking| lacking.remade > Remade::No)
    }
}

impl Lacking {
    /// What is to be said of a cell that is made again.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn cause(&self, store: &Store, record: &ActionRecord) -> Result<Cause, Error> {
        Ok(Cause::of_missing(store, record, &self.missing)?)
    }

    /// How else a cell comes by its files that is made again.
    pub fn advice(record: &ActionRecord) -> Option<String> {
        let label = quoted(&record.label.to_string());
        (record.dropped == Some(Dropped::NotPulled)).then(|| {
            format!("`cwm pull {label}` fetches them, and `cwm run --pull` does not make again what others have")
        })
    }

    /// The cause and the advice in one line.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn cause_and_advice(&self, store: &Store, record: &ActionRecord) -> Result<String, Error> {
        let advice = Lacking::advice(record).map(|advice| format!("; {advice}")).unwrap_or_default();
        Ok(format!("{}{advice}", self.cause(store, record)?))
    }

    /// What is to be said of a cell that is not.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn words(store: &Store, record: &ActionRecord) -> Result<String, Error> {
        Ok(match record.dropped {
            None => "files of its result are missing; made again when needed".to_owned(),
            Some(Dropped::Collected) => "`cwm gc` let its files go; made again when needed".to_owned(),
            Some(Dropped::NotPulled) => {
                let remote = store.not_pulled_from(record)?;
                let remote = remote.map_or_else(|| "a remote".to_owned(), |name| format!("the remote `{name}`"));
                let label = quoted(&record.label.to_string());
                format!(
                    "known from {remote}, its files not pulled; `cwm pull {label}` fetches them, `cwm run --pull` when they are needed"
                )
            }
            Some(Dropped::NotKept) => "done, and not kept (`keep: false`); made again when needed".to_owned(),
        })
    }
}
