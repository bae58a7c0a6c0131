//! Calls Slurm's programs: `sbatch`, `squeue` and `scontrol`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

/// Why a program of Slurm gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlurmCliError {
    /// It is not installed.
    NotInstalled(&'static str),
    /// The controller does not answer, or not now: nothing is known.
    Unreachable(String),
    /// The controller has no room for more jobs of this user now.
    LimitReached(String),
    /// It refused.
    Refused(String),
}

impl std::fmt::Display for SlurmCliError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SlurmCliError::NotInstalled(program) => write!(f, "`{program}` of Slurm is not installed here"),
            SlurmCliError::Unreachable(words) | SlurmCliError::LimitReached(words) | SlurmCliError::Refused(words) => {
                f.write_str(words)
            }
        }
    }
}

/// Messages of Slurm's programs when the controller is not reachable or busy.
const UNREACHABLE: [&str; 19] = [
    "unable to contact slurm controller",
    "unable to establish",
    "unable to resolve",
    "unable to connect",
    "socket timed out",
    "connection refused",
    "connection timed out",
    "connection reset",
    "no route to host",
    "zero bytes were transmitted",
    "communication connection failure",
    "transport endpoint",
    "standby mode",
    "temporarily unable",
    "resource temporarily unavailable",
    "munged",
    "protocol authentication error",
    "insane message length",
    "header lengths are longer",
];

/// Their messages when a user, an account or the controller has as many jobs as are allowed.
const FULL: [&str; 5] = ["submit limit", "submitjob", "maxsubmit", "too many jobs", "maxjobcount"];

/// The kind of error that a program wrote to its standard error.
fn classify(program: &str, stderr: &str) -> SlurmCliError {
    let first = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>();
    let words = match first.last() {
        Some(last) => last.strip_prefix(&format!("{program}: error: ")).unwrap_or(last).to_owned(),
        None => format!("`{program}` failed without a word"),
    };
    let lower = stderr.to_lowercase();
    if UNREACHABLE.iter().any(|mark| lower.contains(mark)) {
        SlurmCliError::Unreachable(words)
    } else if FULL.iter().any(|mark| lower.contains(mark)) {
        SlurmCliError::LimitReached(words)
    } else {
        SlurmCliError::Refused(words)
    }
}

/// A program of Slurm with a clean environment. Ctrl-C does not reach it.
fn command(program: &'static str) -> Command {
    let mut command = Command::new(program);
    command.process_group(0).stdin(Stdio::null());
    // Of the job that this run may itself be: they would hold for what it submits.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        let of_a_job = name.starts_with("SLURM_") && name != "SLURM_CONF" && name != "SLURM_CONF_SERVER";
        if of_a_job || name.starts_with("SLURMD_") {
            command.env_remove(name);
        }
    }
    // Their messages are parsed.
    command.env("LC_ALL", "C").env_remove("SQUEUE_FORMAT").env_remove("SQUEUE_FORMAT2").env_remove("SQUEUE_STATES");
    for name in ["SQUEUE_PARTITION", "SQUEUE_USERS", "SQUEUE_ACCOUNT", "SQUEUE_QOS", "SQUEUE_SORT", "SQUEUE_NAMES"] {
        command.env_remove(name);
    }
    command
}

fn ran(program: &'static str, output: std::io::Result<Output>) -> Result<String, SlurmCliError> {
    match output {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => Err(classify(program, &String::from_utf8_lossy(&output.stderr))),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(SlurmCliError::NotInstalled(program)),
        Err(error) => Err(SlurmCliError::Unreachable(format!("cannot start `{program}`: {error}"))),
    }
}

/// The output of a program that only reads.
///
/// # Errors
/// It gave no answer.
pub fn query<S: AsRef<OsStr>>(program: &'static str, arguments: &[S]) -> Result<String, SlurmCliError> {
    ran(program, command(program).args(arguments).output())
}

/// Submits. The id goes straight into a file, and `held` stays locked until `sbatch` has ended: whatever becomes of this
/// process, who takes the lock next finds the id, or knows that there is none.
///
/// # Errors
/// The job was refused, or nobody knows whether it was.
pub fn submit(arguments: &[String], id: File, held: File) -> Result<(), SlurmCliError> {
    let mut command = command("sbatch");
    command.args(arguments).stdin(Stdio::from(held)).stdout(Stdio::from(id)).stderr(Stdio::piped());
    let output = command.spawn().and_then(std::process::Child::wait_with_output);
    ran("sbatch", output).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_controller_says_is_told_from_its_silence() {
        for (stderr, expected) in [
            (
                "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)\n",
                SlurmCliError::Unreachable(
                    "Batch job submission failed: Unable to contact slurm controller (connect failure)".into(),
                ),
            ),
            (
                "slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
                SlurmCliError::Unreachable(
                    "slurm_load_jobs error: Unable to contact slurm controller (connect failure)".into(),
                ),
            ),
            (
                "sbatch: error: invalid partition specified: x\nsbatch: error: Batch job submission failed: Invalid partition name specified",
                SlurmCliError::Refused("Batch job submission failed: Invalid partition name specified".into()),
            ),
            (
                "sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
                SlurmCliError::LimitReached(
                    "Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)".into(),
                ),
            ),
            ("", SlurmCliError::Refused("`sbatch` failed without a word".into())),
        ] {
            assert_eq!(classify("sbatch", stderr), expected);
        }
    }
}
