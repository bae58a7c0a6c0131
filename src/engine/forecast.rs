//! Which recorded results lack files, and which of these a run would make again: one account for a run's dry run, `status` and
//! `why`.

mod certain;

use std::collections::{BTreeMap, BTreeSet};

use crate::commands::quoted;
use crate::engine::cause::Cause;
use crate::engine::status::{CellState, Survey, sources};
use crate::error::Error;
use crate::outside::Files;
use crate::plan::Plan;
use crate::store::{ActionRecord, Dropped, Missing, OutputShape, Store};
use certain::{Candidate, Candidates, Turn};

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
    twins: BTreeMap<usize, usize>,
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
        let mut forecast = Forecast { lacking, twins: BTreeMap::new() };
        let may_run = |index: &usize| !matches!(survey.states[*index], CellState::Cached(_)) || force.contains(index);
        if forecast.lacking.values().any(|lacking| lacking.remade > Remade::No) || cells.iter().any(may_run) {
            forecast.tell_certain_apart(plan, survey, &cells, force, &read);
        }
        Ok(forecast)
    }

    /// Of what may run, what does so for certain.
    fn tell_certain_apart(
        &mut self,
        plan: &Plan,
        survey: &Survey,
        cells: &[usize],
        force: &BTreeSet<usize>,
        read: &BTreeSet<usize>,
    ) {
        let exported: BTreeSet<usize> = plan.exports.iter().map(|export| export.cell).collect();
        let candidate = |index: usize| {
            let lacking = self.lacking.get(&index).filter(|lacking| lacking.remade > Remade::No);
            let missing = lacking.map(|lacking| &lacking.missing[..]).unwrap_or_default();
            let (turn, key, is_unknown) = match &survey.states[index] {
                CellState::Cached(record) => {
                    // Of a folder without its list it is not known what is in it.
                    let is_open = |missing: &Missing| {
                        let output = record.outputs.get(&missing.output);
                        output.is_some_and(|output| {
                            output.shape == OutputShape::Folder && output.digest == missing.digest
                        })
                    };
                    let turn = if force.contains(&index) { Turn::Runs } else { Turn::Done };
                    (turn, Some(record.key), missing.iter().any(is_open))
                }
                CellState::Absent(resolved) => (Turn::Runs, Some(resolved.components.key()), true),
                CellState::Open | CellState::Unread(_) | CellState::Unreadable(_) => (Turn::Open, None, true),
            };
            let sources: BTreeSet<usize> = sources(&plan.cells[index]).collect();
            let wanted = !read.contains(&index) || exported.contains(&index);
            let lacks = missing.iter().map(|missing| missing.digest).collect();
            let log = survey.record(index).and_then(|record| record.log);
            let log = log.filter(|_| lacking.is_some() || turn == Turn::Runs);
            let sources = sources.into_iter().collect();
            (index, Candidate { turn, key, wanted, is_unknown, sources, lacks, log })
        };
        let candidates = Candidates::new(cells.iter().copied().map(candidate).collect());
        let certain = candidates.certain();
        self.twins = candidates.twins(&certain);
        for (index, lacking) in self.lacking.iter_mut().filter(|(_, lacking)| lacking.remade > Remade::No) {
            lacking.remade = if certain.contains(index) { Remade::Yes } else { Remade::Perhaps };
        }
    }

    /// What is to be said of a cell that has no result and takes what another makes, which does the same.
    pub fn shared(&self, plan: &Plan, index: usize) -> Option<String> {
        let other = &plan.cells[*self.twins.get(&index)?].label;
        Some(format!("does the same as {other}: one of them runs, for both"))
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
