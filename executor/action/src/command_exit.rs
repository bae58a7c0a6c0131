//! Describes how a command failed, and tells a lack of memory apart from other causes.

use std::path::{Path, PathBuf};

use cwm_contract::Failure;

use super::log_tail::read_log_tail;
use super::out_of_memory;
use super::protocol::{ActionFailureKind, Failed};
use cwm_core::os::out_of_memory_kills;

/// The state of the log and of the kernel when a command began.
pub struct CommandLog {
    log: PathBuf,
    log_began_at: u64,
    kills: u64,
}

impl CommandLog {
    /// Begins to watch a command that writes this log.
    pub fn begin(log: &Path) -> Self {
        let log_began_at = std::fs::metadata(log).map_or(0, |log| log.len());
        CommandLog { log: log.to_owned(), log_began_at, kills: out_of_memory_kills() }
    }

    fn evidence(&self) -> ExitEvidence {
        ExitEvidence {
            killed: out_of_memory_kills() > self.kills,
            log_line: out_of_memory::find_in_log(&self.log, self.log_began_at),
            module_missing: module_missing(&self.log, self.log_began_at),
        }
    }
}

/// Evidence of the cause of a failure.
struct ExitEvidence {
    /// True if the kernel killed a process for lack of memory while the command ran.
    killed: bool,
    /// The line of the log that reports a lack of memory.
    log_line: Option<String>,
    /// True if the log has an interpreter's error about a missing module.
    module_missing: bool,
}

/// Returns true if the end of a log has the error of Python or Node about a missing module.
fn module_missing(log: &Path, from: u64) -> bool {
    let errors = ["ModuleNotFoundError:", "Error: Cannot find module", "Error [ERR_MODULE_NOT_FOUND]"];
    read_log_tail(log, from, 16 << 10).is_ok_and(|tail| errors.iter().any(|error| tail.contains(error)))
}

/// Describes the failure of a command, which ended with another status than 0 or by a signal.
pub fn failure(code: Option<i32>, signal: Option<i32>, command_log: &CommandLog) -> Failed {
    describe(code, signal, command_log.evidence())
}

fn describe(code: Option<i32>, signal: Option<i32>, evidence: ExitEvidence) -> Failed {
    // A shell has this status if a signal ended what it called.
    let inner = code.filter(|code| (129..=192).contains(code)).map(|code| code - 128);
    let ended = match (code, signal, inner) {
        (Some(code), _, Some(inner)) => {
            format!("its command ended with exit status {code}: what it called was ended by {}", describe_signal(inner))
        }
        (Some(code), ..) => format!("its command ended with exit status {code}"),
        (None, Some(signal), _) => format!("its command was ended by {}", describe_signal(signal)),
        (None, None, _) => "its command ended without status or signal".to_owned(),
    };
    let was_killed = signal.or(inner) == Some(libc::SIGKILL);
    match evidence {
        ExitEvidence { killed: true, .. } if was_killed => {
            let failure = Failure::system(format!("{ended}: killed by the kernel, out of memory"));
            (ActionFailureKind::OutOfMemory, failure.hint(out_of_memory::HINT))
        }
        ExitEvidence { log_line: Some(line), .. } => {
            let failure = Failure::system(format!("{ended}: out of memory, as its log tells ({line})"));
            (ActionFailureKind::OutOfMemory, failure.hint(out_of_memory::HINT))
        }
        ExitEvidence { killed: true, .. } => {
            let hint = "the kernel killed a process for want of memory while it ran; if that was one of its own, it needs \
                        more memory, or fewer `--jobs`";
            (ActionFailureKind::Command, Failure::input(ended).hint(hint))
        }
        evidence => {
            let failure = Failure::input(ended);
            let hint = match (code, was_killed) {
                (_, true) => {
                    Some("not by the kernel for want of memory, as far as it tells: somebody or something killed it")
                }
                (Some(126), _) => Some("what it calls cannot be executed: is its mode right, and its first line?"),
                (Some(127), _) => Some(
                    "a program was not found: it is looked for in PATH, and files of the pipeline's folder are there only if `deps:` names them",
                ),
                _ if evidence.module_missing => Some(
                    "modules of the pipeline's folder are found only if `deps:` names them, such as `deps: [\"scripts/**\"]`",
                ),
                _ => None,
            };
            (ActionFailureKind::Command, Failure { hint: hint.map(str::to_owned), ..failure })
        }
    }
}

/// Names a signal: `signal 9 (SIGKILL)`.
pub fn describe_signal(signal: i32) -> String {
    match signal_hook::low_level::signal_name(signal) {
        Some(name) => format!("signal {signal} ({name})"),
        None => format!("signal {signal}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(
        code: Option<i32>,
        signal: Option<i32>,
        killed: bool,
        line: Option<&str>,
    ) -> (ActionFailureKind, String) {
        let (kind, failure) =
            describe(code, signal, ExitEvidence { killed, log_line: line.map(str::to_owned), module_missing: false });
        (kind, failure.message)
    }

    #[test]
    fn want_of_memory_is_told_apart_from_a_crash() {
        use ActionFailureKind::{Command, OutOfMemory};
        let plain = "its command ended with exit status 1";
        assert_eq!(described(Some(1), None, false, None), (Command, plain.into()));
        // Some other program may have been killed.
        assert_eq!(described(Some(1), None, true, None), (Command, plain.into()));
        let segfault = "its command ended with exit status 139: what it called was ended by signal 11 (SIGSEGV)";
        assert_eq!(described(Some(139), None, false, None), (Command, segfault.into()));
        let killed = described(Some(137), None, true, None);
        assert_eq!(killed.0, OutOfMemory);
        assert!(killed.1.ends_with("signal 9 (SIGKILL): killed by the kernel, out of memory"), "{}", killed.1);
        assert_eq!(described(Some(137), None, false, None).0, Command);
        let shell =
            (OutOfMemory, "its command was ended by signal 9 (SIGKILL): killed by the kernel, out of memory".into());
        assert_eq!(described(None, Some(9), true, None), shell);
        let python = described(Some(1), None, false, Some("MemoryError"));
        assert_eq!(python, (OutOfMemory, format!("{plain}: out of memory, as its log tells (MemoryError)")));
    }
}
