//! What Slurm and the script said in a job's output: where the queue has forgotten how it ended, or never knew it.

use super::queue::End;
use super::request::SETUP_ENDED;

/// Whether Slurm says that it ended a job because it had more memory than it asked for, as it does where it measures that by
/// itself (`JobAcctGatherParams=OverMemoryKill`): to the queue, such a job has just failed.
pub fn is_over_memory(said: &str) -> bool {
    let marks = ["exceeded memory limit", "Exceeded job memory limit", "Exceeded step memory limit"];
    said.lines().any(|line| line.starts_with("slurmstepd") && marks.iter().any(|mark| line.contains(mark)))
}

/// How Slurm says in a job's output that it ended it.
pub fn end_in(said: &str) -> Option<End> {
    let last = said.lines().rev().find(|line| line.contains("CANCELLED AT") || line.contains("oom"))?;
    Some(match last {
        _ if last.contains("oom") => End::OutOfMemory,
        _ if last.contains("DUE TO TIME LIMIT") => End::Timeout,
        _ if last.contains("DUE TO PREEMPTION") => End::Preempted,
        _ if last.contains("DUE TO NODE FAILURE") => End::NodeFail,
        _ => End::Cancelled,
    })
}

/// Whether a job's output holds words of Slurm's own program on the node, and nothing that the job said: so it is where that
/// broke before the job came to anything, as when the controller was started again meanwhile.
pub fn is_slurms_alone(said: &str) -> bool {
    let mut lines = said.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some() && lines.all(|line| line.starts_with("slurmstepd") && line.contains(": error: "))
}

/// The exit status with which a line of `setup` ended the job, as its script said last, and what had been said before.
pub fn setup_in(said: &str) -> Option<(u8, &str)> {
    let at = said.rfind(SETUP_ENDED).filter(|at| *at == 0 || said[..*at].ends_with('\n'))?;
    let status = said[at + SETUP_ENDED.len()..].lines().next()?.trim().parse().ok()?;
    Some((status, &said[..at]))
}

/// The last line of it that says anything, after a colon; nothing if there is none.
pub fn last_words(said: &str) -> String {
    let last = said.lines().rev().map(str::trim).find(|line| !line.is_empty());
    let shown = |line: &str| line.chars().filter(|c| !c.is_control()).take(300).collect::<String>();
    last.map(|line| format!(": {}", shown(line))).unwrap_or_default()
}
