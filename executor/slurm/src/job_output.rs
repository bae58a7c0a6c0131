//! Reads a job's output for what Slurm and the script wrote there: how it ended, where the queue has forgotten that.

use super::queue::JobEnd;
use super::request::SETUP_ENDED;

/// Returns true if Slurm wrote that it ended a job because it had more memory than it requested, as it does where it measures
/// that by itself (`JobAcctGatherParams=OverMemoryKill`): to the queue, such a job has just failed.
pub fn exceeded_memory(output: &str) -> bool {
    let marks = ["exceeded memory limit", "Exceeded job memory limit", "Exceeded step memory limit"];
    output.lines().any(|line| line.starts_with("slurmstepd") && marks.iter().any(|mark| line.contains(mark)))
}

/// Returns the end that Slurm wrote into a job's output.
pub fn end_in_output(output: &str) -> Option<JobEnd> {
    let last = output.lines().rev().find(|line| line.contains("CANCELLED AT") || line.contains("oom"))?;
    Some(match last {
        _ if last.contains("oom") => JobEnd::OutOfMemory,
        _ if last.contains("DUE TO TIME LIMIT") => JobEnd::Timeout,
        _ if last.contains("DUE TO PREEMPTION") => JobEnd::Preempted,
        _ if last.contains("DUE TO NODE FAILURE") => JobEnd::NodeFail,
        _ => JobEnd::Cancelled,
    })
}

/// Returns true if a job's output has errors of Slurm's program on the node and nothing else: Slurm failed before the job
/// began, for example because the controller was restarted.
pub fn only_from_slurm(output: &str) -> bool {
    let mut lines = output.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some() && lines.all(|line| line.starts_with("slurmstepd") && line.contains(": error: "))
}

/// Returns the exit status with which a line of `setup` ended the job, as its script output last, and what had been output
/// before.
pub fn setup_exit_status(output: &str) -> Option<(u8, &str)> {
    let at = output.rfind(SETUP_ENDED).filter(|at| *at == 0 || output[..*at].ends_with('\n'))?;
    let status = output[at + SETUP_ENDED.len()..].lines().next()?.trim().parse().ok()?;
    Some((status, &output[..at]))
}

/// Returns the last line that is not blank, after a colon; empty if there is none.
pub fn last_line(output: &str) -> String {
    let last = output.lines().rev().map(str::trim).find(|line| !line.is_empty());
    let shown = |line: &str| line.chars().filter(|c| !c.is_control()).take(300).collect::<String>();
    last.map(|line| format!(": {}", shown(line))).unwrap_or_default()
}
