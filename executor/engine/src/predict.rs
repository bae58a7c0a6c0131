//! Predicts a run: the [`Scheduler`] of a run, with an executor that starts nothing and predicts that every cell succeeds. It
//! serves `--dry-run`, `status` and `why`.
//!
//! A decision before any cell has run is certain. A later one depends on results that are not known yet, so the cell may run. So
//! may all cells of one key but one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use crate::cause::Cause;
use crate::lookup::{RunInputs, sources};
use crate::scheduler::{CompletionKind, Decision, Effect, Event, Scheduler};
use crate::status::{CacheStatus, KeyStatus};
use cwm_core::{Error, Key, shell_quote};
use cwm_pipeline::plan::Plan;
use cwm_store::{ActionRecord, EvictionReason, MissingContent, Store};

/// A recorded result of which files are missing or damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncompleteResult {
    missing: Vec<MissingContent>,
    /// The prediction if a run rebuilds it.
    pub rebuild: Rebuild,
}

/// The prediction if a run rebuilds a result of which files are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rebuild {
    /// No cell of the run reads them.
    No,
    /// The cells that read them may be cached.
    Perhaps,
    /// A cell that runs reads them, or they are wanted themselves.
    Yes,
}

/// The prediction of a run.
#[derive(Debug, Default)]
pub struct RunPrediction {
    force: BTreeSet<usize>,
    /// Results of which files are missing.
    incomplete: BTreeMap<usize, IncompleteResult>,
    /// Cells that take the result of another cell with their key, with that cell.
    same_key: BTreeMap<usize, usize>,
    /// Cells that are not forced and depend on one that is, with that cell.
    on_forced: BTreeMap<usize, usize>,
    /// Cells that are not rebuilt and depend on one that is, or may be, with that cell.
    on_rebuilt: BTreeMap<usize, usize>,
}

/// The state of a prediction.
struct Predictor<'a> {
    inputs: RunInputs<'a>,
    cache_status: &'a CacheStatus,
    force: &'a BTreeSet<usize>,
    fetches: bool,
    scheduler: Scheduler,
    /// Cells that were submitted. None has ended before every ready cell is decided.
    submitted: Vec<usize>,
    has_begun: bool,
    on_forced: BTreeMap<usize, usize>,
    /// The missing files of the results that were looked at.
    missing: HashMap<usize, Vec<MissingContent>>,
    /// Cells whose files a reader needs.
    wanted: BTreeSet<usize>,
    /// Cells that are built again since files of them are missing. True if that was decided before any cell had run.
    needed: BTreeMap<usize, bool>,
    /// Cells that run. True if they were submitted before any cell had run.
    runs: BTreeMap<usize, bool>,
}

impl RunPrediction {
    /// Predicts a run of `targets`, of which those in `force` run anyway. A run that `fetches` does not rebuild what remotes have.
    ///
    /// As in a run, a missing file matters only where a cell is about to read it, where no cell reads it, and in exports.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn of(
        inputs: RunInputs<'_>,
        cache_status: &CacheStatus,
        targets: &[usize],
        force: &BTreeSet<usize>,
        fetches: bool,
    ) -> Result<Self, Error> {
        let cells = inputs.plan.ancestors(targets);
        let mut predictor = Predictor {
            inputs,
            cache_status,
            force,
            fetches,
            scheduler: Scheduler::new(inputs.cell_specs(&cells)),
            submitted: Vec::new(),
            has_begun: false,
            on_forced: depending_on(inputs, &cells, |index| force.contains(&index)),
            missing: HashMap::new(),
            wanted: BTreeSet::new(),
            needed: BTreeMap::new(),
            runs: BTreeMap::new(),
        };
        predictor.run()?;
        predictor.into_prediction(cells)
    }

    /// Returns true if a cell runs even if it is cached.
    pub fn is_forced(&self, index: usize) -> bool {
        self.force.contains(&index)
    }

    /// Returns the note on a cell that takes the result of another cell with its key.
    pub fn shared_key_note(&self, plan: &Plan, index: usize) -> Option<String> {
        let other = &plan.cells[*self.same_key.get(&index)?].label;
        Some(format!("does the same as {other}: one of them runs, for both"))
    }

    /// Returns the note on a cached cell that depends on a forced one.
    pub fn forced_input_note(&self, plan: &Plan, index: usize) -> Option<String> {
        let forced = &plan.cells[*self.on_forced.get(&index)?].label;
        Some(format!("depends on {forced}, which is forced: runs if that comes out differently"))
    }

    /// Returns the note on a cached cell that depends on one that is rebuilt, most often with the same result.
    pub fn rebuilt_input_note(&self, plan: &Plan, index: usize) -> Option<String> {
        let rebuilt = *self.on_rebuilt.get(&index)?;
        let verb = if self.rebuilt(rebuilt)?.rebuild == Rebuild::Yes { "is" } else { "may be" };
        Some(format!("runs if {}, which {verb} made again, comes out differently", plan.cells[rebuilt].label))
    }

    /// Returns the files of the cell's recorded result that are gone, if any are.
    pub fn incomplete(&self, index: usize) -> Option<&IncompleteResult> {
        self.incomplete.get(&index)
    }

    /// Returns the same if the cell runs, or may run, because of that.
    pub fn rebuilt(&self, index: usize) -> Option<&IncompleteResult> {
        self.incomplete(index).filter(|result| result.rebuild > Rebuild::No)
    }
}

impl Predictor<'_> {
    /// Carries out the run. Submitted cells end when no cell is left to decide.
    fn run(&mut self) -> Result<(), Error> {
        self.on(Event::Begin)?;
        while !self.submitted.is_empty() {
            self.has_begun = true;
            for cell in std::mem::take(&mut self.submitted) {
                self.on(Event::Accepted(cell))?;
                self.on(Event::Finished { cell, how: CompletionKind::Built, has_changed: false, is_fetched: false })?;
            }
        }
        Ok(())
    }

    fn on(&mut self, event: Event) -> Result<(), Error> {
        let mut events = vec![event];
        while let Some(event) = events.pop() {
            for effect in self.scheduler.on(event, Duration::ZERO) {
                match effect {
                    Effect::Decide(cell) => events.push(Event::Decided(cell, self.decide(cell)?)),
                    Effect::Submit(cell) => self.submitted.push(cell),
                    Effect::Withdraw(cell) => self.submitted.retain(|other| *other != cell),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Predicts the decision on a cell. A cell whose key is not known may run.
    fn decide(&mut self, cell: usize) -> Result<Decision, Error> {
        if let KeyStatus::Unreadable(_) = &self.cache_status.states[cell] {
            return Ok(Decision::Failed);
        }
        let key = self.cache_status.key(cell).unwrap_or_else(|| {
            // No other cell has this one.
            let mut bytes = [u8::MAX; 32];
            bytes[..8].copy_from_slice(&(cell as u64).to_le_bytes());
            Key(bytes)
        });
        if self.scheduler.is_in_flight(&key) {
            return Ok(Decision::SharesKey(key));
        }
        let is_built = self.scheduler.key(&key).is_some_and(|known| known.is_built);
        let runs = match self.cache_status.record(cell) {
            Some(record) => {
                let is_forced = self.force.contains(&cell);
                if !is_forced && self.is_wanted(cell) && self.is_rebuilt(cell, record)? {
                    self.needed.entry(cell).or_insert(!self.has_begun);
                }
                let is_needed = self.needed.contains_key(&cell);
                let is_behind_forced = !self.runs.contains_key(&cell) && self.on_forced.contains_key(&cell);
                !is_built && (is_forced || is_needed) || is_behind_forced
            }
            None => !is_built,
        };
        if !runs {
            return Ok(Decision::Hit(key));
        }
        let mut lost_inputs = Vec::new();
        for input in self.scheduler.spec(cell).inputs.clone() {
            let Some(record) = self.cache_status.record(input).filter(|_| !self.force.contains(&input)) else {
                continue;
            };
            if self.is_rebuilt(input, record)? {
                self.wanted.insert(input);
                lost_inputs.push(input);
            }
        }
        if lost_inputs.is_empty() {
            self.runs.entry(cell).or_insert(!self.has_begun);
        }
        Ok(Decision::Miss { key, lost_inputs })
    }

    /// Returns true if the files of a cell are looked at.
    fn is_wanted(&self, cell: usize) -> bool {
        let is_read = self.scheduler.is_read(cell);
        !is_read || self.wanted.contains(&cell) || self.inputs.plan.exports.iter().any(|export| export.cell == cell)
    }

    /// Returns true if files of a result are missing, which no remote has and no cell of this run has rebuilt.
    fn is_rebuilt(&mut self, cell: usize, record: &ActionRecord) -> Result<bool, Error> {
        if !self.missing.contains_key(&cell) {
            self.missing.insert(cell, self.inputs.store.missing_or_corrupt(record, self.inputs.files)?);
        }
        let is_incomplete = !self.missing[&cell].is_empty() && !self.runs.contains_key(&cell);
        Ok(is_incomplete && !(self.fetches && record.evicted == Some(EvictionReason::NotPulled)))
    }

    fn into_prediction(mut self, cells: Vec<usize>) -> Result<RunPrediction, Error> {
        let cache_status = self.cache_status;
        let mut of_key: HashMap<Key, Vec<usize>> = HashMap::new();
        for &cell in &cells {
            cache_status.key(cell).into_iter().for_each(|key| of_key.entry(key).or_default().push(cell));
        }
        let others = |cell: usize| cache_status.key(cell).map(|key| &of_key[&key][..]).unwrap_or_default();
        let is_certain = |cell: &usize| {
            let runs = self.runs_anyway(*cell) || self.needed.get(cell) == Some(&true);
            runs && (others(*cell).len() < 2 || self.runs.get(cell) == Some(&true))
        };
        let certain: BTreeSet<usize> = cells.iter().copied().filter(is_certain).collect();
        let mut same_key = BTreeMap::new();
        for &cell in cells.iter().filter(|cell| self.runs_anyway(**cell) && !certain.contains(cell)) {
            let mut running = others(cell).iter().copied().filter(|other| self.runs_anyway(*other));
            let first = running.clone().next();
            let builder = running.rfind(|other| certain.contains(other)).or(first);
            same_key.extend(builder.filter(|other| *other != cell).map(|other| (cell, other)));
        }
        let mut incomplete = BTreeMap::new();
        for &index in &cells {
            let Some(record) = cache_status.record(index).filter(|_| !self.force.contains(&index)) else { continue };
            // Files that no cell is about to read need not be hashed.
            let missing = match self.missing.remove(&index) {
                Some(missing) => missing,
                None => self.inputs.store.missing(record, self.inputs.files)?,
            };
            let rebuild = match self.needed.contains_key(&index) {
                true if certain.contains(&index) => Rebuild::Yes,
                true => Rebuild::Perhaps,
                false => Rebuild::No,
            };
            if !missing.is_empty() {
                incomplete.insert(index, IncompleteResult { missing, rebuild });
            }
        }
        let is_rebuilt =
            |index: usize| incomplete.get(&index).is_some_and(|result: &IncompleteResult| result.rebuild > Rebuild::No);
        let on_rebuilt = depending_on(self.inputs, &cells, is_rebuilt);
        Ok(RunPrediction { force: self.force.clone(), incomplete, same_key, on_forced: self.on_forced, on_rebuilt })
    }

    /// Returns true if the cell runs even if no file of its result is missing.
    fn runs_anyway(&self, cell: usize) -> bool {
        let is_absent = matches!(self.cache_status.states[cell], KeyStatus::Absent(_));
        is_absent || self.force.contains(&cell) && self.cache_status.record(cell).is_some()
    }
}

/// Returns those of `cells`, in the plan's order, that are none of `which` and depend on one of them, with the nearest one.
fn depending_on(inputs: RunInputs<'_>, cells: &[usize], which: impl Fn(usize) -> bool) -> BTreeMap<usize, usize> {
    let mut depending = BTreeMap::new();
    for &index in cells.iter().filter(|index| !which(**index)) {
        let mut near = sources(inputs.cell(index));
        let far = || sources(inputs.cell(index)).find_map(|source| depending.get(&source).copied());
        if let Some(one) = near.find(|source| which(*source)).or_else(far) {
            depending.insert(index, one);
        }
    }
    depending
}

impl IncompleteResult {
    /// Returns the cause of a cell that is built again.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn cause(&self, store: &Store, record: &ActionRecord) -> Result<Cause, Error> {
        Ok(Cause::from_missing(store, record, &self.missing)?)
    }

    /// Returns another way to the files of a cell that would be rebuilt.
    pub fn advice(record: &ActionRecord) -> Option<String> {
        let label = shell_quote(&record.label.to_string());
        (record.evicted == Some(EvictionReason::NotPulled)).then(|| {
            format!("`cwm pull {label}` fetches them, and `cwm run --pull` does not make again what others have")
        })
    }

    /// Describes a result that is not built again.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn describe(store: &Store, record: &ActionRecord) -> Result<String, Error> {
        Ok(match record.evicted {
            None => "files of its result are missing; made again when needed".to_owned(),
            Some(EvictionReason::Collected) => "`cwm gc` let its files go; made again when needed".to_owned(),
            Some(EvictionReason::NotPulled) => {
                let remote = store.remote_of_unpulled(record)?;
                let remote = remote.map_or_else(|| "a remote".to_owned(), |name| format!("the remote `{name}`"));
                let label = shell_quote(&record.label.to_string());
                format!(
                    "known from {remote}, its files not pulled; `cwm pull {label}` fetches them, `cwm run --pull` when they are needed"
                )
            }
            Some(EvictionReason::NotKept) => "done, and not kept (`keep: false`); made again when needed".to_owned(),
        })
    }
}
