//! Predicts a run: the [`Scheduler`] of a run, driven by a loop that answers with predicted events. No executor takes part; every
//! cell that would be submitted succeeds with an unchanged result. It serves `--dry-run`, `status` and `why`.
//!
//! A decision before any cell has run is certain. A later one depends on results that are not known yet, so the cell may run. So
//! may all cells of one key but one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use cwm_contract::Label;

use crate::lookup::{RunContext, sources};
use crate::scheduler::{Decision, Effect, Event, Scheduler};
use crate::status::{CacheStatus, CellStatus, KeyStatus};
use cwm_core::{Digest, Key, Result};
use cwm_store::{ActionRecord, EvictionReason, MissingContent};

/// The prediction for a cell.
#[derive(Clone, Debug, Default)]
pub struct CellPrediction {
    /// Its status.
    pub status: CellStatus,
    /// True if it runs even if it is cached.
    pub is_forced: bool,
    /// The files of its result for which it is built again.
    pub missing: Vec<MissingContent>,
    /// A note that names the cell on which its status depends.
    pub note: Option<String>,
}

/// The state of a prediction.
struct Predictor<'a> {
    context: RunContext<'a>,
    cache_status: &'a CacheStatus,
    force: &'a BTreeSet<usize>,
    fetches: bool,
    scheduler: Scheduler,
    /// True once all cells are decided that are ready before any has run.
    has_begun: bool,
    /// Cells that are not forced and depend on one that is, with that cell.
    forced_ancestors: BTreeMap<usize, usize>,
    /// The missing files of the results that were looked at.
    missing: HashMap<usize, Vec<MissingContent>>,
    /// Cells whose files a reader needs.
    wanted: BTreeSet<usize>,
    /// Cells that are built again since files of them are missing. True if that was decided before any cell had run.
    to_rebuild: BTreeMap<usize, bool>,
    /// Cells that run. True if they were submitted before any cell had run.
    runs: BTreeMap<usize, bool>,
}

/// Predicts a run of `targets`, of which those in `force` run anyway. A run that `fetches` does not rebuild what remotes have.
/// Returns the prediction for each cell of the plan, by index.
///
/// As in a run, a missing file matters only where a cell is about to read it, where no cell reads it, and in exports.
///
/// # Errors
/// The store cannot be read.
pub fn predict(
    context: RunContext<'_>,
    cache_status: &CacheStatus,
    targets: &[usize],
    force: &BTreeSet<usize>,
    fetches: bool,
) -> Result<Vec<CellPrediction>> {
    let cells = context.plan.ancestors(targets);
    let mut predictor = Predictor {
        context,
        cache_status,
        force,
        fetches,
        scheduler: Scheduler::new(context.cell_specs(&cells)),
        has_begun: false,
        forced_ancestors: depending_on(context, &cells, |index| force.contains(&index)),
        missing: HashMap::new(),
        wanted: BTreeSet::new(),
        to_rebuild: BTreeMap::new(),
        runs: BTreeMap::new(),
    };
    predictor.run()?;
    predictor.into_predictions(cells)
}

impl Predictor<'_> {
    /// Drives the scheduler to the end. Submitted cells finish when no cell is left to decide.
    fn run(&mut self) -> Result<()> {
        // A stack: the last event is handled first.
        let (mut events, mut submitted) = (vec![Event::RunStarted], Vec::new());
        while let Some(event) = events.pop() {
            for effect in self.scheduler.on(event, Duration::ZERO) {
                match effect {
                    Effect::Decide(cell) => events.push(Event::Decided(cell, self.decide(cell)?)),
                    Effect::Submit(cell) => submitted.push(cell),
                    Effect::Withdraw(cell) => submitted.retain(|other| *other != cell),
                    _ => {}
                }
            }
            if events.is_empty() {
                self.has_begun = true;
                for cell in submitted.drain(..).rev() {
                    events.push(Event::Finished { cell, is_built: true, has_changed: false, needs_fetch: false });
                    events.push(Event::Launched(cell));
                }
            }
        }
        Ok(())
    }

    /// Predicts the decision of a run on a cell (`run/decide.rs`). A cell whose key is not known may run.
    fn decide(&mut self, cell: usize) -> Result<Decision> {
        if let KeyStatus::Unreadable(_) = &self.cache_status.states[cell] {
            return Ok(Decision::Failed);
        }
        // No other cell has the key that stands for an unknown one.
        let key = self.cache_status.key(cell).unwrap_or_else(|| Key(Digest::of(&cell.to_le_bytes()).0));
        if self.scheduler.is_in_flight(&key) {
            return Ok(Decision::SharesKey(key));
        }
        let is_built = self.scheduler.is_built(&key);
        let runs = match self.cache_status.record(cell) {
            Some(record) if !self.force.contains(&cell) => {
                let is_wanted = self.scheduler.has_final_output(cell) || self.wanted.contains(&cell);
                if is_wanted && self.is_rebuilt(cell, record)? {
                    self.to_rebuild.entry(cell).or_insert(!self.has_begun);
                }
                let depends_on_forced = self.forced_ancestors.contains_key(&cell) && !self.runs.contains_key(&cell);
                !is_built && self.to_rebuild.contains_key(&cell) || depends_on_forced
            }
            _ => !is_built,
        };
        if !runs {
            return Ok(Decision::Hit);
        }
        let mut lost_inputs = Vec::new();
        for input in self.scheduler.spec(cell).inputs.clone() {
            let Some(record) = self.cache_status.record(input).filter(|_| !self.force.contains(&input)) else {
                continue;
            };
            // Another cell of its key may have built it.
            let is_built = self.cache_status.key(input).is_some_and(|key| self.scheduler.is_built(&key));
            if !is_built && self.is_rebuilt(input, record)? {
                self.wanted.insert(input);
                lost_inputs.push(input);
            }
        }
        if lost_inputs.is_empty() {
            self.runs.entry(cell).or_insert(!self.has_begun);
        }
        Ok(Decision::Miss { key, lost_inputs })
    }

    /// Returns true if files of a result are missing, which no remote has and no cell of this run has rebuilt.
    fn is_rebuilt(&mut self, cell: usize, record: &ActionRecord) -> Result<bool> {
        if !self.missing.contains_key(&cell) {
            self.missing.insert(cell, self.context.store.missing_or_damaged(record, self.context.digests)?);
        }
        let is_incomplete = !self.missing[&cell].is_empty() && !self.runs.contains_key(&cell);
        Ok(is_incomplete && !(self.fetches && record.evicted == Some(EvictionReason::NotPulled)))
    }

    fn into_predictions(mut self, cells: Vec<usize>) -> Result<Vec<CellPrediction>> {
        let cache_status = self.cache_status;
        let mut of_key: HashMap<Key, Vec<usize>> = HashMap::new();
        for &cell in &cells {
            cache_status.key(cell).into_iter().for_each(|key| of_key.entry(key).or_default().push(cell));
        }
        let others = |cell: usize| cache_status.key(cell).map(|key| &of_key[&key][..]).unwrap_or_default();
        let is_certain = |cell: &usize| {
            let runs = self.runs_anyway(*cell) || self.to_rebuild.get(cell) == Some(&true);
            runs && (others(*cell).len() < 2 || self.runs.get(cell) == Some(&true))
        };
        let certain: BTreeSet<usize> = cells.iter().copied().filter(is_certain).collect();
        let mut predictions = vec![CellPrediction::default(); self.context.plan.cells.len()];
        for &index in &cells {
            let predicted = &mut predictions[index];
            predicted.is_forced = self.force.contains(&index);
            predicted.status = match &cache_status.states[index] {
                KeyStatus::Unreadable(_) => CellStatus::WouldFail,
                KeyStatus::Absent(_) => CellStatus::WouldRun,
                _ if predicted.is_forced => CellStatus::WouldRun,
                KeyStatus::KeyUnknown => CellStatus::Waits,
                KeyStatus::PipeUnread(_) => CellStatus::MayRun,
                KeyStatus::Cached(record) => {
                    // Files that no cell is about to read need not be hashed.
                    let missing = match self.missing.remove(&index) {
                        Some(missing) => missing,
                        None => self.context.store.missing(record, self.context.digests)?,
                    };
                    if self.to_rebuild.contains_key(&index) {
                        predicted.missing = missing;
                        if certain.contains(&index) { CellStatus::WouldRun } else { CellStatus::MayRun }
                    } else if let Some(forced) = self.forced_ancestors.get(&index) {
                        let forced = self.label(*forced);
                        let note = format!("depends on {forced}, which is forced: runs if its result changes");
                        predicted.note = Some(note);
                        CellStatus::MayRun
                    } else if missing.is_empty() {
                        CellStatus::Cached
                    } else {
                        CellStatus::without_files(record)
                    }
                }
            };
            if self.runs_anyway(index) && !certain.contains(&index) {
                let mut running = others(index).iter().copied().filter(|other| self.runs_anyway(*other));
                let first = running.clone().next();
                let builder = running.rfind(|other| certain.contains(other)).or(first);
                if let Some(other) = builder.filter(|other| *other != index) {
                    predicted.status = CellStatus::MayRun;
                    predicted.note =
                        Some(format!("does the same as {}: one of them runs, for both", self.label(other)));
                }
            }
        }
        let rebuilt_ancestors = depending_on(self.context, &cells, |index| !predictions[index].missing.is_empty());
        for (index, rebuilt) in rebuilt_ancestors {
            if !predictions[index].status.is_cached() {
                continue;
            }
            let verb = if predictions[rebuilt].status == CellStatus::WouldRun { "is" } else { "may be" };
            let note = format!("runs if {}, which {verb} computed again, has another result", self.label(rebuilt));
            predictions[index].note = Some(note);
        }
        Ok(predictions)
    }

    fn label(&self, index: usize) -> &Label {
        &self.context.cell(index).label
    }

    /// Returns true if the cell runs even if no file of its result is missing.
    fn runs_anyway(&self, cell: usize) -> bool {
        let is_absent = matches!(self.cache_status.states[cell], KeyStatus::Absent(_));
        is_absent || self.force.contains(&cell) && self.cache_status.record(cell).is_some()
    }
}

/// Returns those of `cells`, in the plan's order, that are none of `which` and depend on one of them, with the nearest one.
fn depending_on(context: RunContext<'_>, cells: &[usize], which: impl Fn(usize) -> bool) -> BTreeMap<usize, usize> {
    let mut depending = BTreeMap::new();
    for &index in cells.iter().filter(|index| !which(**index)) {
        let mut near = sources(context.cell(index));
        let far = || sources(context.cell(index)).find_map(|source| depending.get(&source).copied());
        if let Some(one) = near.find(|source| which(*source)).or_else(far) {
            depending.insert(index, one);
        }
    }
    depending
}
