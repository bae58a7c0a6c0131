//! What the run asks of remotes for its cells, and what it does with their answers.

use super::uploads::PendingUpload;
use super::{Engine, Message};
use crate::cause::Cause;
use crate::event::{Direction, EventSink, RunEvent};
use crate::fetch::{TransferUpdate, UpdateSender, UploadId, UploadItem, UploadOutcome};
use crate::scheduler::{CellState, Event};
use cwm_action::{ActionFailure, ActionFailureKind};
use cwm_core::Error;
use cwm_store::ActionRecord;

impl Engine<'_> {
    pub(super) fn fetch_records(&mut self, cell: usize) {
        let updates = self.updates();
        let keys = std::mem::take(&mut self.work_of(cell).fetch_keys);
        if let Some(key) = keys.first().copied() {
            self.fetches.fetch_records(cell, key, keys, updates);
        }
    }

    pub(super) fn fetch_files_of(&mut self, cell: usize) {
        let CellState::Fetching(key) = self.scheduler.state(cell) else { return };
        let updates = self.updates();
        let candidates = std::mem::take(&mut self.work_of(cell).candidates);
        self.fetches.fetch_files(cell, key, candidates, updates);
    }

    fn updates(&self) -> UpdateSender {
        sender(self.messages.clone())
    }

    /// Has everything uploaded that a cell reads. Returns that it is, if there is nothing to wait for.
    pub(super) fn upload_inputs(&mut self, reader: usize) -> Option<Event> {
        let resolved = self.work.get(&reader)?.resolved.as_ref()?;
        let key = resolved.components.key();
        let files = resolved.outside.values().chain(&resolved.files).chain(resolved.deps.values());
        let mut items: Vec<_> = files.map(|file| (reader, key, UploadItem::File(file.clone()))).collect();
        for source in self.scheduler.inputs(reader) {
            if let Some(record) = &self.records[*source] {
                items.push((*source, record.key, UploadItem::Result(Box::new(record.clone()))));
            }
        }
        let messages = self.messages.clone();
        let waits = self.uploads.request(reader, items, move || sender(messages.clone()));
        (!waits).then_some(Event::Uploaded(reader))
    }

    pub(super) fn on_transfer_update(&mut self, update: TransferUpdate) {
        match update {
            TransferUpdate::Records { cell, failures } => {
                failures.into_iter().for_each(|warning| self.warn_of_remote(warning));
                self.fetched(cell);
            }
            TransferUpdate::Begun { cell, direction, objects, bytes } => {
                let key = match direction {
                    Direction::Pull => self.fetches.key_of(cell),
                    Direction::Push => self.uploads.key_of(cell),
                };
                if let Some(key) = key {
                    let label = self.inputs.plan.cells[cell].label.clone();
                    self.sinks.event(&RunEvent::Transferring { label, key, direction, objects, bytes });
                }
            }
            TransferUpdate::Progress { cell, done, total } => {
                let label = self.inputs.plan.cells[cell].label.clone();
                let (total, unit) = (Some(total), "bytes".to_owned());
                self.sinks.event(&RunEvent::Progress { label, done, total, unit });
            }
            TransferUpdate::Files { cell, objects, bytes, seconds, missing, all_remotes_answered } => {
                self.fetches.files_ended(cell, &missing, all_remotes_answered);
                if let Some(key) = self.fetches.key_of(cell) {
                    let (label, direction) = (self.inputs.plan.cells[cell].label.clone(), Direction::Pull);
                    let end = RunEvent::Transferred { label, key, direction, objects, bytes, seconds, missing };
                    self.sinks.event(&end);
                }
                self.fetched(cell);
            }
            TransferUpdate::Warning(message) => self.warn_of_remote(message),
            TransferUpdate::Uploaded { item, outcome } => self.uploaded(&item, outcome),
        }
    }

    fn warn_of_remote(&mut self, message: String) {
        if self.fetches.is_new_warning(&message) {
            self.sinks.event(&RunEvent::Warning { message });
        }
    }

    fn fetched(&mut self, cell: usize) {
        if self.fetches.ended(cell).is_some() {
            self.on(Event::Fetched(cell));
        }
    }

    /// An upload has ended; cells that waited for nothing else are submitted.
    fn uploaded(&mut self, id: &UploadId, outcome: UploadOutcome) {
        let Some(PendingUpload { cell, key, waiting }) = self.uploads.ended(id) else { return };
        let label = self.inputs.plan.cells[cell].label.clone();
        let direction = Direction::Push;
        let failed = match outcome {
            UploadOutcome::Present { objects, bytes, seconds } => {
                self.uploads.is_present(id.clone());
                if objects > 0 {
                    let missing = Vec::new();
                    let end = RunEvent::Transferred { label, key, direction, objects, bytes, seconds, missing };
                    self.sinks.event(&end);
                }
                Ok(())
            }
            UploadOutcome::Unavailable => Err(self.rebuild_unavailable(cell, id).err().map(ActionFailure::from)),
            UploadOutcome::Failed(reason) => {
                let missing = vec![reason.clone()];
                let end = RunEvent::Transferred { label, key, direction, objects: 0, bytes: 0, seconds: 0.0, missing };
                self.sinks.event(&end);
                Err(Some(ActionFailure {
                    kind: ActionFailureKind::System,
                    message: format!("what its job is to read could not be sent to a remote: {reason}"),
                    hint: Some("`cwm run` tries it again; nothing is made or sent twice".to_owned()),
                }))
            }
        };
        for reader in waiting {
            match &failed {
                Ok(()) if self.uploads.is_waiting(reader) => {}
                Ok(()) => self.on(Event::Uploaded(reader)),
                Err(None) => self.on(Event::NotUploaded(reader, Some(cell))),
                Err(Some(failure)) => {
                    self.work_of(reader).failure = Some(failure.clone());
                    self.on(Event::NotUploaded(reader, None));
                }
            }
        }
    }

    /// Files of a result are neither here nor with the remote: it is built again, unless it was just built.
    fn rebuild_unavailable(&mut self, cell: usize, id: &UploadId) -> Result<(), Error> {
        // Since then it may have been invalidated, or built with another result.
        let is_done = matches!(self.scheduler.state(cell), CellState::Done(_));
        let record = self.records[cell].clone().filter(|record| is_done && UploadId::of(record) == *id);
        let Some(record): Option<ActionRecord> = record else { return Ok(()) };
        if self.scheduler.was_built(cell) {
            let label = &self.inputs.plan.cells[cell].label;
            let message = format!("files of {label} are neither here nor with the remote although it has just run");
            return Err(Error::system(message).hint("is something else deleting from the store, or from the remote?"));
        }
        let missing = self.inputs.store.missing(&record, self.inputs.files)?;
        let cause = Cause::from_missing(self.inputs.store, &record, &missing)?;
        self.guard.to_rebuild.insert(cell, cause);
        Ok(())
    }
}

/// A run that has ended listens no more.
fn sender(messages: std::sync::mpsc::Sender<Message>) -> UpdateSender {
    Box::new(move |update| drop(messages.send(Message::Transfer(update))))
}
