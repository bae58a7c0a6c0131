//! What is known of a job, and what follows from it: done, failed, to be waited for, or to be submitted again.

use std::time::Duration;

use super::queue::{End, Entry, Phase};
use super::said::{end_in, is_over_memory, is_slurms_alone, last_words, setup_in};
use cwm_action::{FailedKind, Line, out_of_memory};

/// Why a cell failed as a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What sort of failure.
    pub kind: FailedKind,
    /// In words.
    pub reason: String,
    /// What to do.
    pub hint: Option<String>,
}

/// What follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing yet.
    Wait,
    /// Its result is in the store, or, of a check, was told.
    Succeeded,
    /// It failed.
    Failed(Fault),
    /// Through no fault of its own there is no result, and nobody is making one: it is submitted again.
    Again {
        /// Why, in words.
        why: String,
        /// Whether that counts against how often it is submitted again.
        counts: bool,
    },
}

/// What is known of a job.
#[derive(Debug)]
pub struct Evidence<'e> {
    /// Whether the queue knows the job, and not this task of it: so is what was cancelled while it waited, and nothing else tells
    /// of that (neither `squeue --states=all` nor `scontrol show job`).
    pub is_struck: bool,
    /// The job, as people name it: `17_3`.
    pub job: &'e str,
    /// The last line by which it told an end, if it has not begun again since.
    pub told: Option<&'e Line>,
    /// Whether it ever told anything.
    pub begun: bool,
    /// What the queue last said of it; nothing if it does not know it.
    pub entry: Option<&'e Entry>,
    /// How long the queue has called it over, or has not known it; nothing while it is alive, or the queue was not asked.
    pub gone: Option<Duration>,
    /// How long ago it told its end.
    pub told_ago: Duration,
    /// How long what other nodes write may stay hidden.
    pub patience: Duration,
    /// Whether the result is only compared: then nothing of it is in the store.
    pub check: bool,
    /// What it asked for, in words.
    pub asked: &'e str,
}

impl Evidence<'_> {
    /// What follows. `recorded` looks into the store, `said` is what Slurm wrote into the job's own
    /// output, which it makes before anything else of the job.
    pub fn judge(&self, recorded: impl FnOnce() -> bool, said: impl FnOnce() -> Option<String>) -> Verdict {
        match self.told {
            Some(Line::Checked(_)) => return Verdict::Succeeded,
            Some(Line::Recorded(_) | Line::AlreadyRecorded) => return self.judge_told(recorded()),
            Some(Line::Failed { kind, message, hint }) if *kind != FailedKind::Cancelled => {
                let fault = Fault { kind: *kind, reason: message.clone(), hint: hint.clone() };
                return Verdict::Failed(self.by_queue(fault, said));
            }
            _ => {}
        }
        let Some(gone) = self.gone else { return Verdict::Wait };
        let end = self.entry.map(Entry::phase);
        let was_stopped = self.told.is_some();
        // Finished, and its last words are lost or not here yet.
        if !self.check && !was_stopped && self.can_have_recorded(end) && recorded() {
            return Verdict::Succeeded;
        }
        let is_clear = match end {
            // Its last words may be on their way, or even its first ones.
            Some(Phase::Over(End::Completed)) | None => false,
            Some(Phase::Over(End::Failed)) => was_stopped,
            Some(_) => was_stopped || !self.begun,
        };
        if !is_clear && gone < self.patience {
            return Verdict::Wait;
        }
        let end = match end {
            Some(Phase::Over(end)) => Some(end),
            // Alive after all: whoever asks has not noticed yet.
            Some(_) => return Verdict::Wait,
            None => None,
        };
        let said = said();
        let never_began = !self.begun && !was_stopped && said.is_none();
        let end = end.or_else(|| (self.is_struck && never_began).then_some(End::Cancelled));
        self.judge_end(end, was_stopped, &said.unwrap_or_default())
    }

    /// Of a job that never told anything, and that Slurm ended before its time, there is no result. One that was cancelled may
    /// have been so because there is one.
    fn can_have_recorded(&self, end: Option<Phase>) -> bool {
        let can = [End::Completed, End::Failed, End::NodeFail, End::Cancelled].map(Phase::Over);
        self.begun || end.is_none_or(|end| can.contains(&end))
    }

    fn judge_told(&self, recorded: bool) -> Verdict {
        if recorded {
            return Verdict::Succeeded;
        }
        if self.told_ago < self.patience {
            return Verdict::Wait;
        }
        Verdict::Failed(Fault {
            kind: FailedKind::System,
            reason: format!("its job {} says that its result is recorded, and the store has none", self.job),
            hint: Some("is the store's folder the same file system on the nodes as here?".to_owned()),
        })
    }

    /// A failure that the job told itself, with what Slurm knows better: a command that was killed for its memory ended by a
    /// signal, as far as its parent can tell.
    fn by_queue(&self, fault: Fault, said: impl FnOnce() -> Option<String>) -> Fault {
        let in_queue = self.entry.is_some_and(|entry| entry.phase() == Phase::Over(End::OutOfMemory));
        let by_signal = matches!(fault.kind, FailedKind::Command | FailedKind::Killed | FailedKind::Crash);
        let of_memory = by_signal && (in_queue || said().is_some_and(|said| is_over_memory(&said)));
        if of_memory { self.out_of_memory() } else { fault }
    }

    fn out_of_memory(&self) -> Fault {
        Fault {
            kind: FailedKind::OutOfMemory,
            reason: format!("its job {} was out of memory (it had {})", self.job, self.asked),
            hint: Some(format!("raise `needs: {{ memory: … }}` of the stage; {}", out_of_memory::HINT)),
        }
    }

    /// What follows from how the queue, or else Slurm's words in the job's output, say that it ended.
    fn judge_end(&self, end: Option<End>, was_stopped: bool, said: &str) -> Verdict {
        let job = self.job;
        let failed = |kind, reason: String, hint: &str| {
            Verdict::Failed(Fault { kind, reason, hint: (!hint.is_empty()).then(|| hint.to_owned()) })
        };
        let end = match end {
            // Slurm's word for it, where it measures by itself (`OverMemoryKill`).
            Some(End::Failed) | None if is_over_memory(said) => Some(End::OutOfMemory),
            end => end.or_else(|| end_in(said)),
        };
        if let (Some(End::Completed | End::Failed) | None, false, false) = (end, self.begun, was_stopped)
            && let Some((status, before)) = setup_in(said)
        {
            return failed(
                FailedKind::System,
                format!("`setup` ended its job {job} with exit status {status}, before it began{}", last_words(before)),
                "look at `setup` under [slurm] in cwm.toml",
            );
        }
        match end {
            Some(End::Timeout) => failed(
                FailedKind::TimeLimit,
                format!("its job {job} ran longer than Slurm let it (it had {})", self.asked),
                "raise `needs: { time: … }` of the stage, or `time` under [slurm] in cwm.toml; what it kept is gone on from",
            ),
            Some(End::Deadline) => failed(
                FailedKind::System,
                format!("its job {job} could not have ended before its deadline, so that Slurm ended it"),
                "ask for less time, or for a later deadline",
            ),
            Some(End::OutOfMemory) => Verdict::Failed(self.out_of_memory()),
            Some(End::Cancelled) => failed(
                FailedKind::Cancelled,
                format!("its job {job} was cancelled"),
                "`cwm run` submits it again, and goes on from what it kept",
            ),
            Some(End::Preempted) => {
                Verdict::Again { why: format!("its job {job} had to make room for others"), counts: false }
            }
            Some(End::NodeFail) => Verdict::Again { why: format!("the node of its job {job} failed"), counts: true },
            Some(End::Completed | End::Failed) | None if was_stopped => failed(
                FailedKind::Cancelled,
                format!("its job {job} was asked to stop"),
                "`cwm run` submits it again, and goes on from what it kept",
            ),
            Some(End::Completed) => failed(
                FailedKind::System,
                format!("its job {job} ended well and recorded nothing"),
                "is the store's folder the same file system on the nodes as here?",
            ),
            Some(End::Failed) if self.begun => failed(
                FailedKind::Killed,
                format!("its job {job} ended without a word{}", last_words(said)),
                "somebody or something killed its process; `cwm run` goes on from there",
            ),
            Some(End::Failed) if is_slurms_alone(said) => {
                Verdict::Again { why: format!("Slurm could not start its job {job}{}", last_words(said)), counts: true }
            }
            Some(End::Failed) => failed(
                FailedKind::System,
                format!("its job {job} ended before it began{}", last_words(said)),
                "look at `lines` and `setup` under [slurm] in cwm.toml, and whether the nodes see the store",
            ),
            None => Verdict::Again {
                why: format!("nothing is left of its job {job}, in the queue or the store"),
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

    const PATIENCE: Duration = Duration::from_secs(60);

    fn entry(state: &str) -> Entry {
        Entry { state: state.into(), reason: String::new(), node: "cn1".into() }
    }

    fn failed(kind: FailedKind) -> Line {
        Line::Failed { kind, message: "told".into(), hint: None }
    }

    /// What follows from this, `gone` seconds after the queue first called it over or did not know it.
    fn judged(told: Option<&Line>, begun: bool, state: Option<&str>, gone: Option<u64>, recorded: bool) -> Verdict {
        judged_with(told, begun, state, gone, recorded, "")
    }

    fn judged_with(
        told: Option<&Line>,
        begun: bool,
        state: Option<&str>,
        gone: Option<u64>,
        recorded: bool,
        said: &str,
    ) -> Verdict {
        let entry = state.map(entry);
        let evidence = Evidence {
            job: "17_3",
            told,
            begun,
            is_struck: false,
            entry: entry.as_ref(),
            gone: gone.map(Duration::from_secs),
            told_ago: Duration::from_secs(gone.unwrap_or(0)),
            patience: PATIENCE,
            check: false,
            asked: "4 cores",
        };
        evidence.judge(|| recorded, || Some(said.to_owned()))
    }

    fn kind(verdict: &Verdict) -> Option<FailedKind> {
        match verdict {
            Verdict::Failed(fault) => Some(fault.kind),
            _ => None,
        }
    }

    #[test]
    fn what_is_recorded_is_done_whatever_the_queue_says() {
        let recorded = Line::Recorded(BTreeMap::new());
        for state in [Some("RUNNING"), Some("COMPLETING"), Some("TIMEOUT"), Some("CANCELLED"), None] {
            assert_eq!(judged(Some(&recorded), true, state, None, true), Verdict::Succeeded, "{state:?}");
            // Without its last words.
            if state.is_none_or(|state| state != "RUNNING" && state != "COMPLETING") {
                assert_eq!(judged(None, true, state, Some(0), true), Verdict::Succeeded, "{state:?}");
            }
        }
        assert_eq!(judged(None, true, None, Some(0), true), Verdict::Succeeded);
        // Somebody made the result while it waited, and another run cancelled it for that.
        assert_eq!(judged(None, false, Some("CANCELLED"), Some(0), true), Verdict::Succeeded);
        // Told, but the store does not show it yet, or never does.
        assert_eq!(judged(Some(&recorded), true, None, Some(59), false), Verdict::Wait);
        assert_eq!(kind(&judged(Some(&recorded), true, None, Some(60), false)), Some(FailedKind::System));
    }

    #[test]
    fn what_the_controller_has_not_said_is_unknown_and_waited_for() {
        assert_eq!(judged(None, false, None, None, false), Verdict::Wait);
        assert_eq!(judged(None, true, None, None, false), Verdict::Wait);
        assert_eq!(judged(Some(&failed(FailedKind::Cancelled)), true, None, None, false), Verdict::Wait);
    }

    #[test]
    fn lost_is_what_is_nowhere_for_long_enough() {
        assert_eq!(judged(None, true, None, Some(59), false), Verdict::Wait);
        let Verdict::Again { why, counts: true } = judged(None, true, None, Some(60), false) else { panic!() };
        assert_eq!(why, "nothing is left of its job 17_3, in the queue or the store");
    }

    #[test]
    fn a_task_that_alone_of_its_job_is_gone_and_never_began_was_cancelled() {
        let judged = |is_struck, begun, gone, said: Option<&str>| {
            let evidence = Evidence {
                job: "17_3",
                told: None,
                begun,
                is_struck,
                entry: None,
                gone: Some(Duration::from_secs(gone)),
                told_ago: Duration::ZERO,
                patience: PATIENCE,
                check: false,
                asked: "4 cores",
            };
            evidence.judge(|| false, || said.map(str::to_owned))
        };
        let Verdict::Failed(fault) = judged(true, false, 60, None) else { panic!() };
        assert_eq!((fault.kind, fault.reason.as_str()), (FailedKind::Cancelled, "its job 17_3 was cancelled"));
        // The first that a node writes may be hidden for so long.
        assert_eq!(judged(true, false, 59, None), Verdict::Wait);
        // Begun, or of a job of which nothing is left: that may have been anything.
        for (is_struck, begun, said) in [(true, true, Some("")), (true, false, Some("")), (false, false, None)] {
            assert!(matches!(judged(is_struck, begun, 60, said), Verdict::Again { counts: true, .. }));
        }
    }

    #[test]
    fn a_failure_that_was_told_is_that_and_needs_no_queue() {
        assert_eq!(
            kind(&judged(Some(&failed(FailedKind::Command)), true, None, None, false)),
            Some(FailedKind::Command)
        );
        let of_memory = judged(Some(&failed(FailedKind::Command)), true, Some("OUT_OF_MEMORY"), Some(0), false);
        assert_eq!(kind(&of_memory), Some(FailedKind::OutOfMemory));
        // Slurm measured by itself, and its queue says no more than that it failed.
        let said = "slurmstepd-cn1: error: StepId=4.batch exceeded memory limit (151691264 > 104857600), being killed\n\
                    slurmstepd-cn1: error: *** JOB 4 ON cn1 CANCELLED AT 2026-11-23T00:36:09 ***\n\
                    slurmstepd-cn1: error: Exceeded job memory limit\n";
        let stopped = failed(FailedKind::Cancelled);
        let command = failed(FailedKind::Command);
        for (told, begun, state) in [
            (None, true, Some("FAILED")),
            (None, false, Some("FAILED")),
            (Some(&stopped), true, Some("FAILED")),
            (Some(&command), true, Some("RUNNING")),
            (None, true, None),
        ] {
            let verdict = judged_with(told, begun, state, Some(60), false, said);
            assert_eq!(kind(&verdict), Some(FailedKind::OutOfMemory), "{told:?} {state:?}");
        }
        let cancelled = judged_with(Some(&stopped), true, Some("CANCELLED"), Some(60), false, said);
        assert_eq!(kind(&cancelled), Some(FailedKind::Cancelled));
    }

    #[test]
    fn ends_in_the_queue_are_told_apart() {
        let stopped = failed(FailedKind::Cancelled);
        for (state, expected) in [
            ("TIMEOUT", Some(FailedKind::TimeLimit)),
            ("CANCELLED", Some(FailedKind::Cancelled)),
            ("OUT_OF_MEMORY", Some(FailedKind::OutOfMemory)),
            ("DEADLINE", Some(FailedKind::System)),
            ("PREEMPTED", None),
            ("NODE_FAIL", None),
            ("BOOT_FAIL", None),
        ] {
            // Asked to stop, and it did; never began; killed without a word.
            for (told, begun, gone) in [(Some(&stopped), true, 0), (None, false, 0), (None, true, 60)] {
                let verdict = judged(told, begun, Some(state), Some(gone), false);
                assert_eq!(kind(&verdict), expected, "{state}");
                match state {
                    "PREEMPTED" => assert!(matches!(verdict, Verdict::Again { counts: false, .. }), "{verdict:?}"),
                    "NODE_FAIL" | "BOOT_FAIL" => assert!(matches!(verdict, Verdict::Again { counts: true, .. })),
                    _ => {}
                }
            }
            // Killed, and its last words may be on their way.
            assert_eq!(judged(None, true, Some(state), Some(59), false), Verdict::Wait, "{state}");
        }
        assert_eq!(kind(&judged(None, true, Some("FAILED"), Some(60), false)), Some(FailedKind::Killed));
        assert_eq!(kind(&judged(None, false, Some("FAILED"), Some(60), false)), Some(FailedKind::System));
        assert_eq!(kind(&judged(None, true, Some("COMPLETED"), Some(60), false)), Some(FailedKind::System));
        assert_eq!(judged(None, true, Some("COMPLETED"), Some(59), false), Verdict::Wait);
        // By a warning signal before its time is over (`--signal`), or by somebody's hand.
        assert_eq!(kind(&judged(Some(&stopped), true, Some("FAILED"), Some(0), false)), Some(FailedKind::Cancelled));
    }

    #[test]
    fn what_is_started_again_is_waited_for_though_it_was_stopped() {
        let stopped = failed(FailedKind::Cancelled);
        for state in ["PENDING", "REQUEUED", "RUNNING", "COMPLETING", "CONFIGURING"] {
            assert_eq!(judged(Some(&stopped), true, Some(state), None, false), Verdict::Wait, "{state}");
        }
    }

    #[test]
    fn what_the_queue_forgot_slurm_said_in_the_jobs_output() {
        let stopped = failed(FailedKind::Cancelled);
        let say = |why: &str| format!("slurmstepd: error: *** JOB 20 ON cn1 CANCELLED AT 2026-11-22T07:00:00{why} ***");
        for (why, expected) in [(" DUE TO TIME LIMIT", FailedKind::TimeLimit), ("", FailedKind::Cancelled)] {
            let verdict = judged_with(Some(&stopped), true, None, Some(60), false, &say(why));
            assert_eq!(kind(&verdict), Some(expected), "{why}");
        }
        let verdict = judged_with(None, true, None, Some(60), false, &say(" DUE TO PREEMPTION"));
        assert!(matches!(verdict, Verdict::Again { counts: false, .. }));
        let said = "sh: 5: module: not found\n";
        let Verdict::Failed(fault) = judged_with(None, false, Some("FAILED"), Some(60), false, said) else { panic!() };
        assert_eq!(fault.reason, "its job 17_3 ended before it began: sh: 5: module: not found");
        // One that `setup` ended, whatever the queue still knows of it.
        for state in [Some("FAILED"), Some("COMPLETED"), None] {
            let said = format!("{said}{SETUP_ENDED}127\n");
            let Verdict::Failed(fault) = judged_with(None, false, state, Some(60), false, &said) else { panic!() };
            let words = "`setup` ended its job 17_3 with exit status 127, before it began: sh: 5: module: not found";
            assert_eq!(fault.reason, words);
            assert!(fault.hint.is_some_and(|hint| hint.contains("`setup`")));
        }
        let said_before = format!("{SETUP_ENDED}0\n");
        assert!(matches!(judged_with(None, true, None, Some(60), false, &said_before), Verdict::Again { .. }));
        let own = "slurmstepd-cn1: error: rmdir(/var/spool/job00011): No such file or directory\n";
        let verdict = judged_with(None, false, Some("FAILED"), Some(60), false, own);
        let Verdict::Again { why, counts: true } = verdict else { panic!("{verdict:?}") };
        assert!(why.starts_with("Slurm could not start its job 17_3: slurmstepd-cn1: error: rmdir("), "{why}");
        // It said something of its own, or it had begun.
        for (begun, said) in [(false, format!("{said}{own}")), (true, own.to_owned())] {
            let verdict = judged_with(None, begun, Some("FAILED"), Some(60), false, &said);
            assert!(matches!(verdict, Verdict::Failed(_)), "{verdict:?}");
        }
    }
}
