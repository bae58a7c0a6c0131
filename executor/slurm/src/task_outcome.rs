//! Decides what follows from what is known of a task: it succeeded, it failed, it is waited for, or it is submitted again.

use std::time::Duration;

use super::job_output::{end_in_output, exceeded_memory, last_line, only_from_slurm, setup_exit_status};
use super::queue::{JobEnd, JobPhase, QueueEntry};
use cwm_action::{ActionFailure, ActionFailureKind, ActionMessage, ActionOutcome, out_of_memory};

/// The conclusion from all that is known of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskOutcome {
    /// Nothing yet.
    Wait,
    /// Its result is recorded in the store or, of a check, was reported.
    Succeeded,
    /// It failed.
    Failed(ActionFailure),
    /// It was lost through no fault of its own, and is submitted again.
    Resubmit {
        /// The reason, in words.
        reason: String,
        /// True if this counts against the limit of resubmissions.
        counts: bool,
    },
}

/// All that is known of a task.
#[derive(Debug)]
pub struct TaskObservation<'e> {
    /// True if the queue lists other tasks of its job and not this one. That happens only to a task that was cancelled while it
    /// was pending; neither `squeue --states=all` nor `scontrol show job` says so.
    pub removed_from_queue: bool,
    /// The task as Slurm names it: `17_3`.
    pub job: &'e str,
    /// The end that it reported, if it has not started again since, and how long ago that was read.
    pub reported_end: Option<(&'e ActionMessage, Duration)>,
    /// True if it ever reported anything.
    pub has_reported: bool,
    /// Its entry in the last answer of the queue; nothing if it is not listed.
    pub entry: Option<&'e QueueEntry>,
    /// The time for which the queue has called it ended, or has not listed it; nothing while it is alive, or before the first
    /// answer.
    pub gone_for: Option<Duration>,
    /// The time for which a network file system may hide files of other nodes.
    pub visibility_timeout: Duration,
    /// True if the result is only compared, so that nothing of it is recorded.
    pub check: bool,
    /// The resources that it requested, in words.
    pub request: &'e str,
}

impl TaskObservation<'_> {
    /// Concludes. `recorded` looks into the store; `output` reads the job's output file, which Slurm makes before anything
    /// else of the job.
    pub fn outcome(&self, recorded: impl FnOnce() -> bool, output: impl FnOnce() -> Option<String>) -> TaskOutcome {
        match self.reported_end {
            Some((ActionMessage::Outcome(Ok(ActionOutcome::Comparison(_))), _)) => return TaskOutcome::Succeeded,
            Some((ActionMessage::Outcome(Ok(_)), age)) => {
                return self.outcome_of_reported_success(recorded(), age);
            }
            Some((ActionMessage::Outcome(Err(failure)), _)) if failure.kind != ActionFailureKind::Cancelled => {
                return TaskOutcome::Failed(self.with_memory_evidence(failure.clone(), output));
            }
            _ => {}
        }
        let Some(gone_for) = self.gone_for else { return TaskOutcome::Wait };
        let phase = self.entry.map(QueueEntry::phase);
        let was_stopped = self.reported_end.is_some();
        // It may have succeeded, with its last message lost or not visible yet.
        if !self.check && !was_stopped && self.can_have_recorded(phase) && recorded() {
            return TaskOutcome::Succeeded;
        }
        let is_final = match phase {
            // Its last messages, or even its first ones, may not be visible yet.
            Some(JobPhase::Ended(JobEnd::Completed)) | None => false,
            Some(JobPhase::Ended(JobEnd::Failed)) => was_stopped,
            Some(_) => was_stopped || !self.has_reported,
        };
        if !is_final && gone_for < self.visibility_timeout {
            return TaskOutcome::Wait;
        }
        let end = match phase {
            Some(JobPhase::Ended(end)) => Some(end),
            // It is alive after all.
            Some(_) => return TaskOutcome::Wait,
            None => None,
        };
        let output = output();
        let never_began = !self.has_reported && !was_stopped && output.is_none();
        let end = end.or_else(|| (self.removed_from_queue && never_began).then_some(JobEnd::Cancelled));
        self.outcome_of_end(end, was_stopped, &output.unwrap_or_default())
    }

    /// True if there may be a result. There is none of a task that never reported anything and that Slurm ended early; one that
    /// was cancelled may have been cancelled because its result exists.
    fn can_have_recorded(&self, phase: Option<JobPhase>) -> bool {
        let can = [JobEnd::Completed, JobEnd::Failed, JobEnd::NodeFail, JobEnd::Cancelled].map(JobPhase::Ended);
        self.has_reported || phase.is_none_or(|phase| can.contains(&phase))
    }

    fn outcome_of_reported_success(&self, recorded: bool, age: Duration) -> TaskOutcome {
        if recorded {
            return TaskOutcome::Succeeded;
        }
        if age < self.visibility_timeout {
            return TaskOutcome::Wait;
        }
        TaskOutcome::Failed(ActionFailure {
            kind: ActionFailureKind::System,
            message: format!("its job {} says that its result is recorded, and the store has none", self.job),
            hint: Some("is the store's folder the same file system on the nodes as here?".to_owned()),
        })
    }

    /// The failure that the task reported, or out of memory where Slurm says so: to its parent, a command that was killed for its
    /// memory just ended by a signal.
    fn with_memory_evidence(&self, failure: ActionFailure, output: impl FnOnce() -> Option<String>) -> ActionFailure {
        let in_queue = self.entry.is_some_and(|entry| entry.phase() == JobPhase::Ended(JobEnd::OutOfMemory));
        let by_signal =
            matches!(failure.kind, ActionFailureKind::Command | ActionFailureKind::Killed | ActionFailureKind::Crash);
        let of_memory = by_signal && (in_queue || output().is_some_and(|output| exceeded_memory(&output)));
        if of_memory { self.out_of_memory() } else { failure }
    }

    fn out_of_memory(&self) -> ActionFailure {
        ActionFailure {
            kind: ActionFailureKind::OutOfMemory,
            message: format!("its job {} was out of memory (it had {})", self.job, self.request),
            hint: Some(format!("raise `needs: {{ memory: … }}` of the stage; {}", out_of_memory::HINT)),
        }
    }

    /// The conclusion from the end that the queue, or else Slurm in the job's output, reports.
    fn outcome_of_end(&self, end: Option<JobEnd>, was_stopped: bool, output: &str) -> TaskOutcome {
        let job = self.job;
        let failed = |kind, reason: String, hint: &str| {
            TaskOutcome::Failed(ActionFailure {
                kind,
                message: reason,
                hint: (!hint.is_empty()).then(|| hint.to_owned()),
            })
        };
        let end = match end {
            // Slurm writes this where it measures memory by itself (`OverMemoryKill`).
            Some(JobEnd::Failed) | None if exceeded_memory(output) => Some(JobEnd::OutOfMemory),
            end => end.or_else(|| end_in_output(output)),
        };
        if let (Some(JobEnd::Completed | JobEnd::Failed) | None, false, false) = (end, self.has_reported, was_stopped)
            && let Some((status, before)) = setup_exit_status(output)
        {
            return failed(
                ActionFailureKind::System,
                format!("`setup` ended its job {job} with exit status {status}, before it began{}", last_line(before)),
                "look at `setup` under [slurm] in cwm.toml",
            );
        }
        match end {
            Some(JobEnd::Timeout) => failed(
                ActionFailureKind::TimeLimit,
                format!("its job {job} ran longer than Slurm let it (it had {})", self.request),
                "raise `needs: { time: … }` of the stage, or `time` under [slurm] in cwm.toml; what it kept is gone on from",
            ),
            Some(JobEnd::Deadline) => failed(
                ActionFailureKind::System,
                format!("its job {job} could not have ended before its deadline, so that Slurm ended it"),
                "ask for less time, or for a later deadline",
            ),
            Some(JobEnd::OutOfMemory) => TaskOutcome::Failed(self.out_of_memory()),
            Some(JobEnd::Cancelled) => failed(
                ActionFailureKind::Cancelled,
                format!("its job {job} was cancelled"),
                "`cwm run` submits it again, and goes on from what it kept",
            ),
            Some(JobEnd::Preempted) => {
                TaskOutcome::Resubmit { reason: format!("its job {job} had to make room for others"), counts: false }
            }
            Some(JobEnd::NodeFail) => {
                TaskOutcome::Resubmit { reason: format!("the node of its job {job} failed"), counts: true }
            }
            Some(JobEnd::Completed | JobEnd::Failed) | None if was_stopped => failed(
                ActionFailureKind::Cancelled,
                format!("its job {job} was asked to stop"),
                "`cwm run` submits it again, and goes on from what it kept",
            ),
            Some(JobEnd::Completed) => failed(
                ActionFailureKind::System,
                format!("its job {job} ended well and recorded nothing"),
                "is the store's folder the same file system on the nodes as here?",
            ),
            Some(JobEnd::Failed) if self.has_reported => failed(
                ActionFailureKind::Killed,
                format!("its job {job} ended without a word{}", last_line(output)),
                "somebody or something killed its process; `cwm run` goes on from there",
            ),
            Some(JobEnd::Failed) if only_from_slurm(output) => TaskOutcome::Resubmit {
                reason: format!("Slurm could not start its job {job}{}", last_line(output)),
                counts: true,
            },
            Some(JobEnd::Failed) => failed(
                ActionFailureKind::System,
                format!("its job {job} ended before it began{}", last_line(output)),
                "look at `lines` and `setup` under [slurm] in cwm.toml, and whether the nodes see the store",
            ),
            None => TaskOutcome::Resubmit {
                reason: format!("nothing is left of its job {job}, in the queue or the store"),
                counts: true,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::request::SETUP_ENDED;
    use super::*;

    const VISIBILITY: Duration = Duration::from_secs(60);

    fn entry(state: &str) -> QueueEntry {
        QueueEntry { state: state.into(), reason: String::new(), node: "cn1".into() }
    }

    fn failed(kind: ActionFailureKind) -> ActionMessage {
        ActionMessage::Outcome(Err(ActionFailure::new(kind, "reported")))
    }

    /// What follows from this, `gone` seconds after the queue first called it over or did not know it.
    fn judged(
        reported: Option<&ActionMessage>,
        begun: bool,
        state: Option<&str>,
        gone: Option<u64>,
        recorded: bool,
    ) -> TaskOutcome {
        judged_with(reported, begun, state, gone, recorded, "")
    }

    fn judged_with(
        reported: Option<&ActionMessage>,
        begun: bool,
        state: Option<&str>,
        gone: Option<u64>,
        recorded: bool,
        output: &str,
    ) -> TaskOutcome {
        let (entry, age) = (state.map(entry), Duration::from_secs(gone.unwrap_or(0)));
        let observation = TaskObservation {
            job: "17_3",
            reported_end: reported.map(|reported| (reported, age)),
            has_reported: begun,
            removed_from_queue: false,
            entry: entry.as_ref(),
            gone_for: gone.map(Duration::from_secs),
            visibility_timeout: VISIBILITY,
            check: false,
            request: "4 cores",
        };
        observation.outcome(|| recorded, || Some(output.to_owned()))
    }

    fn kind(verdict: &TaskOutcome) -> Option<ActionFailureKind> {
        match verdict {
            TaskOutcome::Failed(failure) => Some(failure.kind),
            _ => None,
        }
    }

    #[test]
    fn what_is_recorded_is_done_whatever_the_queue_says() {
        let recorded = ActionMessage::Outcome(Ok(ActionOutcome::NewResult(BTreeMap::new())));
        for state in [Some("RUNNING"), Some("COMPLETING"), Some("TIMEOUT"), Some("CANCELLED"), None] {
            assert_eq!(judged(Some(&recorded), true, state, None, true), TaskOutcome::Succeeded, "{state:?}");
            // Without its last words.
            if state.is_none_or(|state| state != "RUNNING" && state != "COMPLETING") {
                assert_eq!(judged(None, true, state, Some(0), true), TaskOutcome::Succeeded, "{state:?}");
            }
        }
        assert_eq!(judged(None, true, None, Some(0), true), TaskOutcome::Succeeded);
        // Somebody made the result while it waited, and another run cancelled it for that.
        assert_eq!(judged(None, false, Some("CANCELLED"), Some(0), true), TaskOutcome::Succeeded);
        // JobUpdate, but the store does not show it yet, or never does.
        assert_eq!(judged(Some(&recorded), true, None, Some(59), false), TaskOutcome::Wait);
        assert_eq!(kind(&judged(Some(&recorded), true, None, Some(60), false)), Some(ActionFailureKind::System));
    }

    #[test]
    fn what_the_controller_has_not_said_is_unknown_and_waited_for() {
        assert_eq!(judged(None, false, None, None, false), TaskOutcome::Wait);
        assert_eq!(judged(None, true, None, None, false), TaskOutcome::Wait);
        assert_eq!(judged(Some(&failed(ActionFailureKind::Cancelled)), true, None, None, false), TaskOutcome::Wait);
    }

    #[test]
    fn lost_is_what_is_nowhere_for_long_enough() {
        assert_eq!(judged(None, true, None, Some(59), false), TaskOutcome::Wait);
        let TaskOutcome::Resubmit { reason, counts: true } = judged(None, true, None, Some(60), false) else {
            panic!()
        };
        assert_eq!(reason, "nothing is left of its job 17_3, in the queue or the store");
    }

    #[test]
    fn a_task_that_alone_of_its_job_is_gone_and_never_began_was_cancelled() {
        let judged = |is_struck, begun, gone, output: Option<&str>| {
            let observation = TaskObservation {
                job: "17_3",
                reported_end: None,
                has_reported: begun,
                removed_from_queue: is_struck,
                entry: None,
                gone_for: Some(Duration::from_secs(gone)),
                visibility_timeout: VISIBILITY,
                check: false,
                request: "4 cores",
            };
            observation.outcome(|| false, || output.map(str::to_owned))
        };
        let TaskOutcome::Failed(failure) = judged(true, false, 60, None) else { panic!() };
        assert_eq!(
            (failure.kind, failure.message.as_str()),
            (ActionFailureKind::Cancelled, "its job 17_3 was cancelled")
        );
        // The first that a node writes may be hidden for so long.
        assert_eq!(judged(true, false, 59, None), TaskOutcome::Wait);
        // Begun, or of a job of which nothing is left: that may have been anything.
        for (is_struck, begun, output) in [(true, true, Some("")), (true, false, Some("")), (false, false, None)] {
            assert!(matches!(judged(is_struck, begun, 60, output), TaskOutcome::Resubmit { counts: true, .. }));
        }
    }

    #[test]
    fn a_failure_that_was_told_is_that_and_needs_no_queue() {
        assert_eq!(
            kind(&judged(Some(&failed(ActionFailureKind::Command)), true, None, None, false)),
            Some(ActionFailureKind::Command)
        );
        let of_memory = judged(Some(&failed(ActionFailureKind::Command)), true, Some("OUT_OF_MEMORY"), Some(0), false);
        assert_eq!(kind(&of_memory), Some(ActionFailureKind::OutOfMemory));
        // Slurm measured by itself, and its queue says no more than that it failed.
        let output = "slurmstepd-cn1: error: StepId=4.batch exceeded memory limit (151691264 > 104857600), being killed\n\
                    slurmstepd-cn1: error: *** JOB 4 ON cn1 CANCELLED AT 2026-11-23T00:36:09 ***\n\
                    slurmstepd-cn1: error: Exceeded job memory limit\n";
        let stopped = failed(ActionFailureKind::Cancelled);
        let command = failed(ActionFailureKind::Command);
        for (reported, begun, state) in [
            (None, true, Some("FAILED")),
            (None, false, Some("FAILED")),
            (Some(&stopped), true, Some("FAILED")),
            (Some(&command), true, Some("RUNNING")),
            (None, true, None),
        ] {
            let verdict = judged_with(reported, begun, state, Some(60), false, output);
            assert_eq!(kind(&verdict), Some(ActionFailureKind::OutOfMemory), "{reported:?} {state:?}");
        }
        let cancelled = judged_with(Some(&stopped), true, Some("CANCELLED"), Some(60), false, output);
        assert_eq!(kind(&cancelled), Some(ActionFailureKind::Cancelled));
    }

    #[test]
    fn ends_in_the_queue_are_told_apart() {
        let stopped = failed(ActionFailureKind::Cancelled);
        for (state, expected) in [
            ("TIMEOUT", Some(ActionFailureKind::TimeLimit)),
            ("CANCELLED", Some(ActionFailureKind::Cancelled)),
            ("OUT_OF_MEMORY", Some(ActionFailureKind::OutOfMemory)),
            ("DEADLINE", Some(ActionFailureKind::System)),
            ("PREEMPTED", None),
            ("NODE_FAIL", None),
            ("BOOT_FAIL", None),
        ] {
            // Asked to stop, and it did; never began; killed without a word.
            for (reported, begun, gone) in [(Some(&stopped), true, 0), (None, false, 0), (None, true, 60)] {
                let verdict = judged(reported, begun, Some(state), Some(gone), false);
                assert_eq!(kind(&verdict), expected, "{state}");
                match state {
                    "PREEMPTED" => {
                        assert!(matches!(verdict, TaskOutcome::Resubmit { counts: false, .. }), "{verdict:?}")
                    }
                    "NODE_FAIL" | "BOOT_FAIL" => assert!(matches!(verdict, TaskOutcome::Resubmit { counts: true, .. })),
                    _ => {}
                }
            }
            // Killed, and its last words may be on their way.
            assert_eq!(judged(None, true, Some(state), Some(59), false), TaskOutcome::Wait, "{state}");
        }
        assert_eq!(kind(&judged(None, true, Some("FAILED"), Some(60), false)), Some(ActionFailureKind::Killed));
        assert_eq!(kind(&judged(None, false, Some("FAILED"), Some(60), false)), Some(ActionFailureKind::System));
        assert_eq!(kind(&judged(None, true, Some("COMPLETED"), Some(60), false)), Some(ActionFailureKind::System));
        assert_eq!(judged(None, true, Some("COMPLETED"), Some(59), false), TaskOutcome::Wait);
        // By a warning signal before its time is over (`--signal`), or by somebody's hand.
        assert_eq!(
            kind(&judged(Some(&stopped), true, Some("FAILED"), Some(0), false)),
            Some(ActionFailureKind::Cancelled)
        );
    }

    #[test]
    fn what_is_started_again_is_waited_for_though_it_was_stopped() {
        let stopped = failed(ActionFailureKind::Cancelled);
        for state in ["PENDING", "REQUEUED", "RUNNING", "COMPLETING", "CONFIGURING"] {
            assert_eq!(judged(Some(&stopped), true, Some(state), None, false), TaskOutcome::Wait, "{state}");
        }
    }

    #[test]
    fn what_the_queue_forgot_slurm_said_in_the_jobs_output() {
        let stopped = failed(ActionFailureKind::Cancelled);
        let say = |why: &str| format!("slurmstepd: error: *** JOB 20 ON cn1 CANCELLED AT 2026-11-22T07:00:00{why} ***");
        for (why, expected) in
            [(" DUE TO TIME LIMIT", ActionFailureKind::TimeLimit), ("", ActionFailureKind::Cancelled)]
        {
            let verdict = judged_with(Some(&stopped), true, None, Some(60), false, &say(why));
            assert_eq!(kind(&verdict), Some(expected), "{why}");
        }
        let verdict = judged_with(None, true, None, Some(60), false, &say(" DUE TO PREEMPTION"));
        assert!(matches!(verdict, TaskOutcome::Resubmit { counts: false, .. }));
        let output = "sh: 5: module: not found\n";
        let TaskOutcome::Failed(failure) = judged_with(None, false, Some("FAILED"), Some(60), false, output) else {
            panic!()
        };
        assert_eq!(failure.message, "its job 17_3 ended before it began: sh: 5: module: not found");
        // One that `setup` ended, whatever the queue still knows of it.
        for state in [Some("FAILED"), Some("COMPLETED"), None] {
            let output = format!("{output}{SETUP_ENDED}127\n");
            let TaskOutcome::Failed(failure) = judged_with(None, false, state, Some(60), false, &output) else {
                panic!()
            };
            let words = "`setup` ended its job 17_3 with exit status 127, before it began: sh: 5: module: not found";
            assert_eq!(failure.message, words);
            assert!(failure.hint.is_some_and(|hint| hint.contains("`setup`")));
        }
        let said_before = format!("{SETUP_ENDED}0\n");
        assert!(matches!(judged_with(None, true, None, Some(60), false, &said_before), TaskOutcome::Resubmit { .. }));
        let own = "slurmstepd-cn1: error: rmdir(/var/spool/job00011): No such file or directory\n";
        let verdict = judged_with(None, false, Some("FAILED"), Some(60), false, own);
        let TaskOutcome::Resubmit { reason, counts: true } = verdict else { panic!("{verdict:?}") };
        assert!(reason.starts_with("Slurm could not start its job 17_3: slurmstepd-cn1: error: rmdir("), "{reason}");
        // It wrote something of its own, or it had begun.
        for (begun, output) in [(false, format!("{output}{own}")), (true, own.to_owned())] {
            let verdict = judged_with(None, begun, Some("FAILED"), Some(60), false, &output);
            assert!(matches!(verdict, TaskOutcome::Failed(_)), "{verdict:?}");
        }
    }
}
