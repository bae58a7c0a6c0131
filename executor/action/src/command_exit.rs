//! Describes how a command failed, and distinguishes a lack of memory from other causes.

use super::out_of_memory;
use super::protocol::{ActionFailure, ActionFailureKind};

/// The errors of Python and Node about a missing module.
const MISSING_MODULE: [&str; 3] = ["ModuleNotFoundError:", "Error: Cannot find module", "Error [ERR_MODULE_NOT_FOUND]"];

/// Describes the failure of a command that ended with another status than 0 or by a signal; `kernel_killed` if the kernel killed a
/// process for lack of memory while the command ran.
pub fn describe(code: Option<i32>, signal: Option<i32>, kernel_killed: bool, log_tail: &str) -> ActionFailure {
    // A shell has this status if a signal ended what it called.
    let inner = code.filter(|code| (129..=192).contains(code)).map(|code| code - 128);
    let ended = match (code, signal, inner) {
        (Some(code), _, Some(inner)) => {
            format!(
                "its command ended with exit status {code}: a child process was killed by {}",
                describe_signal(inner)
            )
        }
        (Some(code), ..) => format!("its command ended with exit status {code}"),
        (None, Some(signal), _) => format!("its command was ended by {}", describe_signal(signal)),
        (None, None, _) => "its command ended without status or signal".to_owned(),
    };
    let was_killed = signal.or(inner) == Some(libc::SIGKILL);
    let out_of_memory =
        |ended: String| ActionFailure::new(ActionFailureKind::OutOfMemory, ended).hint(out_of_memory::HINT);
    if kernel_killed && was_killed {
        return out_of_memory(format!("{ended}: killed by the kernel, out of memory"));
    }
    if let Some(line) = out_of_memory::find(log_tail) {
        return out_of_memory(format!("{ended}: out of memory, according to its log ({line})"));
    }
    let failure = ActionFailure::new(ActionFailureKind::Command, ended);
    match code {
        _ if kernel_killed => failure.hint(
            "the kernel killed a process for lack of memory while it ran; if that was one of its own, it needs more memory, or \
             fewer `--jobs`",
        ),
        _ if was_killed => failure.hint("the kernel reports no kill for lack of memory; `cwm run` runs it again"),
        _ if inner == Some(libc::SIGPIPE) => failure.hint(
            "a program in a pipe ended before it had read all of its input, as `head` does, which is a failure with `pipefail`: \
             limit what is written into the pipe, or begin the command with `set +o pipefail`",
        ),
        Some(126) if log_tail.contains("Argument list too long") => {
            failure.hint("the arguments are longer than Linux allows: write them to a file, or pass them on with `xargs`")
        }
        Some(126) => failure.hint("what it calls cannot be executed: check its mode (`chmod +x FILE`) and its first line"),
        Some(127) => {
            let program = missing_program(log_tail).map_or("a program".to_owned(), |program| format!("`{program}`"));
            failure.hint(format!(
                "{program} was not found: it is looked for in PATH, and files of the pipeline's folder are there only if \
                 `deps:` names them"
            ))
        }
        _ if MISSING_MODULE.iter().any(|error| log_tail.contains(error)) => failure.hint(
            "modules of the pipeline's folder are found only if `deps:` names them, such as `deps: [\"scripts/**\"]`",
        ),
        _ => failure,
    }
}

/// Returns the program that the last line of a shell's log reports as not found: `bash: line 1: x: command not found`.
fn missing_program(log_tail: &str) -> Option<&str> {
    let line = log_tail.trim_end().lines().last()?;
    let line = line.strip_suffix(": command not found").or(line.strip_suffix(": not found"))?;
    line.rsplit(": ").next()
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

    fn described(code: Option<i32>, signal: Option<i32>, killed: bool, log: &str) -> (ActionFailureKind, String) {
        let failure = describe(code, signal, killed, log);
        (failure.kind, failure.message)
    }

    #[test]
    fn want_of_memory_is_distinguished_from_a_crash() {
        use ActionFailureKind::{Command, OutOfMemory};
        let plain = "its command ended with exit status 1";
        assert_eq!(described(Some(1), None, false, ""), (Command, plain.into()));
        // Some other program may have been killed.
        assert_eq!(described(Some(1), None, true, ""), (Command, plain.into()));
        let segfault = "its command ended with exit status 139: a child process was killed by signal 11 (SIGSEGV)";
        assert_eq!(described(Some(139), None, false, ""), (Command, segfault.into()));
        let killed = described(Some(137), None, true, "");
        assert_eq!(killed.0, OutOfMemory);
        assert!(killed.1.ends_with("signal 9 (SIGKILL): killed by the kernel, out of memory"), "{}", killed.1);
        assert_eq!(described(Some(137), None, false, "").0, Command);
        let shell =
            (OutOfMemory, "its command was ended by signal 9 (SIGKILL): killed by the kernel, out of memory".into());
        assert_eq!(described(None, Some(9), true, ""), shell);
        let python = described(Some(1), None, false, "MemoryError\n");
        assert_eq!(python, (OutOfMemory, format!("{plain}: out of memory, according to its log (MemoryError)")));
    }
}
