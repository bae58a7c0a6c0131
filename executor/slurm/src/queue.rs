//! The queue's entries of this user's jobs, from one call of `squeue` for all of them.

use std::collections::HashMap;

use super::slurm_cli::{self, SlurmError};

/// The beginning of the comment of every job of ours; the id of its batch follows.
pub const COMMENT_PREFIX: &str = "cwm:";

/// The fields of a line; the comment last, since a stranger's may hold anything.
const FORMAT: &str = "%F|%K|%T|%r|%N|%k";

/// The state of a task of which the queue has no line. It is no word of Slurm.
const REMOVED: &str = "REMOVED";

/// A job, or a task of an array, in the queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueEntry {
    /// Slurm's word: `PENDING`.
    pub state: String,
    /// The reason that it waits or ended; empty if there is none.
    pub reason: String,
    /// The node that it runs or ran on.
    pub node: String,
}

/// The end of a job, as the queue reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobEnd {
    /// The job ended with status 0.
    Completed,
    /// The job ended with another status, or by a signal.
    Failed,
    /// It was cancelled by somebody, or by Slurm because of its deadline.
    Cancelled,
    /// It reached its time limit.
    Timeout,
    /// It reached its memory limit.
    OutOfMemory,
    /// Its node failed.
    NodeFail,
    /// It made room for others.
    Preempted,
    /// The queue lists the job, but not this task of it: it was cancelled before it began. Of all other tasks Slurm keeps the
    /// end as long as the job.
    Removed,
}

impl QueueEntry {
    /// Returns true if it waits, for the first time or again.
    pub fn is_pending(&self) -> bool {
        let waits = ["PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"];
        waits.contains(&self.state.as_str())
    }

    /// Returns its end; nothing while it waits or has a node. A state unknown to this version is none.
    pub fn end(&self) -> Option<JobEnd> {
        Some(match self.state.as_str() {
            "COMPLETED" => JobEnd::Completed,
            "FAILED" => JobEnd::Failed,
            "CANCELLED" | "REVOKED" | "DEADLINE" => JobEnd::Cancelled,
            "TIMEOUT" => JobEnd::Timeout,
            "OUT_OF_MEMORY" => JobEnd::OutOfMemory,
            "NODE_FAIL" | "BOOT_FAIL" => JobEnd::NodeFail,
            "PREEMPTED" => JobEnd::Preempted,
            REMOVED => JobEnd::Removed,
            _ => return None,
        })
    }
}

/// `pending: Resources`, `running on cn12`, `completing on cn12`.
impl std::fmt::Display for QueueEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.state.to_lowercase().replace('_', " ");
        match (self.is_pending(), self.end()) {
            (true, _) if !self.reason.is_empty() => write!(f, "{state}: {}", self.reason),
            (false, None) if !self.node.is_empty() => write!(f, "{state} on {}", self.node),
            _ => f.write_str(&state),
        }
    }
}

/// The jobs of this user's batches, by batch. Ended ones are there as long as the controller remembers them.
#[derive(Debug, Default)]
pub struct Queue(HashMap<String, QueuedBatch>);

/// The job of a batch, in the queue.
#[derive(Debug, Default)]
struct QueuedBatch {
    job: String,
    tasks: HashMap<u32, QueueEntry>,
    /// The entry of a job that is no array; of an array, that of the tasks without a line of their own, which were cancelled
    /// before they began.
    rest: Option<QueueEntry>,
}

impl Queue {
    /// Queries the controller, once for all jobs.
    ///
    /// # Errors
    /// It gave no answer: nothing is known.
    pub fn query() -> Result<Queue, SlurmError> {
        let arguments = ["--me", "--noheader", "--array", "--states=all", "--format", FORMAT];
        slurm_cli::query("squeue", &arguments).map(|text| Queue::parse(&text))
    }

    fn parse(text: &str) -> Queue {
        let mut queue = Queue::default();
        for line in text.lines() {
            let fields: Vec<&str> = line.splitn(6, '|').collect();
            let [job, index, state, reason, node, comment] = fields[..] else { continue };
            let Some(batch) = comment.trim().strip_prefix(COMMENT_PREFIX) else { continue };
            let reason = if reason == "None" { "" } else { reason };
            let entry = QueueEntry { state: state.into(), reason: reason.into(), node: node.into() };
            let queued = queue.0.entry(batch.to_owned()).or_default();
            queued.job = job.to_owned();
            match index.parse() {
                Ok(index) => _ = queued.tasks.insert(index, entry),
                Err(_) => queued.rest = Some(entry),
            }
        }
        queue
    }

    /// Returns the job of a batch.
    pub fn job(&self, batch: &str) -> Option<&str> {
        self.0.get(batch).map(|queued| queued.job.as_str())
    }

    /// Returns the entry of a task; nothing if the job is not listed. A task that alone is not listed is [`JobEnd::Removed`].
    pub fn task(&self, batch: &str, index: u32) -> Option<QueueEntry> {
        let queued = self.0.get(batch)?;
        let listed = queued.tasks.get(&index).or(queued.rest.as_ref()).cloned();
        Some(listed.unwrap_or_else(|| QueueEntry { state: REMOVED.into(), ..QueueEntry::default() }))
    }

    /// Returns true if the job of this batch, which is no array, waits or runs.
    pub fn is_alive(&self, batch: &str) -> bool {
        let entry = self.0.get(batch).and_then(|queued| queued.rest.as_ref());
        entry.is_some_and(|entry| entry.end().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_is_read_as_squeue_writes_it() {
        let queue = Queue::parse(
            "1|4|PENDING|JobArrayTaskLimit||cwm:abc\n1|0|RUNNING|None|cn12|cwm:abc\n9|N/A|PENDING|Priority||cwm:run\n\
             7|3|RUNNING|None|cn1|of|somebody\nnothing\n2|0|FAILED|NonZeroExitCode|cn1|cwm:def\n\
             3|0|COMPLETED|None|cn1|cwm:ghi\n3|N/A|CANCELLED|Resources||cwm:ghi\n",
        );
        assert_eq!((queue.job("abc"), queue.job("def"), queue.job("x")), (Some("1"), Some("2"), None));
        let task = |batch, index| queue.task(batch, index).unwrap();
        let pending = task("abc", 4);
        assert!(pending.is_pending() && pending.end().is_none());
        assert_eq!(pending.to_string(), "pending: JobArrayTaskLimit");
        let running = task("abc", 0);
        assert!(!running.is_pending() && running.end().is_none());
        assert_eq!(running.to_string(), "running on cn12");
        assert_eq!(task("abc", 9).end(), Some(JobEnd::Removed));
        assert_eq!(task("def", 0).end(), Some(JobEnd::Failed));
        assert_eq!(task("ghi", 0).end(), Some(JobEnd::Completed));
        assert_eq!(task("ghi", 1).end(), Some(JobEnd::Cancelled));
        assert!(queue.task("somebody", 3).is_none() && queue.task("of", 3).is_none());
        assert!(queue.is_alive("run") && !queue.is_alive("abc"));
    }

    #[test]
    fn every_state_of_slurm_is_waited_for_or_is_an_end() {
        let entry = |state: &str| QueueEntry { state: state.into(), ..QueueEntry::default() };
        for alive in ["CONFIGURING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING", "STAGE_OUT", "NEW"]
        {
            assert!(!entry(alive).is_pending() && entry(alive).end().is_none(), "{alive}");
        }
        for waiting in ["PENDING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT"] {
            assert!(entry(waiting).is_pending() && entry(waiting).end().is_none(), "{waiting}");
        }
        for (over, end) in [
            ("COMPLETED", JobEnd::Completed),
            ("FAILED", JobEnd::Failed),
            ("CANCELLED", JobEnd::Cancelled),
            ("DEADLINE", JobEnd::Cancelled),
            ("TIMEOUT", JobEnd::Timeout),
            ("OUT_OF_MEMORY", JobEnd::OutOfMemory),
            ("NODE_FAIL", JobEnd::NodeFail),
            ("BOOT_FAIL", JobEnd::NodeFail),
            ("PREEMPTED", JobEnd::Preempted),
        ] {
            assert!(!entry(over).is_pending() && entry(over).end() == Some(end), "{over}");
        }
    }
}
