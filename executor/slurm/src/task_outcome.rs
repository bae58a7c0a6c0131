//! Decides what follows from what is known of a task: it succeeded, it failed, it is waited for, or it is submitted again.

use std::time::Duration;

use super::job_output::{end_in_output, exceeded_memory, last_line, only_from_slurm, setup_exit_status};
use super::queue::{JobEnd, QueueEntry};
use super::submitted_task::{SubmittedTask, TaskProgress};
use cwm_action::{ActionFailure, ActionFailureKind, ActionOutcome, out_of_memory};

/// The conclusion from all that is known of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskOutcome {
    /// Its result is recorded in the store or, of a check, was reported.
    Succeeded,
    /// The task failed.
    Failed(ActionFailure),
    /// The task was lost through no fault of its own, and is submitted again.
    Resubmit {
        /// The reason.
        reason: String,
        /// True if this counts against the limit of resubmissions.
        counts: bool,
    },
}

/// Observations of a task besides its own report.
pub struct TaskObservation<'e> {
    /// The task as Slurm names it: `17_3`.
    pub job: &'e str,
    /// The time for which a network file system may hide files of other nodes.
    pub visibility_timeout: Duration,
    /// Looks for the result in the store.
    pub is_recorded: &'e dyn Fn() -> bool,
    /// Reads the job's output file, which Slurm makes before anything else of the job.
    pub read_output: &'e dyn Fn() -> Option<String>,
}

impl SubmittedTask {
    /// Concludes from all that is known; nothing while the task is to be waited for.
    pub fn outcome(&self, observation: &TaskObservation<'_>) -> Option<TaskOutcome> {
        let end = self.entry.as_ref().and_then(QueueEntry::end);
        match &self.report {
            TaskProgress::Ended(Ok(ActionOutcome::Comparison(_)), _) => return Some(TaskOutcome::Succeeded),
            TaskProgress::Ended(Ok(_), _) if (observation.is_recorded)() => return Some(TaskOutcome::Succeeded),
            TaskProgress::Ended(Ok(_), read) if read.elapsed() < observation.visibility_timeout => return None,
            TaskProgress::Ended(Ok(_), _) => {
                let message = format!("its job {} reports a recorded result, and the store has none", observation.job);
                return Some(failed(ActionFailureKind::System, message, SHARED_STORE));
            }
            TaskProgress::Ended(Err(failure), _) if failure.kind != ActionFailureKind::Cancelled => {
                // To its parent, a command that was killed for its memory just ended by a signal.
                let by_signal = [ActionFailureKind::Command, ActionFailureKind::Killed, ActionFailureKind::Crash];
                let in_queue = end == Some(JobEnd::OutOfMemory);
                let in_output = || (observation.read_output)().is_some_and(|output| exceeded_memory(&output));
                return match by_signal.contains(&failure.kind) && (in_queue || in_output()) {
                    true => Some(self.out_of_memory(observation.job)),
                    false => Some(TaskOutcome::Failed(failure.clone())),
                };
            }
            TaskProgress::Ended(Err(_), _) | TaskProgress::Running | TaskProgress::None => {}
        }
        let (first, last) = self.unlisted_since?;
        let (was_stopped, has_reported) = (self.has_reported_end(), !matches!(self.report, TaskProgress::None));
        // It may have succeeded, with its last message lost or not visible yet; or it was cancelled because its result exists.
        if !self.spec.task.options.check && !was_stopped && (observation.is_recorded)() {
            return Some(TaskOutcome::Succeeded);
        }
        let is_final = match end {
            // Its last messages, or even its first ones, may not be visible yet.
            Some(JobEnd::Completed | JobEnd::Removed) | None => false,
            Some(JobEnd::Failed) => was_stopped,
            Some(_) => was_stopped || !has_reported,
        };
        if !is_final && last - first < observation.visibility_timeout {
            return None;
        }
        let output = (observation.read_output)();
        let end = match end {
            Some(JobEnd::Removed) if !has_reported && output.is_none() => Some(JobEnd::Cancelled),
            Some(JobEnd::Removed) => None,
            end => end,
        };
        Some(self.outcome_of_end(end, observation.job, &output.unwrap_or_default()))
    }

    fn out_of_memory(&self, job: &str) -> TaskOutcome {
        let hint = format!("raise `needs: {{ memory: … }}` of the stage; {}", out_of_memory::HINT);
        let message = format!("its job {job} was out of memory (it had {})", self.spec.request);
        failed(ActionFailureKind::OutOfMemory, message, &hint)
    }

    /// The conclusion from the end that the queue, or else Slurm in the job's output, reports.
    fn outcome_of_end(&self, end: Option<JobEnd>, job: &str, output: &str) -> TaskOutcome {
        use ActionFailureKind::{Cancelled, Killed, System, TimeLimit};
        let end = match end {
            // Slurm writes this where it measures memory by itself (`OverMemoryKill`).
            Some(JobEnd::Failed) | None if exceeded_memory(output) => Some(JobEnd::OutOfMemory),
            end => end.or_else(|| end_in_output(output)),
        };
        let resubmit = |reason: String, counts| TaskOutcome::Resubmit { reason, counts };
        let lost = "`cwm run` submits it again; it resumes from its last checkpoint, if it has one";
        match (end, &self.report) {
            (Some(JobEnd::Timeout), _) => failed(
                TimeLimit,
                format!("its job {job} exceeded its time limit of Slurm (it had {})", self.spec.request),
                "raise `needs: { time: … }` of the stage, or `time` under [slurm] in cwm.toml; it resumes from its last checkpoint",
            ),
            (Some(JobEnd::OutOfMemory), _) => self.out_of_memory(job),
            (Some(JobEnd::Cancelled | JobEnd::Removed), _) => {
                failed(Cancelled, format!("its job {job} was cancelled"), lost)
            }
            (Some(JobEnd::Preempted), _) => resubmit(format!("its job {job} was preempted"), false),
            (Some(JobEnd::NodeFail), _) => resubmit(format!("the node of its job {job} failed"), true),
            (_, TaskProgress::Ended(..)) => failed(Cancelled, format!("its job {job} was stopped on request"), lost),
            (_, TaskProgress::None) if let Some((status, before)) = setup_exit_status(output) => failed(
                System,
                format!(
                    "`setup` ended its job {job} with exit status {status}, before the stage started{}",
                    last_line(before)
                ),
                "look at `setup` under [slurm] in cwm.toml",
            ),
            (Some(JobEnd::Completed), _) => {
                failed(System, format!("its job {job} succeeded but recorded no result"), SHARED_STORE)
            }
            (Some(JobEnd::Failed), TaskProgress::Running) => failed(
                Killed,
                format!("its job {job} ended without a message{}", last_line(output)),
                "`cwm run` runs it again",
            ),
            (Some(JobEnd::Failed), TaskProgress::None) if only_from_slurm(output) => {
                resubmit(format!("Slurm could not start its job {job}{}", last_line(output)), true)
            }
            (Some(JobEnd::Failed), TaskProgress::None) => failed(
                System,
                format!("its job {job} ended before the stage started{}", last_line(output)),
                "look at `lines` and `setup` under [slurm] in cwm.toml, and whether the nodes see the store",
            ),
            (None, _) => resubmit(format!("nothing is left of its job {job}, in the queue or the store"), true),
        }
    }
}

/// The advice about a result that this machine does not see.
const SHARED_STORE: &str = "is the store's folder the same file system on the nodes as here?";

fn failed(kind: ActionFailureKind, message: String, hint: &str) -> TaskOutcome {
    TaskOutcome::Failed(ActionFailure::new(kind, message).hint(hint))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Instant;

    use cwm_action::AttemptOptions;
    use cwm_contract::Label;

    use super::super::batch::BatchTask;
    use super::super::request::{ResourceRequest, SETUP_ENDED};
    use super::super::submitted_task::TaskSpec;
    use super::*;
    use cwm_core::files::Tail;

    const VISIBILITY: Duration = Duration::from_secs(60);

    type ReportedEnd = Result<ActionOutcome, ActionFailure>;

    fn failed(kind: ActionFailureKind) -> ReportedEnd {
        Err(ActionFailure::new(kind, "reported"))
    }

    /// The outcome `gone` seconds after the queue first called the task ended or did not list it.
    fn outcome_of(
        reported: Option<&ReportedEnd>,
        begun: bool,
        state: Option<&str>,
        gone: Option<u64>,
        recorded: bool,
    ) -> Option<TaskOutcome> {
        outcome_with_output(reported, begun, state, gone, recorded, Some(""))
    }

    fn outcome_with_output(
        reported: Option<&ReportedEnd>,
        begun: bool,
        state: Option<&str>,
        gone: Option<u64>,
        recorded: bool,
        output: Option<&str>,
    ) -> Option<TaskOutcome> {
        let task = BatchTask {
            key: "a".repeat(64).parse().unwrap(),
            label: Label::stage("a"),
            force: false,
            options: AttemptOptions::default(),
        };
        let request = ResourceRequest { stage: "a".into(), cpus: 4, gpus: 0, memory: 0, time: None };
        let spec = TaskSpec { cell: 0, task, request, resubmissions: 0 };
        let mut task = SubmittedTask::new(spec, 3, Tail::of("/nonexistent".into()));
        let now = Instant::now();
        let first = now - Duration::from_secs(gone.unwrap_or(0));
        task.entry = state.map(|state| QueueEntry { state: state.into(), ..QueueEntry::default() });
        task.unlisted_since = gone.map(|_| (first, now));
        task.report = match reported {
            Some(reported) => TaskProgress::Ended(reported.clone(), first),
            None if begun => TaskProgress::Running,
            None => TaskProgress::None,
        };
        task.outcome(&TaskObservation {
            job: "17_3",
            visibility_timeout: VISIBILITY,
            is_recorded: &|| recorded,
            read_output: &|| output.map(str::to_owned),
        })
    }

    fn kind(outcome: &Option<TaskOutcome>) -> Option<ActionFailureKind> {
        match outcome {
            Some(TaskOutcome::Failed(failure)) => Some(failure.kind),
            _ => None,
        }
    }

    #[test]
    fn what_is_recorded_is_done_whatever_the_queue_shows() {
        let recorded = Ok(ActionOutcome::NewResult(BTreeMap::new()));
        for state in [Some("RUNNING"), Some("COMPLETING"), Some("TIMEOUT"), Some("CANCELLED"), None] {
            assert_eq!(outcome_of(Some(&recorded), true, state, None, true), Some(TaskOutcome::Succeeded), "{state:?}");
            // Without its last message.
            if state.is_none_or(|state| state != "RUNNING" && state != "COMPLETING") {
                assert_eq!(outcome_of(None, true, state, Some(0), true), Some(TaskOutcome::Succeeded), "{state:?}");
            }
        }
        assert_eq!(outcome_of(None, true, None, Some(0), true), Some(TaskOutcome::Succeeded));
        // Somebody made the result while it waited, and another run cancelled it for that.
        assert_eq!(outcome_of(None, false, Some("CANCELLED"), Some(0), true), Some(TaskOutcome::Succeeded));
        // Reported, but the store does not show it yet, or never does.
        assert_eq!(outcome_of(Some(&recorded), true, None, Some(59), false), None);
        assert_eq!(kind(&outcome_of(Some(&recorded), true, None, Some(60), false)), Some(ActionFailureKind::System));
    }

    #[test]
    fn what_the_controller_has_not_given_is_unknown_and_waited_for() {
        assert_eq!(outcome_of(None, false, None, None, false), None);
        assert_eq!(outcome_of(None, true, None, None, false), None);
        assert_eq!(outcome_of(Some(&failed(ActionFailureKind::Cancelled)), true, None, None, false), None);
    }

    #[test]
    fn lost_is_what_is_nowhere_for_long_enough() {
        assert_eq!(outcome_of(None, true, None, Some(59), false), None);
        let Some(TaskOutcome::Resubmit { reason, counts: true }) = outcome_of(None, true, None, Some(60), false) else {
            panic!()
        };
        assert_eq!(reason, "nothing is left of its job 17_3, in the queue or the store");
    }

    #[test]
    fn a_task_that_alone_of_its_job_is_gone_and_never_began_was_cancelled() {
        let outcome_of = |is_removed: bool, begun, gone, output| {
            outcome_with_output(None, begun, is_removed.then_some("REMOVED"), Some(gone), false, output)
        };
        let Some(TaskOutcome::Failed(failure)) = outcome_of(true, false, 60, None) else { panic!() };
        assert_eq!(
            (failure.kind, failure.message.as_str()),
            (ActionFailureKind::Cancelled, "its job 17_3 was cancelled")
        );
        // The first that a node writes may be hidden for so long.
        assert_eq!(outcome_of(true, false, 59, None), None);
        // Begun, or of a job of which nothing is left: that may have been anything.
        for (is_removed, begun, output) in [(true, true, Some("")), (true, false, Some("")), (false, false, None)] {
            assert!(matches!(
                outcome_of(is_removed, begun, 60, output),
                Some(TaskOutcome::Resubmit { counts: true, .. })
            ));
        }
    }

    #[test]
    fn a_failure_that_was_reported_is_that_and_needs_no_queue() {
        assert_eq!(
            kind(&outcome_of(Some(&failed(ActionFailureKind::Command)), true, None, None, false)),
            Some(ActionFailureKind::Command)
        );
        let of_memory =
            outcome_of(Some(&failed(ActionFailureKind::Command)), true, Some("OUT_OF_MEMORY"), Some(0), false);
        assert_eq!(kind(&of_memory), Some(ActionFailureKind::OutOfMemory));
        // Slurm measured by itself, and its queue shows no more than that it failed.
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
            let outcome = outcome_with_output(reported, begun, state, Some(60), false, Some(output));
            assert_eq!(kind(&outcome), Some(ActionFailureKind::OutOfMemory), "{reported:?} {state:?}");
        }
        let cancelled = outcome_with_output(Some(&stopped), true, Some("CANCELLED"), Some(60), false, Some(output));
        assert_eq!(kind(&cancelled), Some(ActionFailureKind::Cancelled));
    }

    #[test]
    fn ends_in_the_queue_are_distinguished() {
        let stopped = failed(ActionFailureKind::Cancelled);
        for (state, expected) in [
            ("TIMEOUT", Some(ActionFailureKind::TimeLimit)),
            ("CANCELLED", Some(ActionFailureKind::Cancelled)),
            ("OUT_OF_MEMORY", Some(ActionFailureKind::OutOfMemory)),
            ("DEADLINE", Some(ActionFailureKind::Cancelled)),
            ("PREEMPTED", None),
            ("NODE_FAIL", None),
            ("BOOT_FAIL", None),
        ] {
            // Stopped on request; never began; killed without a message.
            for (reported, begun, gone) in [(Some(&stopped), true, 0), (None, false, 0), (None, true, 60)] {
                let outcome = outcome_of(reported, begun, Some(state), Some(gone), false);
                assert_eq!(kind(&outcome), expected, "{state}");
                match state {
                    "PREEMPTED" => {
                        assert!(matches!(outcome, Some(TaskOutcome::Resubmit { counts: false, .. })), "{outcome:?}")
                    }
                    "NODE_FAIL" | "BOOT_FAIL" => {
                        assert!(matches!(outcome, Some(TaskOutcome::Resubmit { counts: true, .. })))
                    }
                    _ => {}
                }
            }
            // Killed, and its last messages may not be visible yet.
            assert_eq!(outcome_of(None, true, Some(state), Some(59), false), None, "{state}");
        }
        assert_eq!(kind(&outcome_of(None, true, Some("FAILED"), Some(60), false)), Some(ActionFailureKind::Killed));
        assert_eq!(kind(&outcome_of(None, false, Some("FAILED"), Some(60), false)), Some(ActionFailureKind::System));
        assert_eq!(kind(&outcome_of(None, true, Some("COMPLETED"), Some(60), false)), Some(ActionFailureKind::System));
        assert_eq!(outcome_of(None, true, Some("COMPLETED"), Some(59), false), None);
        // By a warning signal before its time is over (`--signal`), or by somebody's hand.
        assert_eq!(
            kind(&outcome_of(Some(&stopped), true, Some("FAILED"), Some(0), false)),
            Some(ActionFailureKind::Cancelled)
        );
    }

    #[test]
    fn what_is_started_again_is_waited_for_though_it_was_stopped() {
        let stopped = failed(ActionFailureKind::Cancelled);
        for state in ["PENDING", "REQUEUED", "RUNNING", "COMPLETING", "CONFIGURING"] {
            assert_eq!(outcome_of(Some(&stopped), true, Some(state), None, false), None, "{state}");
        }
    }

    #[test]
    fn an_end_that_the_queue_forgot_is_in_the_jobs_output() {
        let stopped = failed(ActionFailureKind::Cancelled);
        let line =
            |why: &str| format!("slurmstepd: error: *** JOB 20 ON cn1 CANCELLED AT 2026-11-22T07:00:00{why} ***");
        for (why, expected) in
            [(" DUE TO TIME LIMIT", ActionFailureKind::TimeLimit), ("", ActionFailureKind::Cancelled)]
        {
            let outcome = outcome_with_output(Some(&stopped), true, None, Some(60), false, Some(&line(why)));
            assert_eq!(kind(&outcome), Some(expected), "{why}");
        }
        let outcome = outcome_with_output(None, true, None, Some(60), false, Some(&line(" DUE TO PREEMPTION")));
        assert!(matches!(outcome, Some(TaskOutcome::Resubmit { counts: false, .. })));
        let output = "sh: 5: module: not found\n";
        let Some(TaskOutcome::Failed(failure)) =
            outcome_with_output(None, false, Some("FAILED"), Some(60), false, Some(output))
        else {
            panic!()
        };
        assert_eq!(failure.message, "its job 17_3 ended before the stage started: sh: 5: module: not found");
        // One that `setup` ended, whatever the queue still has of it.
        for state in [Some("FAILED"), Some("COMPLETED"), None] {
            let output = format!("{output}{SETUP_ENDED}127\n");
            let Some(TaskOutcome::Failed(failure)) =
                outcome_with_output(None, false, state, Some(60), false, Some(&output))
            else {
                panic!()
            };
            let words =
                "`setup` ended its job 17_3 with exit status 127, before the stage started: sh: 5: module: not found";
            assert_eq!(failure.message, words);
            assert!(failure.hint.is_some_and(|hint| hint.contains("`setup`")));
        }
        let earlier = format!("{SETUP_ENDED}0\n");
        assert!(matches!(
            outcome_with_output(None, true, None, Some(60), false, Some(&earlier)),
            Some(TaskOutcome::Resubmit { .. })
        ));
        let own = "slurmstepd-cn1: error: rmdir(/var/spool/job00011): No such file or directory\n";
        let outcome = outcome_with_output(None, false, Some("FAILED"), Some(60), false, Some(own));
        let Some(TaskOutcome::Resubmit { reason, counts: true }) = outcome else { panic!("{outcome:?}") };
        assert!(reason.starts_with("Slurm could not start its job 17_3: slurmstepd-cn1: error: rmdir("), "{reason}");
        // It wrote something of its own, or it had begun.
        for (begun, output) in [(false, format!("{output}{own}")), (true, own.to_owned())] {
            let outcome = outcome_with_output(None, begun, Some("FAILED"), Some(60), false, Some(&output));
            assert!(matches!(outcome, Some(TaskOutcome::Failed(_))), "{outcome:?}");
        }
    }
}
