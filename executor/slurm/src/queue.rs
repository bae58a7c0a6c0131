//! What the queue says of the jobs of this user, asked once for all of them.

use std::collections::HashMap;

use super::program::{Trouble, ask};

/// What begins the comment of every job of ours; the id of its batch follows.
pub const MARK: &str = "cwm:";

/// The fields of a line; the comment last, since a stranger's may hold anything.
const FORMAT: &str = "%F|%K|%T|%r|%N|%k";

/// A job, or a task of an array, in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Slurm's word: `PENDING`.
    pub state: String,
    /// Why it waits, or why it ended; empty if there is nothing to say.
    pub reason: String,
    /// Where it runs or ran.
    pub node: String,
}

/// How a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It waits, for the first time or again.
    Pending,
    /// It has a node.
    Running,
    /// It ended.
    Over(End),
}

/// How a job ended, in the queue's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
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
    /// Its node went away.
    NodeFail,
    /// It made room for others.
    Preempted,
    /// It could not have been finished in time.
    Deadline,
}

impl Entry {
    /// How it stands. What this version does not know is taken for alive.
    pub fn phase(&self) -> Phase {
        match self.state.as_str() {
            "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT" | "RESV_DEL_HOLD" => {
                Phase::Pending
            }
            "COMPLETED" => Phase::Over(End::Completed),
            "FAILED" => Phase::Over(End::Failed),
            "CANCELLED" | "REVOKED" => Phase::Over(End::Cancelled),
            "TIMEOUT" => Phase::Over(End::Timeout),
            "OUT_OF_MEMORY" => Phase::Over(End::OutOfMemory),
            "NODE_FAIL" | "BOOT_FAIL" => Phase::Over(End::NodeFail),
            "PREEMPTED" => Phase::Over(End::Preempted),
            "DEADLINE" => Phase::Over(End::Deadline),
            _ => Phase::Running,
        }
    }

    /// `pending: Resources`, `running on cn12`, `completing on cn12`.
    pub fn in_words(&self) -> String {
        let state = self.state.to_lowercase().replace('_', " ");
        match (self.phase(), self.reason.as_str(), self.node.as_str()) {
            (Phase::Pending, reason, _) if !reason.is_empty() => format!("{state}: {reason}"),
            (Phase::Running, _, node) if !node.is_empty() => format!("{state} on {node}"),
            _ => state,
        }
    }
}

/// Reasons for which a job waits until somebody changes something.
pub fn is_stuck(reason: &str) -> bool {
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

/// Reasons for which a job waits until somebody releases it: it may have run before.
pub fn is_held(reason: &str) -> bool {
    reason.starts_with("JobHeld") || reason.ends_with("requeued held") || reason == "job requeued in held state"
}

/// The jobs of this user, ended ones too as long as the controller remembers them.
#[derive(Debug, Default)]
pub struct Queue {
    /// By job id and index in its array.
    tasks: HashMap<(String, u32), Entry>,
    /// The job id of each batch of ours, by the batch's id.
    batches: HashMap<String, String>,
    /// Jobs that are no arrays, by the batch's id.
    pub single: HashMap<String, Entry>,
    /// By job id, what holds for the tasks of an array that have no line of their own: those that were cancelled before they began.
    others: HashMap<String, Entry>,
    /// The batch of each job of ours that the controller knows, by the job's id.
    owners: HashMap<String, String>,
}

impl Queue {
    /// Asks the controller, once for all jobs.
    ///
    /// # Errors
    /// It gave no answer: nothing is known.
    pub fn ask() -> Result<Queue, Trouble> {
        ask("squeue", &["--me", "--noheader", "--array", "--states=all", "--format", FORMAT])
            .map(|text| Queue::read(&text))
    }

    /// What it answered.
    pub(super) fn read(text: &str) -> Queue {
        let mut queue = Queue::default();
        for line in text.lines() {
            let fields: Vec<&str> = line.splitn(6, '|').collect();
            let [job, index, state, reason, node, comment] = fields[..] else { continue };
            let Some(batch) = comment.trim().strip_prefix(MARK) else { continue };
            let reason = if reason == "None" { "" } else { reason };
            let entry = Entry { state: state.into(), reason: reason.into(), node: node.into() };
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
    pub fn task(&self, batch: &str, job: &str, index: u32) -> Option<&Entry> {
        if !self.knows(batch, job) {
            return None;
        }
        self.tasks.get(&(job.to_owned(), index)).or_else(|| self.others.get(job))
    }

    /// The tasks of our arrays that have no node: batch, job and index.
    pub fn waiting(&self) -> impl Iterator<Item = (&str, &str, u32)> {
        let waiting = self.tasks.iter().filter(|(_, entry)| entry.phase() == Phase::Pending);
        waiting.filter_map(move |((job, index), _)| Some((self.owners.get(job)?.as_str(), job.as_str(), *index)))
    }

    /// Whether anything of a job is known, while this task of it is not. A task leaves so only by being cancelled before it
    /// began: of all others Slurm keeps how they ended, at least as long as of the job.
    pub fn lacks_just(&self, batch: &str, job: &str, index: u32) -> bool {
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
        assert_eq!((pending.phase(), pending.in_words().as_str()), (Phase::Pending, "pending: JobArrayTaskLimit"));
        let running = queue.task("abc", "1", 0).unwrap();
        assert_eq!((running.phase(), running.in_words().as_str()), (Phase::Running, "running on cn12"));
        assert_eq!(queue.task("def", "2", 0).unwrap().phase(), Phase::Over(End::Failed));
        assert_eq!(queue.task("ghi", "3", 0).unwrap().phase(), Phase::Over(End::Completed));
        assert_eq!(queue.task("ghi", "3", 1).unwrap().phase(), Phase::Over(End::Cancelled));
        // The id of a job that the controller has forgotten, given to another one.
        assert!(
            queue.task("def", "1", 0).is_none() && !queue.lacks_just("def", "1", 9) && queue.lacks_just("abc", "1", 9)
        );
        assert!(queue.task("of", "7", 3).is_none() && queue.single.contains_key("run"));
    }

    #[test]
    fn every_state_of_slurm_is_waited_for_or_is_an_end() {
        let phase = |state: &str| Entry { state: state.into(), reason: String::new(), node: String::new() }.phase();
        for alive in ["CONFIGURING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING", "STAGE_OUT", "NEW"]
        {
            assert_eq!(phase(alive), Phase::Running, "{alive}");
        }
        for waiting in ["PENDING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT"] {
            assert_eq!(phase(waiting), Phase::Pending, "{waiting}");
        }
        for (over, end) in [
            ("COMPLETED", End::Completed),
            ("FAILED", End::Failed),
            ("CANCELLED", End::Cancelled),
            ("TIMEOUT", End::Timeout),
            ("OUT_OF_MEMORY", End::OutOfMemory),
            ("NODE_FAIL", End::NodeFail),
            ("BOOT_FAIL", End::NodeFail),
            ("PREEMPTED", End::Preempted),
            ("DEADLINE", End::Deadline),
        ] {
            assert_eq!(phase(over), Phase::Over(end), "{over}");
        }
        assert!(is_stuck("PartitionConfig") && is_stuck("QOSMaxGRESPerJob") && !is_stuck("Priority"));
        for held in ["JobHeldUser", "launch failed requeued held", "job requeued in held state"] {
            assert!(is_stuck(held) && is_held(held), "{held}");
        }
        assert!(!is_held("PartitionDown"));
    }
}
