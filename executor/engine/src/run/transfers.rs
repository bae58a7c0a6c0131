//! The requests of a run to remotes: results to fetch before they are built, and the inputs of jobs that do not share the store
//! of the run (`store = "remote"`), which a remote has before these jobs are submitted. The rest of the run continues meanwhile.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use cwm_contract::Label;

use super::{Engine, Work};
use crate::cause::Cause;
use crate::event::EventSink;
use crate::fetch::{FetchFailure, RemoteTransfers, TransferUpdate, UpdateSender, UploadId, UploadItem, UploadOutcome};
use crate::scheduler::{CellState, Event};
use cwm_action::{ActionFailure, ActionFailureKind};
use cwm_core::{Error, Key, Result};
use cwm_store::ActionRecord;

/// The remotes of a run, and the state of its requests.
pub struct Transfers {
    remotes: Option<Box<dyn RemoteTransfers>>,
    updates: UpdateSender,
    /// The last fetch of each cell, if files of the result did not come.
    pub failures: BTreeMap<usize, FetchFailure>,
    /// Warnings about remotes, each once.
    pub warnings: BTreeSet<String>,
    /// Items that the remote has.
    present: HashSet<UploadId>,
    uploading: HashMap<UploadId, PendingUpload>,
}

/// An item that is being uploaded.
struct PendingUpload {
    /// The cell that made it; of an external file, one that reads it.
    cell: usize,
    /// Cells that wait for it.
    waiting: BTreeSet<usize>,
}

impl Transfers {
    /// Makes the requests of a run. `updates` receives the answers.
    pub fn new(remotes: Option<Box<dyn RemoteTransfers>>, updates: UpdateSender) -> Self {
        let (failures, warnings, present) = Default::default();
        Transfers { remotes, updates, failures, warnings, present, uploading: HashMap::new() }
    }

    /// Returns true if results can be fetched.
    pub fn can_fetch(&self) -> bool {
        self.remotes.is_some()
    }

    /// Notes that a job has made this result of a cell, and that the remote has it.
    pub fn made_by_job(&mut self, cell: usize, record: &ActionRecord) {
        self.present.insert(UploadId::of(record));
        self.failures.remove(&cell);
    }

    /// Uploads an item for a reader, unless the remote has it. Events name the `cell` by `label` and `key`.
    fn upload(&mut self, reader: usize, cell: usize, label: Label, key: Key, item: UploadItem) {
        let id = item.id();
        let Some(remotes) = self.remotes.as_ref().filter(|_| !self.present.contains(&id)) else { return };
        let pending = self.uploading.entry(id).or_insert_with(|| {
            remotes.upload(label, key, item, self.updates.clone());
            PendingUpload { cell, waiting: BTreeSet::new() }
        });
        pending.waiting.insert(reader);
    }

    /// Returns true if the cell waits for an upload.
    fn is_waiting(&self, reader: usize) -> bool {
        self.uploading.values().any(|upload| upload.waiting.contains(&reader))
    }
}

impl Engine<'_> {
    /// Fetches what the decision on a cell noted: records of keys, or else files of results.
    pub(super) fn fetch(&mut self, cell: usize) {
        let CellState::Fetching(key) = self.scheduler.state(cell) else { return };
        let Work { fetch_keys, candidates, .. } = std::mem::take(self.work_of(cell));
        let (Some(remotes), updates) = (&self.transfers.remotes, self.transfers.updates.clone()) else { return };
        match fetch_keys.is_empty() {
            false => remotes.fetch_records(cell, fetch_keys, updates),
            true => remotes.fetch_files(cell, self.label(cell), key, candidates, updates),
        }
    }

    /// Uploads the inputs of a cell. Returns an event at once if there is nothing to wait for.
    pub(super) fn upload_inputs(&mut self, reader: usize) -> Option<Event> {
        let (action, label) = (self.work.get(&reader)?.action.as_ref()?, self.label(reader));
        for file in action.external_files() {
            self.transfers.upload(reader, reader, label.clone(), action.key, UploadItem::File(file.clone()));
        }
        for source in &self.scheduler.spec(reader).inputs {
            if let Some(record) = &self.records[*source] {
                let (label, item) = (self.label(*source), UploadItem::Result(Box::new(record.clone())));
                self.transfers.upload(reader, *source, label, record.key, item);
            }
        }
        (!self.transfers.is_waiting(reader)).then_some(Event::Uploaded(reader))
    }

    pub(super) fn on_transfer_update(&mut self, update: TransferUpdate) {
        match update {
            TransferUpdate::Emit(event) => self.sinks.event(&event),
            TransferUpdate::RecordsFetched(cell, failures) => {
                for warning in failures {
                    if self.transfers.warnings.insert(warning.clone()) {
                        self.sinks.warn(warning);
                    }
                }
                self.on(Event::Fetched(cell));
            }
            TransferUpdate::FilesFetched(cell, failure) => {
                self.transfers.failures.remove(&cell);
                self.transfers.failures.extend(failure.map(|failure| (cell, failure)));
                self.on(Event::Fetched(cell));
            }
            TransferUpdate::Uploaded(item, outcome) => self.uploaded(&item, outcome),
        }
    }

    /// Ends an upload. Cells that waited for nothing else are submitted.
    fn uploaded(&mut self, id: &UploadId, outcome: UploadOutcome) {
        let Some(PendingUpload { cell, waiting }) = self.transfers.uploading.remove(id) else { return };
        let failure = match outcome {
            UploadOutcome::Present => {
                self.transfers.present.insert(id.clone());
                for reader in waiting {
                    if !self.transfers.is_waiting(reader) {
                        self.on(Event::Uploaded(reader));
                    }
                }
                return;
            }
            // The input is built again, unless that fails.
            UploadOutcome::Unavailable => self.rebuild_unavailable(cell, id).err().map(ActionFailure::from),
            UploadOutcome::Failed(reason) => {
                let message = format!("what its job is to read could not be sent to a remote: {reason}");
                let failure = ActionFailure::new(ActionFailureKind::System, message);
                Some(failure.hint("`cwm run` tries it again; nothing is computed or sent twice"))
            }
        };
        for reader in waiting {
            if let Some(failure) = &failure {
                self.work_of(reader).failure = Some(failure.clone());
            }
            self.on(Event::NotUploaded(reader, failure.is_none().then_some(cell)));
        }
    }

    /// Has a result built again of which files are neither here nor with the remote, unless it was just built.
    fn rebuild_unavailable(&mut self, cell: usize, id: &UploadId) -> Result<()> {
        // The cell may have been invalidated, or built with another result, since the request.
        let is_done = matches!(self.scheduler.state(cell), CellState::Done { .. });
        let record = self.records[cell].as_ref().filter(|record| is_done && UploadId::of(record) == *id);
        let Some(record) = record else { return Ok(()) };
        if self.scheduler.was_built(cell) {
            let message =
                format!("files of {} are neither here nor with the remote although it has just run", self.label(cell));
            return Err(Error::system(message).hint("is something else deleting from the store, or from the remote?"));
        }
        let missing = self.inputs.store.missing(record, self.inputs.files)?;
        let cause = Cause::from_missing(self.inputs.store, record, &missing)?;
        self.guard.to_rebuild.insert(cell, cause);
        Ok(())
    }
}
