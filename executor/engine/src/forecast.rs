//! Which recorded results lack files, and which of these a run would make again: one account for a run's dry run, `status` and
//! `why`.

mod certain;

use std::collections::{BTreeMap, BTreeSet};

use crate::cause::Cause;
use crate::status::{CellState, Survey, sources};
use certain::{Candidate, Candidates, Turn};
use cwm_core::error::Error;
use cwm_core::text::shell_quote;
use cwm_pipeline::plan::Plan;
use cwm_store::outside::Files;
use cwm_store::{ActionRecord, Dropped, Missing, OutputShape, Store};

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
    /// Cells that are not forced and rest on one that is.
    on_forced: BTreeMap<usize, usize>,
    /// Those that are not made again and rest on one that is, or may be.
    on_remade: BTreeMap<usize, usize>,
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
        let on_forced = resting_on(plan, &cells, |index| force.contains(&index));
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
                    let runs = if missing.is_empty() {
                        Remade::No
                    } else if fetches && record.dropped == Some(Dropped::NotPulled) {
                        lacking.insert(index, Lacking { missing, remade: Remade::No });
                        Remade::No
                    } else {
                        lacking.insert(index, Lacking { missing, remade });
                        remade
                    };
                    // What is forced need not come out as it did.
                    runs.max(if on_forced.contains_key(&index) { Remade::Perhaps } else { Remade::No })
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
        let mut forecast = Forecast { lacking, twins: BTreeMap::new(), on_forced, on_remade: BTreeMap::new() };
        let may_run = |index: &usize| !matches!(survey.states[*index], CellState::Cached(_)) || force.contains(index);
        if forecast.lacking.values().any(|lacking| lacking.remade > Remade::No) || cells.iter().any(may_run) {
            forecast.tell_certain_apart(plan, survey, &cells, force, &read);
        }
        forecast.on_remade = resting_on(plan, &cells, |index| forecast.remade(index).is_some());
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
                    let may_differ = turn == Turn::Runs || self.on_forced.contains_key(&index);
                    (turn, Some(record.key), may_differ || missing.iter().any(is_open))
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

    /// What is to be said of a cell that has its result and runs if one that is forced, which it rests on, comes out differently.
    pub fn on_forced(&self, plan: &Plan, index: usize) -> Option<String> {
        let forced = &plan.cells[*self.on_forced.get(&index)?].label;
        Some(format!("depends on {forced}, which is forced: runs if that comes out differently"))
    }

    /// What is to be said beside of a cell that has its result and rests on one that is made again, most often as it was.
    pub fn on_remade(&self, plan: &Plan, index: usize) -> Option<String> {
        let remade = *self.on_remade.get(&index)?;
        let verb = if self.remade(remade)?.remade == Remade::Yes { "is" } else { "may be" };
        Some(format!("runs if {}, which {verb} made again, comes out differently", plan.cells[remade].label))
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

/// Of `cells`, in the plan's order, those that are none of `which` and rest on one of them, with that: the next one.
fn resting_on(plan: &Plan, cells: &[usize], which: impl Fn(usize) -> bool) -> BTreeMap<usize, usize> {
    let mut resting = BTreeMap::new();
    for &index in cells.iter().filter(|index| !which(**index)) {
        let mut near = sources(&plan.cells[index]);
        let far = || sources(&plan.cells[index]).find_map(|source| resting.get(&source).copied());
        if let Some(one) = near.find(|source| which(*source)).or_else(far) {
            resting.insert(index, one);
        }
    }
    resting
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
        let label = shell_quote(&record.label.to_string());
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
                let remote = store.remote_of_unpulled(record)?;
                let remote = remote.map_or_else(|| "a remote".to_owned(), |name| format!("the remote `{name}`"));
                let label = shell_quote(&record.label.to_string());
                format!(
                    "known from {remote}, its files not pulled; `cwm pull {label}` fetches them, `cwm run --pull` when they are needed"
                )
            }
            Some(Dropped::NotKept) => "done, and not kept (`keep: false`); made again when needed".to_owned(),
        })
    }
}
