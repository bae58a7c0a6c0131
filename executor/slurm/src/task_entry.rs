//! Looks up, on the node, the task that a job is to run.

use std::path::{Path, PathBuf};

use super::batch::Batch;
use super::isolated::RemoteStoreConfig;
use cwm_action::AttemptOptions;
use cwm_core::{Error, Key};
use cwm_store::Store;

/// A task of a batch, as its job sees it.
pub struct TaskEntry {
    /// The options of the attempt.
    pub terms: AttemptOptions,
    /// The file that its messages go to.
    pub events: PathBuf,
    /// The remotes that its content comes from, if it is not the run's store.
    pub remote_store: Option<RemoteStoreConfig>,
}

/// The task of this index in a batch of the store at `root`.
///
/// # Errors
/// There is none, or it has another key.
pub fn task_entry(root: &Path, batch: &str, index: u32, key: &Key) -> Result<TaskEntry, Error> {
    let batch = Batch::read(&Store::at(root)?, batch)?;
    let task = batch.file.tasks.get(index as usize);
    let task = task.filter(|task| task.key == *key);
    let task = task.ok_or_else(|| {
        Error::internal(format!("task {index} of the batch {} is not the action {key}", batch.file.id))
    })?;
    Ok(TaskEntry {
        terms: task.terms.clone(),
        events: batch.events(index),
        remote_store: batch.file.remote_store.clone(),
    })
}
