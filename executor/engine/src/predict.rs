//! What a run would do: the [`Scheduler`] of a run, with an executor that starts nothing and predicts that what it is given ends
//! well. One account for `--dry-run`, `status` and `why`.
//!
//! What is decided before anything has run is certain. Of what is decided later, a cell that lacks only what others may have built by
//! then, or after others of which it is not known what they will make, may run; so do those of one key but one.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

use crate::cause::Cause;
use crate::retry::RetryPolicy;
use crate::scheduler::{CellSpec, CompletionKind, Decision, Effect, Event, LostInput, Scheduler};
use crate::status::{CacheStatus, KeyStatus, sources};
use cwm_core::{Digest, Error, Key, shell_quote};
use cwm_pipeline::plan::Plan;
use cwm_store::external_files::DigestCache;
use cwm_store::{ActionRecord, EvictionReason, MissingContent, OutputShape, Store};

/// A recorded result of which files are gone, or were changed since they were stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncompleteResult {
    missing: Vec<MissingContent>,
    /// Whether a run would build it again.
    pub rebuild: Rebuild,
}

/// The prediction if a run rebuilds a result of which files are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rebuild {
    /// Nothing reads them in this run.
    No,
    /// What reads them may turn out to be cached.
    Perhaps,
    /// What reads them runs, or they are asked for.
    Yes,
}

/// The prediction of a run: results with missing files, and those that it would rebuild.
#[derive(Debug, Default)]
pub struct RunPrediction {
    incomplete: BTreeMap<usize, IncompleteResult>,
    /// Cells that take what another one makes, with that.
    same_key: BTreeMap<usize, usize>,
    /// Cells that are not forced and depend on one that is.
    on_forced: BTreeMap<usize, usize>,
    /// Those that are not built again and depend on one that is, or may be.
    on_rebuilt: BTreeMap<usize, usize>,
}

/// A run that is predicted.
struct Predictor<'a> {
    plan: &'a Plan,
    store: &'a Store,
    files: &'a DigestCache,
    cache_status: &'a CacheStatus,
    force: &'a BTreeSet<usize>,
    fetches: bool,
    scheduler: Scheduler,
    /// Cells that were submitted. None has ended before all that is ready is decided upon.
    submitted: Vec<usize>,
    has_begun: bool,
    on_forced: BTreeMap<usize, usize>,
    found: Found,
}

/// What was found of cells.
#[derive(Default)]
struct Found {
    /// What of results is missing, as far as somebody looked.
    missing: HashMap<usize, Vec<MissingContent>>,
    /// Results of which somebody needs what is missing.
    lacking: BTreeSet<usize>,
    /// Results of which that was found before anything had run.
    lost_at_once: BTreeSet<usize>,
    /// Cells that were submitted before anything had run, if they run for certain.
    ran_at_once: BTreeSet<usize>,
    /// Cells that run in this prediction.
    runs: BTreeSet<usize>,
}

impl RunPrediction {
    /// Predicts a run of `targets`, of which those in `force` run anyway. A run that `fetches` does so with what others built in
    /// place of building it again.
    ///
    /// As in a run, a missing file matters only where somebody is about to read it, or nobody is: of the last cells and of what
    /// is exported.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn of(
        plan: &Plan,
        store: &Store,
        files: &DigestCache,
        cache_status: &CacheStatus,
        targets: &[usize],
        force: &BTreeSet<usize>,
        fetches: bool,
    ) -> Result<Self, Error> {
        let cells = plan.ancestors(targets);
        let mut specs: Vec<Option<CellSpec>> = plan.cells.iter().map(|_| None).collect();
        for &index in &cells {
            let inputs: BTreeSet<usize> = sources(&plan.cells[index]).collect();
            let retry = RetryPolicy(plan.cells[index].retry);
            let inputs = inputs.into_iter().collect();
            specs[index] = Some(CellSpec { inputs, retry, needs_upload: false, outlives_run: false });
        }
        let mut predictor = Predictor {
            plan,
            store,
            files,
            cache_status,
            force,
            fetches,
            scheduler: Scheduler::new(specs),
            submitted: Vec::new(),
            has_begun: false,
            on_forced: depending_on(plan, &cells, |index| force.contains(&index)),
            found: Found::default(),
        };
        predictor.run()?;
        predictor.into_prediction(&cells)
    }

    /// Returns the note on a cell that has no result and takes what another one with its key makes.
    pub fn shared_key_note(&self, plan: &Plan, index: usize) -> Option<String> {
        let other = &plan.cells[*self.same_key.get(&index)?].label;
        Some(format!("does the same as {other}: one of them runs, for both"))
    }

    /// Returns the note on a cell that has its result and runs if one that is forced, which it depends on, comes out differently.
    pub fn forced_input_note(&self, plan: &Plan, index: usize) -> Option<String> {
        let forced = &plan.cells[*self.on_forced.get(&index)?].label;
        Some(format!("depends on {forced}, which is forced: runs if that comes out differently"))
    }

    /// Returns the note on a cell that has its result and depends on one that is built again, most often as it was.
    pub fn rebuilt_input_note(&self, plan: &Plan, index: usize) -> Option<String> {
        let rebuilt = *self.on_rebuilt.get(&index)?;
        let verb = if self.rebuilt(rebuilt)?.rebuild == Rebuild::Yes { "is" } else { "may be" };
        Some(format!("runs if {}, which {verb} made again, comes out differently", plan.cells[rebuilt].label))
    }

    /// Returns the files of the cell's recorded result that are gone, if any are.
    pub fn incomplete(&self, index: usize) -> Option<&IncompleteResult> {
        self.incomplete.get(&index)
    }

    /// The same, if the cell would run, or might, because of that.
    pub fn rebuilt(&self, index: usize) -> Option<&IncompleteResult> {
        self.incomplete(index).filter(|result| result.rebuild > Rebuild::No)
    }
}

impl Predictor<'_> {
    /// Goes through the run. What is submitted ends when nothing is left to decide upon.
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

    /// What a run finds of a cell, as far as it can be told. What cannot be told may run.
    fn decide(&mut self, cell: usize) -> Result<Decision, Error> {
        let cache_status = self.cache_status;
        let key = match &cache_status.states[cell] {
            KeyStatus::Unreadable(_) => return Ok(Decision::Failed),
            KeyStatus::Cached(record) => record.key,
            KeyStatus::Absent(resolved) => resolved.components.key(),
            // Nobody else has this one.
            KeyStatus::KeyUnknown | KeyStatus::PipeUnread(_) => {
                let mut bytes = [u8::MAX; 32];
                bytes[..8].copy_from_slice(&(cell as u64).to_le_bytes());
                Key(bytes)
            }
        };
        if self.scheduler.is_in_flight(&key) {
            return Ok(Decision::SharesKey(key));
        }
        let is_current = self.scheduler.key(&key).is_some_and(|known| known.is_current);
        let runs = match &cache_status.states[cell] {
            KeyStatus::Cached(record) => {
                let is_forced = self.force.contains(&cell);
                let is_lacking = self.found.lacking.contains(&cell)
                    || !is_forced && self.is_wanted(cell) && {
                        let is_incomplete = !self.missing(cell, record)?.is_empty();
                        is_incomplete && self.is_rebuilt(record)
                    };
                let has_run = self.found.runs.contains(&cell);
                if is_lacking {
                    self.found.lacking.insert(cell);
                }
                !is_current && (is_forced || is_lacking) || !has_run && self.on_forced.contains_key(&cell)
            }
            _ => !is_current,
        };
        if !runs {
            return Ok(Decision::Hit(key));
        }
        let lost_inputs = self.lost_inputs(cell)?;
        if lost_inputs.is_empty() {
            self.found.runs.insert(cell);
            if !self.has_begun {
                self.found.ran_at_once.insert(cell);
            }
        }
        Ok(Decision::Miss { key, lost_inputs })
    }

    /// Returns true if the files of a cell are looked at when its turn comes.
    fn is_wanted(&self, cell: usize) -> bool {
        !self.scheduler.is_read(cell) || self.plan.exports.iter().any(|export| export.cell == cell)
    }

    /// What of a result cannot be read that somebody needs. What was predicted to run is whole.
    fn missing(&mut self, cell: usize, record: &ActionRecord) -> Result<&[MissingContent], Error> {
        if !self.found.missing.contains_key(&cell) {
            self.found.missing.insert(cell, self.store.missing_or_corrupt(record, self.files)?);
        }
        Ok(if self.found.runs.contains(&cell) { &[] } else { &self.found.missing[&cell] })
    }

    /// Returns false if the files come from a remote when they are needed.
    fn is_rebuilt(&self, record: &ActionRecord) -> bool {
        !(self.fetches && record.evicted == Some(EvictionReason::NotPulled))
    }

    fn lost_inputs(&mut self, cell: usize) -> Result<Vec<LostInput>, Error> {
        let cache_status = self.cache_status;
        let mut lost = Vec::new();
        for input in self.scheduler.inputs(cell).to_vec() {
            let Some(record) = cache_status.record(input).filter(|_| !self.force.contains(&input)) else { continue };
            if self.missing(input, record)?.is_empty() || !self.is_rebuilt(record) {
                continue;
            }
            self.found.lacking.insert(input);
            if !self.has_begun {
                self.found.lost_at_once.insert(input);
            }
            lost.push(LostInput { cell: input, is_rebuilt: true });
        }
        Ok(lost)
    }

    fn into_prediction(mut self, cells: &[usize]) -> Result<RunPrediction, Error> {
        let certain = self.certain(cells);
        let mut incomplete = BTreeMap::new();
        for &index in cells {
            let Some(record) = self.cache_status.record(index).filter(|_| !self.force.contains(&index)) else {
                continue;
            };
            // What nobody is about to read need not be hashed.
            let missing = match self.found.missing.remove(&index) {
                Some(missing) => missing,
                None => self.store.missing(record, self.files)?,
            };
            let rebuild = match self.found.lacking.contains(&index) {
                true if certain.contains(&index) => Rebuild::Yes,
                true => Rebuild::Perhaps,
                false => Rebuild::No,
            };
            if !missing.is_empty() {
                incomplete.insert(index, IncompleteResult { missing, rebuild });
            }
        }
        let same_key = self.same_key(cells, &certain);
        let mut prediction = RunPrediction { incomplete, same_key, on_forced: self.on_forced, ..Default::default() };
        prediction.on_rebuilt = depending_on(self.plan, cells, |index| prediction.rebuilt(index).is_some());
        Ok(prediction)
    }

    /// The key of a cell, if it is known.
    fn key(&self, cell: usize) -> Option<Key> {
        match &self.cache_status.states[cell] {
            KeyStatus::Cached(record) => Some(record.key),
            KeyStatus::Absent(resolved) => Some(resolved.components.key()),
            KeyStatus::KeyUnknown | KeyStatus::PipeUnread(_) | KeyStatus::Unreadable(_) => None,
        }
    }

    /// Returns true if the cell runs whatever its result lacks.
    fn runs_anyway(&self, cell: usize) -> bool {
        let is_absent = matches!(self.cache_status.states[cell], KeyStatus::Absent(_));
        is_absent || self.force.contains(&cell) && self.cache_status.record(cell).is_some()
    }

    /// Of those that may run, which do for certain.
    fn certain(&self, cells: &[usize]) -> BTreeSet<usize> {
        let mut count: HashMap<Key, usize> = HashMap::new();
        cells.iter().filter_map(|cell| self.key(*cell)).for_each(|key| *count.entry(key).or_default() += 1);
        let is_alone = |cell: usize| self.key(cell).is_none_or(|key| count[&key] == 1);
        let lacks = |cell: usize| {
            let is_lacking = self.found.lacking.contains(&cell);
            let missing = self.found.missing.get(&cell).filter(|_| is_lacking);
            missing.into_iter().flatten().map(|missing| missing.digest).collect::<BTreeSet<Digest>>()
        };
        // The log of a result is content as well, and often the same for many.
        let mut makers: HashMap<Digest, usize> = HashMap::new();
        for &cell in cells {
            let mut made = lacks(cell);
            if self.found.lacking.contains(&cell) || self.runs_anyway(cell) {
                made.extend(self.cache_status.record(cell).and_then(|record| record.log));
            }
            made.into_iter().for_each(|digest| *makers.entry(digest).or_default() += 1);
        }
        let unknown: BTreeSet<usize> = cells.iter().copied().filter(|cell| self.is_unknown(*cell)).collect();
        let mut quiet_checks = 0;
        let mut is_quiet = |cell: usize| {
            quiet_checks += 1;
            unknown.is_empty() || quiet_checks <= MAX_QUIET_CHECKS && self.come_after(cell, &unknown)
        };
        let mut certain = BTreeSet::new();
        // Of those that run: whether nothing whose content is not known can have run before.
        let mut quiet: HashMap<usize, bool> = HashMap::new();
        // Sources stand before what reads them.
        let mut ordered = cells.to_vec();
        ordered.sort_unstable();
        for cell in ordered.into_iter().rev() {
            let readers = self.scheduler.dependents(cell);
            let for_readers = readers.iter().any(|reader| quiet.get(reader).is_some_and(|quiet| *quiet));
            let is_lacking = self.found.lacking.contains(&cell);
            let is_known = is_lacking || self.runs_anyway(cell);
            let runs = match () {
                () if is_known && self.found.ran_at_once.contains(&cell) => true,
                () if self.found.lost_at_once.contains(&cell) && is_alone(cell) => true,
                () if self.runs_anyway(cell) => is_alone(cell),
                () if is_lacking && is_alone(cell) => {
                    let has_own = lacks(cell).iter().any(|digest| makers[digest] == 1);
                    has_own && (for_readers || self.is_wanted(cell) && is_quiet(cell))
                }
                () => false,
            };
            if runs {
                certain.insert(cell);
                quiet.insert(cell, for_readers || is_quiet(cell));
            }
        }
        certain
    }

    /// Returns true if the cell may run, and the content that it would make is not known.
    fn is_unknown(&self, cell: usize) -> bool {
        match &self.cache_status.states[cell] {
            KeyStatus::Cached(record) => {
                // Of a folder without its list it is not known what is in it.
                let is_open = |missing: &MissingContent| {
                    let output = record.outputs.get(&missing.output);
                    output.is_some_and(|output| output.shape == OutputShape::Folder && output.digest == missing.digest)
                };
                let missing = self.found.missing.get(&cell).filter(|_| self.found.lacking.contains(&cell));
                let is_changed = self.force.contains(&cell) || self.on_forced.contains_key(&cell);
                is_changed || missing.is_some_and(|missing| missing.iter().any(is_open))
            }
            _ => true,
        }
    }

    /// Returns true if all of `others` are the cell itself or come after it.
    fn come_after(&self, cell: usize, others: &BTreeSet<usize>) -> bool {
        let mut left = others.clone();
        let (mut front, mut seen) = (vec![cell], HashSet::from([cell]));
        while let Some(next) = front.pop() {
            left.remove(&next);
            front.extend(self.scheduler.dependents(next).iter().filter(|reader| seen.insert(**reader)));
        }
        left.is_empty()
    }

    /// Of those that would run and are not `certain` since others have their key, which of these.
    fn same_key(&self, cells: &[usize], certain: &BTreeSet<usize>) -> BTreeMap<usize, usize> {
        let mut count: HashMap<Key, usize> = HashMap::new();
        cells.iter().filter_map(|cell| self.key(*cell)).for_each(|key| *count.entry(key).or_default() += 1);
        let mut ordered = cells.to_vec();
        ordered.sort_unstable();
        let shares = |cell: &usize| self.runs_anyway(*cell) && self.key(*cell).is_some_and(|key| count[&key] > 1);
        ordered.retain(shares);
        let mut first: HashMap<Option<Key>, usize> = HashMap::new();
        for &cell in &ordered {
            let one = first.entry(self.key(cell)).or_insert(cell);
            if certain.contains(&cell) {
                *one = cell;
            }
        }
        let uncertain = ordered.into_iter().filter(|cell| !certain.contains(cell));
        uncertain.map(|cell| (cell, first[&self.key(cell)])).filter(|(cell, one)| cell != one).collect()
    }
}

/// Cells of which is looked for what may run before them; of more, anything may.
const MAX_QUIET_CHECKS: usize = 200;

/// Of `cells`, in the plan's order, those that are none of `which` and depend on one of them, with that: the next one.
fn depending_on(plan: &Plan, cells: &[usize], which: impl Fn(usize) -> bool) -> BTreeMap<usize, usize> {
    let mut depending = BTreeMap::new();
    for &index in cells.iter().filter(|index| !which(**index)) {
        let mut near = sources(&plan.cells[index]);
        let far = || sources(&plan.cells[index]).find_map(|source| depending.get(&source).copied());
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

    /// How else a cell comes by its files that is built again.
    pub fn advice(record: &ActionRecord) -> Option<String> {
        let label = shell_quote(&record.label.to_string());
        (record.evicted == Some(EvictionReason::NotPulled)).then(|| {
            format!("`cwm pull {label}` fetches them, and `cwm run --pull` does not make again what others have")
        })
    }

    /// The cause and the advice in one line.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn cause_and_advice(&self, store: &Store, record: &ActionRecord) -> Result<String, Error> {
        let advice = IncompleteResult::advice(record).map(|advice| format!("; {advice}")).unwrap_or_default();
        Ok(format!("{}{advice}", self.cause(store, record)?))
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
