//! Explains why a cell would run, or ran again: its causes, followed through its inputs back to what changed first.

mod explanation;

use std::cell::{LazyCell, OnceCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use crate::cause::{Cause, remote_name};
use crate::find_causes::{changes, known_causes, rerun_causes};
use crate::lookup::{RunContext, input_origins, sources};
use crate::predict::CellPrediction;
use crate::status::{CacheStatus, CellStatus, KeyStatus, describe_unread_pipe};
use cwm_action::ActionFile;
use cwm_contract::Label;
use cwm_core::{Digest, Result, list_some, shell_quote};
use cwm_pipeline::plan::ArtifactOrigin;
use cwm_store::{ActionRecord, EvictionReason, Store};
pub use explanation::Explanation;

/// The most changed inputs in a row that are followed.
const DEPTH: usize = 64;

/// The most inputs without a result that a sentence names.
const NEAREST: usize = 4;

/// Names these cells, several of one stage together: `model (14 cells), bins`.
fn by_stage<'a>(labels: impl Iterator<Item = &'a Label>) -> Vec<String> {
    let mut stages: BTreeMap<&str, Vec<&Label>> = BTreeMap::new();
    labels.for_each(|label| stages.entry(&label.stage).or_default().push(label));
    let name = |(stage, labels): (&str, Vec<&Label>)| match labels[..] {
        [only] => only.to_string(),
        _ => format!("{stage} ({} cells)", labels.len()),
    };
    stages.into_iter().map(name).collect()
}

/// The records of a store, without those that cannot be read, which `cwm store verify` finds.
#[derive(Default)]
struct History {
    /// The records that made each content, in the order of their starts: thousands of cells may look them up.
    producers: HashMap<Digest, Vec<Rc<ActionRecord>>>,
    /// The last records of cells.
    latest: HashMap<Label, Rc<ActionRecord>>,
}

impl History {
    fn read(store: &Store) -> Self {
        let keys = store.keys().unwrap_or_default();
        let mut records: Vec<_> = keys.iter().filter_map(|key| store.actions(key).ok()).flatten().collect();
        records.sort_by_key(|record| record.run_info.started);
        let mut history = History::default();
        for record in records.into_iter().map(Rc::new) {
            for output in record.outputs.values() {
                history.producers.entry(output.digest).or_default().push(record.clone());
            }
            history.latest.insert(record.label.clone(), record);
        }
        history
    }

    /// Returns the last record of the stage of `label` that made `content`, of the same cell if there is one.
    fn producer(&self, content: &Digest, label: &Label) -> Option<&Rc<ActionRecord>> {
        let of_stage = self.producers.get(content)?.iter().filter(|record| record.label.stage == label.stage);
        of_stage.max_by_key(|record| (record.label == *label, record.run_info.started))
    }
}

/// Explains the cells of a plan.
pub struct Explainer<'a> {
    context: RunContext<'a>,
    cache_status: &'a CacheStatus,
    predictions: &'a [CellPrediction],
    history: OnceCell<History>,
}

impl<'a> Explainer<'a> {
    /// Explains this status of all cells, and these predictions of a run.
    pub fn new(context: RunContext<'a>, cache_status: &'a CacheStatus, predictions: &'a [CellPrediction]) -> Self {
        Explainer { context, cache_status, predictions, history: OnceCell::new() }
    }

    /// Explains a cell, and the cells that it depends on.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn explain(&self, index: usize) -> Result<Explanation> {
        let mut reason = self.follow(index, DEPTH, &mut BTreeSet::new())?;
        if !reason.state.is_cached() {
            reason.sentences = reason.sentences();
        }
        if let KeyStatus::KeyUnknown = self.cache_status.states[index] {
            reason.sentences.push(self.waits_for(index));
        }
        Ok(reason)
    }

    /// Names the cells without a result that a cell depends on.
    pub fn waits_for(&self, index: usize) -> String {
        let open = sources(self.context.cell(index)).filter(|source| self.cache_status.record(*source).is_none());
        let open: BTreeSet<usize> = open.collect();
        let labels = open.into_iter().map(|source| &self.context.cell(source).label);
        format!("depends on {}", list_some(by_stage(labels), NEAREST))
    }

    /// Explains a cell by its own causes alone.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn explain_alone(&self, index: usize) -> Result<Explanation> {
        self.follow(index, 0, &mut BTreeSet::new())
    }

    fn explanation(&self, index: usize, state: CellStatus) -> Explanation {
        let label = self.context.cell(index).label.to_string();
        Explanation { label, state, accepted: self.cache_status.is_accepted(index), ..Explanation::default() }
    }

    /// Explains a cell, and up to `depth` cells behind it. Cells that were `explained` are not explained again.
    fn follow(&self, index: usize, depth: usize, explained: &mut BTreeSet<usize>) -> Result<Explanation> {
        let CellPrediction { status, is_forced, missing, note } = &self.predictions[index];
        let mut reason = self.explanation(index, *status);
        let store = self.context.store;
        let previous = || self.context.previous_record(&self.context.cell(index).label);
        match &self.cache_status.states[index] {
            KeyStatus::Cached(record) if status.is_cached() => {
                let incomplete =
                    if *status == CellStatus::Cached { None } else { Some(describe_incomplete(store, record)?) };
                let notes = incomplete.iter().chain(note).map(|note| format!("; {note}"));
                reason.origin = Some(self.cache_status.origin(index, record) + &notes.collect::<String>());
                // A taken result did not run.
                reason.recorded_causes = if record.is_recorded_by_hand() { Vec::new() } else { record.cause.clone() };
            }
            KeyStatus::Cached(_) if missing.is_empty() => {}
            KeyStatus::Cached(record) => {
                reason.causes = vec![Cause::from_missing(store, record, missing)?];
                if record.evicted == Some(EvictionReason::NotPulled) {
                    let label = shell_quote(&record.label.to_string());
                    reason.advice = Some(format!(
                        "`cwm pull {label}` fetches them, and `cwm run --pull` does not compute again what others have"
                    ));
                }
            }
            KeyStatus::Absent(action) => {
                reason.causes = self.causes(index, action)?;
                self.follow_causes(&mut reason, index, previous()?.as_ref(), depth, explained)?;
            }
            KeyStatus::KeyUnknown => {
                match known_causes(self.context, index, self.cache_status) {
                    Ok(causes) => reason.causes = causes,
                    Err(error) => (reason.state, reason.origin) = (CellStatus::WouldFail, Some(error.message)),
                }
                self.follow_causes(&mut reason, index, previous()?.as_ref(), depth, explained)?;
                for source in sources(self.context.cell(index)) {
                    let is_cause = self.cache_status.record(source).is_none();
                    if depth > 0 && is_cause && explained.insert(source) {
                        reason.dependencies.push(self.follow(source, depth - 1, explained)?);
                    }
                }
            }
            KeyStatus::PipeUnread(path) => reason.origin = Some(describe_unread_pipe(path)),
            KeyStatus::Unreadable(error) => reason.origin = Some(error.message.clone()),
        }
        if *is_forced && reason.state != CellStatus::WouldFail {
            reason.causes.insert(0, Cause::Forced);
        }
        if !status.is_cached() {
            reason.advice = note.clone().or(reason.advice);
        }
        Ok(reason)
    }

    /// Returns the causes of a cell without a result.
    fn causes(&self, index: usize, action: &ActionFile) -> Result<Vec<Cause>> {
        let record = |source: usize| self.cache_status.record(source);
        let mut causes = rerun_causes(self.context, index, &action.components, Some(&action.key), &record)?;
        let label = &self.context.cell(index).label;
        let mut locked = self.context.lock_file.get(label).into_iter().flat_map(|line| line.outputs.values());
        // The lock file of another person: the changes are those since the last result of this store. A store that lost the
        // record alone has the objects, and nothing changed.
        if let [Cause::RecordMissing { same }, ..] = &mut causes[..]
            && (*same == Some(false) || locked.any(|digest| matches!(self.context.store.object_size(digest), Ok(None))))
            && let Some(last) = self.history().latest.get(label)
        {
            // The changes are known, after all.
            *same = same.filter(|same| *same);
            causes.extend(changes(self.context, index, last, &action.components, &record));
        }
        Ok(causes)
    }

    fn history(&self) -> &History {
        self.history.get_or_init(|| History::read(self.context.store))
    }

    /// Explains the cells behind inputs that changed since the result `reader`: they have other results than before.
    fn follow_causes(
        &self,
        reason: &mut Explanation,
        index: usize,
        reader: Option<&ActionRecord>,
        depth: usize,
        explained: &mut BTreeSet<usize>,
    ) -> Result<()> {
        let origins = LazyCell::new(|| input_origins(self.context.cell(index)));
        for cause in &reason.causes {
            // A new input, or another output of the same cell, does not mean that the source ran.
            let Cause::Input { name, label, old: Some(old), new: Some(_), old_output: None, .. } = cause else {
                continue;
            };
            let Some(&&ArtifactOrigin::Cell { index: source, .. }) = origins.get(&(name.as_str(), label.clone()))
            else {
                continue;
            };
            if depth == 0 || !explained.insert(source) {
                continue;
            }
            let Some(record) = self.cache_status.record(source) else { continue };
            // The cell may have read another stage before.
            let Some(before) = self.history().producer(old, &self.context.cell(source).label) else { continue };
            let mut changed = self.new_result(source, record, before, depth - 1, explained)?;
            let ran = reader.is_none_or(|reader| reader.run_info.started < record.run_info.started);
            if !ran || record.is_recorded_by_hand() {
                changed.state = CellStatus::Differs;
            }
            reason.dependencies.push(changed);
        }
        Ok(())
    }

    /// Explains the differences between the result `record` of a cell and the one `before`.
    fn new_result(
        &self,
        index: usize,
        record: &ActionRecord,
        before: &ActionRecord,
        depth: usize,
        explained: &mut BTreeSet<usize>,
    ) -> Result<Explanation> {
        let mut reason = Explanation { origin: Some(record.origin()), ..self.explanation(index, CellStatus::Reran) };
        let source = |source: usize| self.cache_status.record(source);
        reason.causes = changes(self.context, index, before, &record.components, &source);
        if reason.causes.is_empty() && !record.is_recorded_by_hand() {
            // The same key gave other bytes.
            reason.recorded_causes = record.cause.clone();
        }
        self.follow_causes(&mut reason, index, Some(before), depth, explained)?;
        Ok(reason)
    }
}

/// Describes a result that is not built again.
fn describe_incomplete(store: &Store, record: &ActionRecord) -> Result<String> {
    Ok(match record.evicted {
        None => "files of its result are missing; computed again when needed".to_owned(),
        Some(EvictionReason::Collected) => "`cwm store gc` deleted its files; built again when needed".to_owned(),
        Some(EvictionReason::NotPulled) => {
            let remote = remote_name(store.remote_of_unpulled(record)?.as_deref());
            let label = shell_quote(&record.label.to_string());
            format!(
                "known from {remote}, its files not pulled; `cwm pull {label}` fetches them, `cwm run --pull` when they are needed"
            )
        }
        Some(EvictionReason::NotKept) => "done, and not kept (`keep: false`); computed again when needed".to_owned(),
    })
}
