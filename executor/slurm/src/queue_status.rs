//! The queue's state of the cells that jobs make, for `cwm status`.

use std::collections::HashMap;

use super::batch;
use super::queue::{JobPhase, Queue};
use super::slurm_cli::SlurmCliError;
use cwm_core::Key;
use cwm_store::Store;

/// The state of a cell's job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueStatus {
    /// `queued`, `running`, or `submitted` where Slurm does not answer.
    pub state: &'static str,
    /// The job with its reason or its node, in words.
    pub detail: String,
}

/// The states of all jobs that make something in this store. Slurm is queried once, and only if there are any.
pub fn query_queue(store: &Store) -> HashMap<Key, QueueStatus> {
    let mut open = Vec::new();
    for batch in batch::open(store) {
        let ends = batch.ends();
        let tasks = (0..).zip(&batch.file.tasks).filter(|(index, _)| !batch.has_ended(*index, &ends));
        let tasks: Vec<_> = tasks.map(|(index, task)| (index, task.key)).collect();
        if !tasks.is_empty() {
            open.push((batch.job(), batch.file.id.clone(), batch.file.host.clone(), tasks));
        }
    }
    if open.is_empty() {
        return HashMap::new();
    }
    let queue = Queue::query();
    let mut found = HashMap::new();
    for (job, id, host, tasks) in open {
        let job = job.or_else(|| queue.as_ref().ok()?.job_of(&id).map(str::to_owned));
        let Some(job) = job else { continue };
        for (index, key) in tasks {
            let state = match &queue {
                Ok(queue) => match queue.task(&id, &job, index) {
                    Some(entry) if entry.phase() == JobPhase::Pending => "queued",
                    Some(entry) if entry.phase() == JobPhase::Running => "running",
                    _ => continue,
                },
                Err(_) => "submitted",
            };
            let words = match &queue {
                Ok(queue) => queue.task(&id, &job, index).map(ToString::to_string).unwrap_or_default(),
                Err(SlurmCliError::NotInstalled(_)) => format!("from {host}; Slurm cannot be asked from here"),
                Err(error) => format!("and Slurm does not answer ({error})"),
            };
            found.insert(key, QueueStatus { state, detail: format!("job {job}_{index} {words}") });
        }
    }
    found
}
