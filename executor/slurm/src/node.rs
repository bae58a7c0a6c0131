//! A job's own side: what it is to do, and where it tells how it goes.

use std::path::{Path, PathBuf};

use super::batch::Batch;
use crate::isolated::Away;
use cwm_action::Terms;
use cwm_core::digest::Key;
use cwm_core::error::Error;
use cwm_store::Store;

/// A task of a batch, as its job sees it.
pub struct Task {
    /// On which terms it is done.
    pub terms: Terms,
    /// Where it tells how it goes.
    pub events: PathBuf,
    /// How it comes by content, if not from the run's store.
    pub away: Option<Away>,
}

/// The task of this index in a batch of the store at `root`.
///
/// # Errors
/// There is none, or it has another key.
pub fn task(root: &Path, batch: &str, index: u32, key: &Key) -> Result<Task, Error> {
    let batch = Batch::read(&Store::at(root)?, batch)?;
    let task = batch.file.tasks.get(index as usize);
    let task = task.filter(|task| task.key == *key);
    let task = task.ok_or_else(|| {
        Error::internal(format!("task {index} of the batch {} is not the action {key}", batch.file.id))
    })?;
    Ok(Task { terms: task.terms.clone(), events: batch.events(index), away: batch.file.away.clone() })
}
