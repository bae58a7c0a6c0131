//! The queue's state of the cells that jobs make, for `cwm status`.

use std::collections::HashMap;

use super::batch;
use super::queue::Queue;
use cwm_core::Key;
use cwm_store::Store;

/// The state of a cell's job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueStatus {
    /// `queued`, `running`, or `submitted` where Slurm does not answer.
    pub state: &'static str,
    /// The job with its reason or its node.
    pub detail: String,
}

/// Returns the states of all jobs that make something in this store. Slurm is queried once, and only if there are any.
pub fn query_queue(store: &Store) -> HashMap<Key, QueueStatus> {
    let mut found = HashMap::new();
    let mut queue = None;
    for batch in batch::open(store) {
        let (file, job) = (&batch.file, batch.job());
        for (index, task) in batch.open_tasks(|_| true) {
            let queue = queue.get_or_insert_with(Queue::query);
            let listed = queue.as_ref().map(|queue| queue.task(&file.id, index));
            let (state, detail) = match listed {
                Ok(Some(entry)) if entry.is_pending() => ("queued", entry.to_string()),
                Ok(Some(entry)) if entry.end().is_none() => ("running", entry.to_string()),
                Ok(_) => continue,
                Err(failed) => ("submitted", format!("from {}; Slurm does not answer ({})", file.host, failed.error)),
            };
            let by_comment = || queue.as_ref().ok()?.job(&file.id);
            let Some(job) = job.as_deref().or_else(by_comment) else { continue };
            found.insert(task.key, QueueStatus { state, detail: format!("job {job}_{index} {detail}") });
        }
    }
    found
}
