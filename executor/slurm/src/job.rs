//! The process of a job, on its node.

use std::path::Path;

use super::batch::Batch;
use super::isolated;
use cwm_core::{Error, ExitCode, Key, Registry};
use cwm_store::Store;

/// Performs the action `key`, which is the task of this index in a batch of the store at `root`. The exit code is 0 when a result
/// is recorded.
///
/// # Errors
/// There is no such task, or its messages cannot be written.
pub fn exec_task(registry: &Registry, root: &Path, batch: &str, index: u32, key: &Key) -> Result<ExitCode, Error> {
    let batch = Batch::read(&Store::at(root)?, batch)?;
    let task = batch.file.tasks.get(index as usize).filter(|task| task.key == *key).ok_or_else(|| {
        Error::internal(format!("task {index} of the batch {} is not the action {key}", batch.file.id))
    })?;
    let messages = batch.messages_path(index);
    cwm_action::exec(registry, key, &task.options, Some(&messages), |process| match &batch.file.remote_store {
        None => process.perform(root, None),
        Some(config) => isolated::perform(process, root, config),
    })
}
