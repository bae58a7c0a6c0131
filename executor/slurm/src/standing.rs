//! What the queue says of cells that jobs are making, for those who only ask.

use std::collections::HashMap;

use super::batch;
use super::program::Trouble;
use super::queue::{Phase, Queue};
use cwm_core::digest::Key;
use cwm_store::Store;

/// How the job of a cell stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// `queued`, `running`, or `submitted` where Slurm cannot be asked.
    pub state: &'static str,
    /// The job with its reason or its node, in words.
    pub detail: String,
}

/// How the jobs stand that are making something in this store. Slurm is asked once, and only if there are any.
pub fn standings(store: &Store) -> HashMap<Key, Standing> {
    let mut open = Vec::new();
    for batch in batch::open(store) {
        let ends = batch.ends();
        let tasks = (0..).zip(&batch.file.tasks).filter(|(index, _)| !batch.is_settled(*index, &ends));
        let tasks: Vec<_> = tasks.map(|(index, task)| (index, task.key)).collect();
        if !tasks.is_empty() {
            open.push((batch.job(), batch.file.id.clone(), batch.file.host.clone(), tasks));
        }
    }
    if open.is_empty() {
        return HashMap::new();
    }
    let queue = Queue::ask();
    let mut standings = HashMap::new();
    for (job, id, host, tasks) in open {
        let job = job.or_else(|| queue.as_ref().ok()?.job_of(&id).map(str::to_owned));
        let Some(job) = job else { continue };
        for (index, key) in tasks {
            let standing = match &queue {
                Ok(queue) => match queue.task(&id, &job, index) {
                    Some(entry) if entry.phase() == Phase::Pending => "queued",
                    Some(entry) if entry.phase() == Phase::Running => "running",
                    _ => continue,
                },
                Err(_) => "submitted",
            };
            let words = match &queue {
                Ok(queue) => queue.task(&id, &job, index).map(super::queue::Entry::in_words).unwrap_or_default(),
                Err(Trouble::NotThere(_)) => format!("from {host}; Slurm cannot be asked from here"),
                Err(trouble) => format!("and Slurm does not answer ({trouble})"),
            };
            standings.insert(key, Standing { state: standing, detail: format!("job {job}_{index} {words}") });
        }
    }
    standings
}
