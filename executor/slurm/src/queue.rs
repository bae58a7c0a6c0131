//! The queue's entries of this user's jobs, from one call of `squeue` for all of them.

use std::collections::HashMap;

use super::slurm_cli::{self, SlurmCliError};

/// The beginning of the comment of every job of ours; the id of its batch follows.
pub const MARK: &str = "cwm:";

/// The fields of a line; the comment last, since a stranger's may hold anything.
const FORMAT: &str = "%F|%K|%T|%r|%N|%k";

/// A job, or a task of an array, in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueEntry {
    /// Slurm's word: `PENDING`.
    pub state: String,
    /// The reason that it waits or ended; empty if there is none.
    pub reason: String,
    /// The node that it runs or ran on.
    pub node: String,
}

/// The phase of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobPhase {
    /// It waits, for the first time or again.
    Pending,
    /// It has a node.
    Running,
    /// It ended.
    Ended(JobEnd),
}

/// The end of a job, as the queue says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobEnd {
    /// With status 0.
    Completed,
    /// With another status, or by a signal.
    Failed,
    /// By somebody.
    Cancelled,
    /// By its time limit.
    Timeout,
    /// By its memory limit.
    OutOfMemory,
    /// Its node failed.
    NodeFail,
    /// It made room for others.
    Preempted,
    /// It could not have been finished in time.
    Deadline,
}

impl QueueEntry {
    /// Its phase. A state that this version does not know counts as alive.
    pub fn phase(&self) -> JobPhase {
        match self.state.as_str() {
            "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT" | "RESV_DEL_HOLD" => {
                JobPhase::Pending
            }
            "COMPLETED" => JobPhase::Ended(JobEnd::Completed),
            "FAILED" => JobPhase::Ended(JobEnd::Failed),
            "CANCELLED" | "REVOKED" => JobPhase::Ended(JobEnd::Cancelled),
            "TIMEOUT" => JobPhase::Ended(JobEnd::Timeout),
            "OUT_OF_MEMORY" => JobPhase::Ended(JobEnd::OutOfMemory),
            "NODE_FAIL" | "BOOT_FAIL" => JobPhase::Ended(JobEnd::NodeFail),
            "PREEMPTED" => JobPhase::Ended(JobEnd::Preempted),
            "DEADLINE" => JobPhase::Ended(JobEnd::Deadline),
            _ => JobPhase::Running,
        }
    }
}

/// `pending: Resources`, `running on cn12`, `completing on cn12`.
impl std::fmt::Display for QueueEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.state.to_lowercase().replace('_', " ");
        match (self.phase(), self.reason.as_str(), self.node.as_str()) {
            (JobPhase::Pending, reason, _) if !reason.is_empty() => write!(f, "{state}: {reason}"),
            (JobPhase::Running, _, node) if !node.is_empty() => write!(f, "{state} on {node}"),
            _ => f.write_str(&state),
        }
    }
}

/// True if a job that waits for this reason waits until somebody changes something.
pub fn needs_intervention(reason: &str) -> bool {
    const STUCK: [&str; 15] = [
        "PartitionConfig",
        "PartitionNodeLimit",
        "PartitionTimeLimit",
        "PartitionDown",
        "PartitionInactive",
        "BadConstraints",
        "JobHeldUser",
        "JobHeldAdmin",
        "InvalidAccount",
        "InvalidQOS",
        "DependencyNeverSatisfied",
        "launch failed requeued held",
        "user env retrieval failed requeued held",
        "job requeued in held state",
        "AccountNotAllowed",
    ];
    let per_job = (reason.starts_with("QOS") || reason.starts_with("Assoc")) && reason.contains("PerJob");
    STUCK.contains(&reason) || per_job
}

/// The jobs of this user, ended ones too as long as the controller remembers them.
#[derive(Debug, Default)]
pub struct Queue {
    /// By job id and index in its array.
    tasks: HashMap<(String, u32), QueueEntry>,
    /// The job id of each batch of ours, by the batch's id.
    batches: HashMap<String, String>,
    /// Jobs that are no arrays, by the batch's id.
    pub single: HashMap<String, QueueEntry>,
    /// By job id, what holds for the tasks of an array that have no line of their own: those that were cancelled before they began.
    others: HashMap<String, QueueEntry>,
    /// The batch of each job of ours that the controller knows, by the job's id.
    owners: HashMap<String, String>,
}

impl Queue {
    /// Asks the controller, once for all jobs.
    ///
    /// # Errors
    /// It gave no answer: nothing is known.
    pub fn query() -> Result<Queue, SlurmCliError> {
        slurm_cli::query("squeue", &["--me", "--noheader", "--array", "--states=all", "--format", FORMAT])
            .map(|text| Queue::read(&text))
    }

    /// Parses the answer.
    pub(super) fn read(text: &str) -> Queue {
        let mut queue = Queue::default();
        for line in text.lines() {
            let fields: Vec<&str> = line.splitn(6, '|').collect();
            let [job, index, state, reason, node, comment] = fields[..] else { continue };
            let Some(batch) = comment.trim().strip_prefix(MARK) else { continue };
            let reason = if reason == "None" { "" } else { reason };
            let entry = QueueEntry { state: state.into(), reason: reason.into(), node: node.into() };
            queue.batches.insert(batch.to_owned(), job.to_owned());
            queue.owners.insert(job.to_owned(), batch.to_owned());
            match index.parse() {
                Ok(index) => _ = queue.tasks.insert((job.to_owned(), index), entry),
                Err(_) => {
                    queue.others.insert(job.to_owned(), entry.clone());
                    queue.single.insert(batch.to_owned(), entry);
                }
            }
        }
        queue
    }

    /// A task of a batch in this job. A controller that lost all it knew gives the same ids once more, to jobs of other batches.
    pub fn task(&self, batch: &str, job: &str, index: u32) -> Option<&QueueEntry> {
        if !self.knows(batch, job) {
            return None;
        }
        self.tasks.get(&(job.to_owned(), index)).or_else(|| self.others.get(job))
    }

    /// True if anything of a job is known, while this task of it is not. A task leaves so only by being cancelled before it
    /// began: of all others Slurm keeps how they ended, at least as long as of the job.
    pub fn lacks_only(&self, batch: &str, job: &str, index: u32) -> bool {
        self.knows(batch, job) && self.task(batch, job, index).is_none()
    }

    fn knows(&self, batch: &str, job: &str) -> bool {
        self.owners.get(job).is_some_and(|owner| owner == batch)
    }

    /// The job that has this batch in its comment.
    pub fn job_of(&self, batch: &str) -> Option<&str> {
        self.batches.get(batch).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_is_read_as_squeue_writes_it() {
        let queue = Queue::read(
            "1|4|PENDING|JobArrayTaskLimit||cwm:abc\n1|0|RUNNING|None|cn12|cwm:abc\n9|N/A|PENDING|Priority||cwm:run\n\
             7|3|RUNNING|None|cn1|of|somebody\nnothing\n2|0|FAILED|NonZeroExitCode|cn1|cwm:def\n\
             3|0|COMPLETED|None|cn1|cwm:ghi\n3|N/A|CANCELLED|Resources||cwm:ghi\n",
        );
        assert_eq!((queue.job_of("abc"), queue.job_of("def"), queue.job_of("x")), (Some("1"), Some("2"), None));
        let pending = queue.task("abc", "1", 4).unwrap();
        assert_eq!((pending.phase(), pending.to_string().as_str()), (JobPhase::Pending, "pending: JobArrayTaskLimit"));
        let running = queue.task("abc", "1", 0).unwrap();
        assert_eq!((running.phase(), running.to_string().as_str()), (JobPhase::Running, "running on cn12"));
        assert_eq!(queue.task("def", "2", 0).unwrap().phase(), JobPhase::Ended(JobEnd::Failed));
        assert_eq!(queue.task("ghi", "3", 0).unwrap().phase(), JobPhase::Ended(JobEnd::Completed));
        assert_eq!(queue.task("ghi", "3", 1).unwrap().phase(), JobPhase::Ended(JobEnd::Cancelled));
        // The id of a job that the controller has forgotten, given to another one.
        assert!(
            queue.task("def", "1", 0).is_none() && !queue.lacks_only("def", "1", 9) && queue.lacks_only("abc", "1", 9)
        );
        assert!(queue.task("of", "7", 3).is_none() && queue.single.contains_key("run"));
    }

    #[test]
    fn every_state_of_slurm_is_waited_for_or_is_an_end() {
        let phase =
            |state: &str| QueueEntry { state: state.into(), reason: String::new(), node: String::new() }.phase();
        for alive in ["CONFIGURING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING", "STAGE_OUT", "NEW"]
        {
            assert_eq!(phase(alive), JobPhase::Running, "{alive}");
        }
        for waiting in ["PENDING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT"] {
            assert_eq!(phase(waiting), JobPhase::Pending, "{waiting}");
        }
        for (over, end) in [
            ("COMPLETED", JobEnd::Completed),
            ("FAILED", JobEnd::Failed),
            ("CANCELLED", JobEnd::Cancelled),
            ("TIMEOUT", JobEnd::Timeout),
            ("OUT_OF_MEMORY", JobEnd::OutOfMemory),
            ("NODE_FAIL", JobEnd::NodeFail),
            ("BOOT_FAIL", JobEnd::NodeFail),
            ("PREEMPTED", JobEnd::Preempted),
            ("DEADLINE", JobEnd::Deadline),
        ] {
            assert_eq!(phase(over), JobPhase::Ended(end), "{over}");
        }
        for reason in ["PartitionConfig", "QOSMaxGRESPerJob", "JobHeldUser", "launch failed requeued held"] {
            assert!(needs_intervention(reason), "{reason}");
        }
        assert!(!needs_intervention("Priority") && !needs_intervention("JobArrayTaskLimit"));
    }
}
