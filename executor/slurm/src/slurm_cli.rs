//! Calls Slurm's programs: `sbatch`, `squeue` and `scontrol`.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use cwm_core::Error;

/// An error of one of Slurm's programs, or of what a submission needs besides.
#[derive(Debug)]
pub struct SlurmError {
    /// The conclusion to draw from it.
    pub kind: SlurmErrorKind,
    /// The error for people.
    pub error: Error,
}

/// The kinds of [`SlurmError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlurmErrorKind {
    /// The controller does not answer, or not now: nothing is known.
    Unreachable,
    /// The controller has no room for more jobs of this user now.
    LimitReached,
    /// Slurm refused or is not installed, or the store cannot be used.
    Other,
}

impl From<Error> for SlurmError {
    fn from(error: Error) -> Self {
        SlurmError { kind: SlurmErrorKind::Other, error }
    }
}

impl From<SlurmError> for Error {
    fn from(error: SlurmError) -> Self {
        error.error
    }
}

/// Messages of Slurm's programs when the controller is not reachable or busy.
const UNREACHABLE: [&str; 17] = [
    "unable to contact slurm controller",
    "unable to establish",
    "unable to resolve",
    "unable to connect",
    "connection refused",
    "timed out",
    "connection reset",
    "no route to host",
    "zero bytes were transmitted",
    "communication connection failure",
    "transport endpoint",
    "standby mode",
    "temporarily una",
    "munged",
    "protocol authentication error",
    "insane message length",
    "header lengths are longer",
];

/// Their message on a machine that has no configuration of Slurm.
const NOT_CONFIGURED: &str = "establish a configuration source";

/// The hint on a machine from which no cluster can be used.
const OTHER_MACHINE: &str = "use a login node of the cluster, or `cwm run --executor local`";

/// Their messages when a user, an account or the controller has as many jobs as are allowed.
const LIMIT_REACHED: [&str; 5] = ["submit limit", "submitjob", "maxsubmit", "too many jobs", "maxjobcount"];

/// Reads the error that a program wrote to its standard error.
fn classify(program: &str, stderr: &str) -> SlurmError {
    let last = stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
    let message = match last {
        Some(last) => last.strip_prefix(&format!("{program}: error: ")).unwrap_or(last).to_owned(),
        None => format!("`{program}` failed without a message"),
    };
    let lower = stderr.to_lowercase();
    let is_one_of = |marks: &[&str]| marks.iter().any(|mark| lower.contains(mark));
    if is_one_of(&UNREACHABLE) {
        let error = Error::system(message).hint("run again when Slurm answers: nothing is submitted twice");
        SlurmError { kind: SlurmErrorKind::Unreachable, error }
    } else if is_one_of(&LIMIT_REACHED) {
        let hint = "`max_jobs` under [slurm] in cwm.toml keeps a run below such a limit; `squeue --me` shows your jobs";
        SlurmError { kind: SlurmErrorKind::LimitReached, error: Error::system(message).hint(hint) }
    } else if lower.contains(NOT_CONFIGURED) {
        Error::system(format!("Slurm is not configured here: {message}")).hint(OTHER_MACHINE).into()
    } else {
        let hint = "look at [slurm] in cwm.toml and at `needs:` of the stage; `sinfo` shows what partitions offer";
        Error::system(format!("Slurm refused: {message}")).hint(hint).into()
    }
}

/// A program of Slurm with a clean environment. Ctrl-C does not reach it.
fn command(program: &'static str) -> Command {
    let mut command = Command::new(program);
    command.process_group(0).stdin(Stdio::null());
    // Variables of the job that this run may itself be would hold for what it submits; those of `squeue` change what it prints.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        let is_slurms = ["SLURM_", "SLURMD_", "SQUEUE_"].iter().any(|prefix| name.starts_with(prefix));
        if is_slurms && !["SLURM_CONF", "SLURM_CONF_SERVER"].contains(&name.as_str()) {
            command.env_remove(name);
        }
    }
    command.env("LC_ALL", "C");
    command
}

/// Returns the standard output of a program that succeeded.
fn output_of(program: &'static str, output: std::io::Result<Output>) -> Result<String, SlurmError> {
    match output {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => Err(classify(program, &String::from_utf8_lossy(&output.stderr))),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(Error::system(format!("`{program}` of Slurm is not installed here")).hint(OTHER_MACHINE).into())
        }
        Err(error) => Err(SlurmError {
            kind: SlurmErrorKind::Unreachable,
            error: Error::system(format!("cannot start `{program}`: {error}")),
        }),
    }
}

/// Runs a program that only reads, and returns its output.
///
/// # Errors
/// It gave no answer.
pub fn query(program: &'static str, arguments: &[&str]) -> Result<String, SlurmError> {
    output_of(program, command(program).args(arguments).output())
}

/// Calls `sbatch`. It writes the id straight into the file `job`, and keeps `lock` until it has ended: whatever happens to this
/// process, the next one that takes the lock finds the id, or an empty file.
///
/// # Errors
/// The job was refused, or it is unknown if it was.
pub fn submit(arguments: &[String], job: File, lock: &File) -> Result<(), SlurmError> {
    let lock = lock.try_clone().map_err(|error| Error::system(format!("cannot share a lock: {error}")))?;
    let mut command = command("sbatch");
    command.args(arguments).stdin(Stdio::from(lock)).stdout(Stdio::from(job)).stderr(Stdio::piped());
    let output = command.spawn().and_then(std::process::Child::wait_with_output);
    output_of("sbatch", output).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_distinguished_from_silence() {
        let policy = "Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)";
        for (stderr, kind, message) in [
            (
                "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)\n",
                SlurmErrorKind::Unreachable,
                "Batch job submission failed: Unable to contact slurm controller (connect failure)",
            ),
            (
                "slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
                SlurmErrorKind::Unreachable,
                "slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
            ),
            (
                "sbatch: error: invalid partition specified: x\nsbatch: error: Batch job submission failed: Invalid partition name specified",
                SlurmErrorKind::Other,
                "Slurm refused: Batch job submission failed: Invalid partition name specified",
            ),
            (
                &format!("sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: {policy}"),
                SlurmErrorKind::LimitReached,
                policy,
            ),
            (
                "sbatch: fatal: Could not establish a configuration source\n",
                SlurmErrorKind::Other,
                "Slurm is not configured here: sbatch: fatal: Could not establish a configuration source",
            ),
            ("", SlurmErrorKind::Other, "Slurm refused: `sbatch` failed without a message"),
        ] {
            let found = classify("sbatch", stderr);
            assert_eq!((found.kind, found.error.message.as_str()), (kind, message));
        }
    }
}
