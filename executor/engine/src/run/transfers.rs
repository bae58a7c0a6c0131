//! The requests of a run to remotes: results to fetch before they are built, and the inputs of jobs that do not share the store
//! of the run (`store = "remote"`), which a remote has before these jobs are submitted. The rest of the run continues meanwhile.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use cwm_contract::Label;

use super::Engine;
use crate::executor::ActionRequest;
use crate::fetch::{RemoteTransfers, UploadItem};
use crate::scheduler::Event;
use crate::update::{FetchFailure, UpdateSender, UploadId};
use cwm_action::{ActionFailure, ActionFailureKind};
use cwm_core::Key;
use cwm_store::ActionRecord;

/// The remotes of a run, and the state of its requests.
#[derive(Default)]
pub struct Transfers {
    /// The remotes, and the receiver of their answers.
    remotes: Option<(Box<dyn RemoteTransfers>, UpdateSender)>,
    /// Keys whose records were requested.
    pub records_requested: HashSet<Key>,
    /// Keys whose files were requested, unless a job left a result of theirs with the remote since.
    pub files_requested: HashSet<Key>,
    /// The last fetch of each cell, if files of the result did not come.
    pub failures: BTreeMap<usize, FetchFailure>,
    /// Warnings about remotes, each once.
    pub warnings: BTreeSet<String>,
    /// Items that the remote has.
    present: HashSet<UploadId>,
    uploading: HashMap<UploadId, PendingUpload>,
    /// Jobs that are submitted when their inputs are uploaded.
    pub waiting_for_uploads: BTreeMap<usize, ActionRequest>,
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
        Transfers { remotes: remotes.map(|remotes| (remotes, updates)), ..Transfers::default() }
    }

    /// Returns true if results can be fetched.
    pub fn can_fetch(&self) -> bool {
        self.remotes.is_some()
    }

    /// Fetches the records of these keys for a cell: its own key, and those of older code.
    pub fn fetch_records(&mut self, cell: usize, keys: Vec<Key>) {
        self.records_requested.extend(keys.first());
        if let Some((remotes, updates)) = &self.remotes {
            remotes.fetch_records(cell, keys, updates.clone());
        }
    }

    /// Fetches the files of one of these results of a cell.
    pub fn fetch_files(&mut self, cell: usize, label: Label, key: Key, candidates: Vec<ActionRecord>) {
        self.files_requested.insert(key);
        if let Some((remotes, updates)) = &self.remotes {
            remotes.fetch_files(cell, label, key, candidates, updates.clone());
        }
    }

    /// Notes that a job has made this result of a cell, and that the remote has it.
    pub fn made_by_job(&mut self, cell: usize, record: &ActionRecord) {
        self.present.insert(UploadId::of(record));
        self.files_requested.remove(&record.key);
        self.failures.remove(&cell);
    }

    /// Uploads an item for a reader, unless the remote has it. Events name the `cell` by `label` and `key`.
    fn upload(&mut self, reader: usize, cell: usize, label: Label, key: Key, item: UploadItem) {
        let id = item.id();
        let Some((remotes, updates)) = self.remotes.as_ref().filter(|_| !self.present.contains(&id)) else { return };
        let pending = self.uploading.entry(id).or_insert_with(|| {
            remotes.upload(label, key, item, updates.clone());
            PendingUpload { cell, waiting: BTreeSet::new() }
        });
        pending.waiting.insert(reader);
    }
}

impl Engine<'_> {
    /// Uploads the inputs of a job, and submits it when the remote has all of them.
    pub(super) fn upload_inputs(&mut self, task: ActionRequest) {
        let (reader, key, label) = (task.cell, task.action.key, self.label(task.cell));
        for file in task.action.external_files() {
            self.transfers.upload(reader, reader, label.clone(), key, UploadItem::File(file.clone()));
        }
        for source in &self.scheduler.spec(reader).inputs {
            if let Some(record) = &self.records[*source] {
                let (label, item) = (self.label(*source), UploadItem::Result(Arc::clone(record)));
                self.transfers.upload(reader, *source, label, record.key, item);
            }
        }
        self.transfers.waiting_for_uploads.insert(reader, task);
        self.submit_ready(reader);
    }

    /// Submits a job that waits for no upload any more.
    fn submit_ready(&mut self, reader: usize) {
        let is_waiting = self.transfers.uploading.values().any(|upload| upload.waiting.contains(&reader));
        if !is_waiting && let Some(task) = self.transfers.waiting_for_uploads.remove(&reader) {
            self.executors.submit(task);
        }
    }

    pub(super) fn on_records(&mut self, cell: usize, warnings: Vec<String>) {
        for warning in warnings {
            if self.transfers.warnings.insert(warning.clone()) {
                self.sinks.warn(warning);
            }
        }
        self.on(Event::Fetched(cell));
    }

    pub(super) fn on_files(&mut self, cell: usize, failure: Option<FetchFailure>) {
        self.transfers.failures.remove(&cell);
        self.transfers.failures.extend(failure.map(|failure| (cell, failure)));
        self.on(Event::Fetched(cell));
    }

    /// Ends an upload. Jobs that waited for nothing else are submitted.
    pub(super) fn on_upload(&mut self, id: &UploadId, uploaded: Result<bool, String>) {
        let Some(PendingUpload { cell, waiting }) = self.transfers.uploading.remove(id) else { return };
        // A cell may have another result since the request.
        let is_current = self.records[cell].as_ref().is_some_and(|record| UploadId::of(record) == *id);
        let failure = match uploaded {
            Ok(true) => {
                self.transfers.present.insert(id.clone());
                return waiting.into_iter().for_each(|reader| self.submit_ready(reader));
            }
            Ok(false) if is_current && self.scheduler.was_built(cell) => {
                let label = self.label(cell);
                let message =
                    format!("files of {label} are neither in the store nor on the remote although it has just run");
                ActionFailure::new(ActionFailureKind::System, message)
                    .hint("is something else deleting from the store, or from the remote?")
            }
            Ok(false) => {
                if is_current {
                    self.lost_files.wanted.insert(cell);
                    self.on(Event::FilesLost(cell));
                }
                // Those that read an external file.
                for reader in waiting {
                    if self.transfers.waiting_for_uploads.contains_key(&reader) {
                        self.on(Event::FilesLost(reader));
                    }
                }
                return;
            }
            Err(reason) => {
                let message = format!("inputs of its job could not be uploaded: {reason}");
                ActionFailure::new(ActionFailureKind::System, message)
                    .hint("`cwm run` tries it again; nothing is computed or uploaded twice")
            }
        };
        for reader in waiting {
            if self.transfers.waiting_for_uploads.remove(&reader).is_some() {
                self.work_of(reader).failure = Some(failure.clone());
                self.on(Event::Failed { cell: reader, is_transient: false, was_stopped: false });
            }
        }
    }
}
