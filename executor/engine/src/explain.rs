//! Why a cell would run, followed through what it reads down to what somebody changed.

mod reason;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::cause::Cause;
use crate::components::Resolved;
use crate::history::History;
use crate::predict::{IncompleteResult, Rebuild, RunPrediction};
use crate::reasons::{changes, differences_of, is_repinned, known_causes, previous_record, rerun_causes};
use crate::status::{CacheStatus, KeyStatus, ProjectState, describe_unread_pipe, sources};
use cwm_action::source_key;
use cwm_core::Error;
use cwm_pipeline::plan::Plan;
use cwm_store::external_files::DigestCache;
use cwm_store::{ActionRecord, Store};
pub use reason::{CellStatus, Reason};
use reason::{NAMED, join_limited};

/// How far back changed inputs are followed.
const DEPTH: usize = 64;

/// Cells that one waits for that are named; of more, how many there are.
const NEAREST: usize = 4;

/// Explains the cells of one survey.
pub struct Explainer<'a> {
    plan: &'a Plan,
    store: &'a Store,
    files: &'a DigestCache,
    known: ProjectState<'a>,
    cache_status: &'a CacheStatus,
    prediction: &'a RunPrediction,
    history: OnceCell<History>,
    /// Of all cells.
    labels: Vec<String>,
    /// The reasons of cells that others wait for.
    roots: RefCell<HashMap<usize, Option<UpstreamReason>>>,
}

/// The reason of a cell that others wait for.
#[derive(Clone, PartialEq, Eq, Hash)]
struct UpstreamReason {
    state: CellStatus,
    why: Option<String>,
}

impl<'a> Explainer<'a> {
    /// For what `cache_status` found, and a run of which `prediction` tells.
    pub fn new(
        plan: &'a Plan,
        store: &'a Store,
        files: &'a DigestCache,
        known: ProjectState<'a>,
        cache_status: &'a CacheStatus,
        prediction: &'a RunPrediction,
    ) -> Self {
        let labels = plan.cells.iter().map(|cell| cell.label.to_string()).collect();
        let roots = RefCell::default();
        Explainer { plan, store, files, known, cache_status, prediction, history: OnceCell::new(), labels, roots }
    }

    fn history(&self) -> Result<&History, Error> {
        match self.history.get() {
            Some(history) => Ok(history),
            None => {
                let history = History::read(self.store)?;
                Ok(self.history.get_or_init(|| history))
            }
        }
    }

    /// Explains a cell, and what it depends on.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn reason(&self, index: usize) -> Result<Reason, Error> {
        let mut reason = self.follow(index, DEPTH, &mut BTreeSet::new())?;
        reason.because = match reason.state {
            CellStatus::Cached
            | CellStatus::Incomplete
            | CellStatus::Collected
            | CellStatus::NotPulled
            | CellStatus::Dropped => Vec::new(),
            CellStatus::Waits => self.waiting(index, &reason)?,
            _ => reason.sentences(),
        };
        Ok(reason)
    }

    /// Why a cell that is not cached would run, or may: a sentence a cause, each followed back to what somebody changed.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn sentences(&self, index: usize) -> Result<Vec<String>, Error> {
        let reason = self.follow(index, DEPTH, &mut BTreeSet::new())?;
        if reason.state == CellStatus::Waits { self.waiting(index, &reason) } else { Ok(reason.sentences()) }
    }

    /// Its own causes, and what it waits for.
    fn waiting(&self, index: usize, reason: &Reason) -> Result<Vec<String>, Error> {
        let mut lines = reason.sentences();
        lines.extend(self.roots_of(index, reason.joined())?);
        Ok(lines)
    }

    /// What a cell waits for, and which cells behind that would run, or may, for reasons of their own: those next to it first,
    /// those of one reason together. What is `own_reason` of the cell itself is not said again of what it waits for.
    fn roots_of(&self, index: usize, own_reason: Option<String>) -> Result<Vec<String>, Error> {
        let is_open = |index: &usize| !matches!(self.cache_status.states[*index], KeyStatus::Cached(_));
        let nearest: BTreeSet<usize> = sources(&self.plan.cells[index]).filter(is_open).collect();
        let labels: Vec<&str> = nearest.iter().map(|index| self.labels[*index].as_str()).collect();
        let mut lines = vec![format!("depends on {}", join_limited(&labels, NEAREST, ", "))];
        let mut roots: Vec<(UpstreamReason, Vec<&str>)> = Vec::new();
        let mut places: HashMap<UpstreamReason, usize> = HashMap::new();
        let mut seen = nearest.clone();
        let mut front: VecDeque<usize> = nearest.into_iter().collect();
        while let Some(next) = front.pop_front() {
            front.extend(sources(&self.plan.cells[next]).filter(is_open).filter(|source| seen.insert(*source)));
            let Some(root) = self.root(next)? else { continue };
            if matches!(self.cache_status.states[next], KeyStatus::KeyUnknown) && root.why == own_reason {
                continue;
            }
            let place = *places.entry(root.clone()).or_insert(roots.len());
            if place == roots.len() {
                roots.push((root, Vec::new()));
            }
            roots[place].1.push(&self.labels[next]);
        }
        for (UpstreamReason { state, why }, cells) in roots.iter().take(NAMED) {
            let why = why.as_ref().map(|why| format!(", because {why}")).unwrap_or_default();
            lines.push(format!("{} {}{why}", join_limited(cells, NAMED, ", "), state.as_verb()));
        }
        let rest = roots.get(NAMED..).unwrap_or_default();
        if !rest.is_empty() {
            let certain = rest.iter().all(|(root, _)| root.state == CellStatus::WouldRun);
            let state = if certain { CellStatus::WouldRun } else { CellStatus::MayRun };
            let more: usize = rest.iter().map(|(_, cells)| cells.len()).sum();
            lines.push(format!("and {more} more {}", state.as_verb()));
        }
        Ok(lines)
    }

    /// Explains a cell that would run, or may, for reasons of its own; nothing of one that only waits. Asked for each
    /// cell behind it, so it is remembered.
    fn root(&self, index: usize) -> Result<Option<UpstreamReason>, Error> {
        if let Some(root) = self.roots.borrow().get(&index) {
            return Ok(root.clone());
        }
        let explained = &mut BTreeSet::new();
        let reason = match &self.cache_status.states[index] {
            KeyStatus::KeyUnknown => {
                let mut reason = self.nothing_yet(index);
                self.own(index, &mut reason, DEPTH, explained)?;
                reason
            }
            _ => self.follow(index, DEPTH, explained)?,
        };
        let why = reason.joined();
        let waits_only = reason.state == CellStatus::Waits && why.is_none();
        let root = (!waits_only).then_some(UpstreamReason { state: reason.state, why });
        self.roots.borrow_mut().insert(index, root.clone());
        Ok(root)
    }

    fn nothing_yet(&self, index: usize) -> Reason {
        Reason {
            label: self.labels[index].clone(),
            state: CellStatus::Cached,
            origin: None,
            accepted: self.cache_status.is_accepted(index),
            because: Vec::new(),
            probe: None,
            made_because: Vec::new(),
            causes: Vec::new(),
            advice: None,
            because_of: Vec::new(),
        }
    }

    /// Adds the causes that make a cell run whatever it waits for.
    fn own(
        &self,
        index: usize,
        reason: &mut Reason,
        depth: usize,
        explained: &mut BTreeSet<usize>,
    ) -> Result<(), Error> {
        reason.state = CellStatus::Waits;
        match known_causes(self.plan, index, self.cache_status, self.store, self.files, self.known) {
            Ok(causes) => reason.causes = causes,
            Err(error) => {
                reason.state = CellStatus::WouldFail;
                reason.origin = Some(error.message);
            }
        }
        self.date(&mut reason.causes)?;
        reason.because_of = self.changed_sources(index, &reason.causes, depth, explained)?;
        Ok(())
    }

    /// The same; cells that were `explained` of are not explained again.
    fn follow(&self, index: usize, depth: usize, explained: &mut BTreeSet<usize>) -> Result<Reason, Error> {
        let mut reason = self.nothing_yet(index);
        match &self.cache_status.states[index] {
            KeyStatus::Cached(record) => {
                // What was taken over did not run.
                let made_because = || if record.is_taken() { Vec::new() } else { record.cause.clone() };
                match self.prediction.incomplete(index) {
                    None => {
                        reason.origin = Some(record.origin());
                        reason.made_because = made_because();
                    }
                    Some(IncompleteResult { rebuild: Rebuild::No, .. }) => {
                        reason.state = CellStatus::without_files(record);
                        reason.origin =
                            Some(format!("{}; {}", record.origin(), IncompleteResult::describe(self.store, record)?));
                        reason.made_because = made_because();
                    }
                    Some(incomplete) => {
                        let is_certain = incomplete.rebuild == Rebuild::Yes;
                        reason.state = if is_certain { CellStatus::WouldRun } else { CellStatus::MayRun };
                        reason.causes = vec![incomplete.cause(self.store, record)?];
                        reason.advice = IncompleteResult::advice(record);
                    }
                }
            }
            KeyStatus::Absent(resolved) => {
                reason.advice = self.prediction.shared_key_note(self.plan, index);
                reason.state = if reason.advice.is_some() { CellStatus::MayRun } else { CellStatus::WouldRun };
                reason.causes = self.causes(index, resolved)?;
                reason.because_of = self.changed_sources(index, &reason.causes, depth, explained)?;
            }
            KeyStatus::KeyUnknown => {
                self.own(index, &mut reason, depth, explained)?;
                for source in sources(&self.plan.cells[index]) {
                    let is_cause = !matches!(self.cache_status.states[source], KeyStatus::Cached(_));
                    if depth > 0 && is_cause && explained.insert(source) {
                        reason.because_of.push(self.follow(source, depth - 1, explained)?);
                    }
                }
            }
            KeyStatus::PipeUnread(path) => {
                reason.state = CellStatus::MayRun;
                reason.origin = Some(describe_unread_pipe(path));
            }
            KeyStatus::Unreadable(error) => {
                reason.state = CellStatus::WouldFail;
                reason.origin = Some(error.message.clone());
            }
        }
        Ok(reason)
    }

    /// Why a cell would run, with since when its code is other code.
    fn causes(&self, index: usize, resolved: &Resolved) -> Result<Vec<Cause>, Error> {
        let mut causes = rerun_causes(self.plan, index, resolved, self.store, self.known, &|source| {
            self.cache_status.record(source)
        })?;
        // Where the lock file came from somebody else, what changed is told against the last result that was made here.
        if causes.iter().any(|cause| matches!(cause, Cause::RecordMissing { .. }))
            && self.is_of_somebody_else(index, resolved)?
            && let Some(last) = self.history()?.latest_result(&self.plan.cells[index].label)
        {
            for cause in &mut causes {
                if let Cause::RecordMissing { same: same @ Some(false) } = cause {
                    // What changed can be told, after all.
                    *same = None;
                }
            }
            causes.extend(changes(self.plan, index, &last.components, resolved, &|source| {
                self.cache_status.record(source)
            }));
        }
        self.date(&mut causes)?;
        Ok(causes)
    }

    /// Whether the lock file names another result than that of today's key, or one whose content is not here either: a store
    /// that lost the record alone has it, and nothing changed.
    fn is_of_somebody_else(&self, index: usize, resolved: &Resolved) -> Result<bool, Error> {
        let Some(line) = self.known.locked.get(&self.plan.cells[index].label) else { return Ok(false) };
        if line.key != resolved.components.key() {
            return Ok(true);
        }
        for digest in line.outputs.values() {
            if self.store.object_size(digest)?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn date(&self, causes: &mut [Cause]) -> Result<(), Error> {
        for cause in causes {
            if let Cause::Code { changes, since, .. } = cause {
                let history = self.history()?;
                *since = changes
                    .iter()
                    .map(|one| history.code_change(&one.what, one.old.as_ref(), one.new.as_ref()))
                    .collect();
            }
        }
        Ok(())
    }

    /// The cells behind changed inputs: they are done, and their results are other ones than before.
    fn changed_sources(
        &self,
        index: usize,
        causes: &[Cause],
        depth: usize,
        explained: &mut BTreeSet<usize>,
    ) -> Result<Vec<Reason>, Error> {
        let previous = previous_record(self.store, &self.plan.cells[index].label, self.known.locked)?;
        self.followed(index, causes, previous.as_ref(), depth, explained)
    }

    /// The same, where `reader` is what the cell had made before.
    fn followed(
        &self,
        index: usize,
        causes: &[Cause],
        reader: Option<&ActionRecord>,
        depth: usize,
        explained: &mut BTreeSet<usize>,
    ) -> Result<Vec<Reason>, Error> {
        let mut reasons = Vec::new();
        for cause in causes {
            // What was not read before is new whether or not it ran; nor did it for another output of it to be read.
            let Cause::Input { source, old: Some(old), new: Some(_), old_output: None, .. } = cause else { continue };
            let mut read = sources(&self.plan.cells[index]);
            let Some(source) = read.find(|read| self.plan.cells[*read].label.to_string() == *source) else { continue };
            if depth == 0 || !explained.insert(source) {
                continue;
            }
            if let KeyStatus::Cached(record) = &self.cache_status.states[source] {
                let before = self.history()?.producer(old, record);
                let ran = reader.is_none_or(|reader| reader.circumstances.started < record.circumstances.started);
                if self.is_of_another(source, record, before) {
                    continue;
                }
                let mut reason = self.ran_again(source, record, before, depth - 1, explained)?;
                if !ran || record.is_taken() {
                    reason.state = CellStatus::Differs;
                }
                reasons.push(reason);
            }
        }
        Ok(reasons)
    }

    /// Whether an input is another one because another stage is read: what was read `before` is that of a stage that is still
    /// there, or of nothing that is known.
    fn is_of_another(&self, source: usize, record: &ActionRecord, before: Option<&ActionRecord>) -> bool {
        match before {
            Some(before) => {
                let stage = &before.label.stage;
                *stage != self.plan.cells[source].label.stage
                    && self.plan.cells.iter().any(|cell| cell.label.stage == *stage)
            }
            None => record.cause == [Cause::NeverRan.to_string()],
        }
    }

    /// Why a cell that is done has another result than `before`.
    fn ran_again(
        &self,
        index: usize,
        record: &ActionRecord,
        before: Option<&ActionRecord>,
        depth: usize,
        explained: &mut BTreeSet<usize>,
    ) -> Result<Reason, Error> {
        let mut reason =
            Reason { state: CellStatus::RanAgain, origin: Some(record.origin()), ..self.nothing_yet(index) };
        match before {
            Some(before) => {
                // What was first known by its URL only has a sum since it came.
                let settled = source_key::with_checksums(&before.components, &before.fetched);
                let was = settled.as_ref().unwrap_or(&before.components);
                reason.causes = differences_of(self.plan, index, was, &record.components);
                if is_repinned(&self.plan.cells[index], before, self.known.pins) {
                    reason.causes.iter_mut().for_each(Cause::mark_repinned);
                }
                self.date(&mut reason.causes)?;
                reason.because_of = self.followed(index, &reason.causes, Some(before), depth, explained)?;
            }
            None if record.is_taken() => {}
            None => reason.made_because = record.cause.clone(),
        }
        Ok(reason)
    }
}
