//! `command` stages: a shell command with declared inputs, outputs and dependencies.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cwm_contract::amount::format_bytes;
use cwm_contract::{Cancellation, Failure, GroupInput};

use crate::action_file::ActionFile;
use crate::log_tail::read_log_tail;
use crate::protocol::{ActionFailure, ActionFailureKind};
use crate::{command_exit, out_of_memory, process_tree};
use cwm_core::{Digest, os};
use cwm_store::FileFingerprint;
use rustix::fs::Mode;
use rustix::process::Pid;

/// The variables of a command: those of `with:`, and the paths of what it reads and writes.
///
/// `out` with one output, and `out_NAME` for each that is not called `out`; `in` with one input, and always `in_NAME`.
pub fn variables(
    environment: &BTreeMap<String, String>,
    inputs: &BTreeMap<String, PathBuf>,
    outputs: &BTreeMap<String, PathBuf>,
) -> BTreeMap<String, OsString> {
    let mut variables: BTreeMap<String, OsString> =
        environment.iter().map(|(name, text)| (name.clone(), text.into())).collect();
    for (kind, paths) in [("out", outputs), ("in", inputs)] {
        for (name, path) in paths {
            let is_out = kind == "out" && name == "out";
            variables.insert(if is_out { name.clone() } else { format!("{kind}_{name}") }, path.into());
        }
        if let (1, Some(only)) = (paths.len(), paths.values().next()) {
            variables.insert(kind.to_owned(), only.into());
        }
    }
    variables
}

/// Makes the process of a command: its shell, with the text of the command as the last argument. Of the environment it has the
/// variables that are `inherited`, and few others.
pub fn command(shell: &[String], text: &str, inherited: &[String]) -> Command {
    let mut words = shell.iter().map(String::as_str).chain([text]);
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).env_clear().stdin(Stdio::null());
    // The executor chose the accelerators; with none, none are visible.
    let names = ["PATH", "HOME", "CUDA_VISIBLE_DEVICES"].into_iter().chain(inherited.iter().map(String::as_str));
    // One that is not set stays so: with `-u` its use fails, except as `${NAME:-}`.
    command.envs(names.filter_map(|name| Some((name, std::env::var_os(name)?))));
    command
}

/// Runs a command, whose output goes to this log, and waits for it. Processes that it leaves in the background are killed: they
/// could still write to the result. After a request to stop, all of them are waited for.
///
/// # Errors
/// Its shell cannot be started, or it ends with another status than 0, by a signal, or on request.
pub fn run(mut command: Command, log: &Path, cancellation: &Cancellation) -> Result<(), ActionFailure> {
    let refused = |what: &str, error: std::io::Error| {
        ActionFailure::new(ActionFailureKind::System, format!("cannot {what}: {error}"))
    };
    let (log_began_at, kills) = (std::fs::metadata(log).map_or(0, |log| log.len()), os::out_of_memory_kills());
    os::become_subreaper().map_err(|error| refused("adopt processes", error))?;
    // The modes of the files that a command makes do not depend on who runs it.
    let umask = rustix::process::umask(Mode::from_raw_mode(0o022));
    let spawned = command.spawn();
    rustix::process::umask(umask);
    let mut child = spawned.map_err(|error| not_started(&command, &error))?;
    let pid = Pid::from_child(&child);
    let (mut is_stopped, mut terminated) = (false, Vec::new());
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                // A batch system signals all processes of a job at once, and this one may be the last to receive it.
                let by_term = status.signal() == Some(libc::SIGTERM) || status.code() == Some(128 + libc::SIGTERM);
                is_stopped |= by_term && is_cancelled_within(cancellation, SIGNAL_DELAY);
                break status;
            }
            Ok(None) => {
                if cancellation.is_cancelled() && !is_stopped {
                    is_stopped = true;
                    process_tree::request_stop(&mut terminated);
                }
                os::wait_briefly_for(pid);
            }
            Err(error) => return Err(refused("wait for the command", error)),
        }
    };
    if is_stopped {
        process_tree::wait_for_children(&mut terminated);
        // Even with status 0: a command may handle the signal and end early with that.
        return Err(ActionFailure::cancelled());
    }
    // A shell that was killed left nothing behind on purpose.
    process_tree::kill_orphans(status.code().is_some());
    if status.success() {
        return Ok(());
    }
    let tail = read_log_tail(log, log_began_at, out_of_memory::TAIL).unwrap_or_default();
    let failure = command_exit::describe(status.code(), status.signal(), os::out_of_memory_kills() > kills, &tail);
    let has_pipefail = command.get_args().any(|word| word == "pipefail");
    Err(match failure.hint {
        None if has_pipefail && status.code().is_some() && tail.trim().is_empty() => failure.hint(
            "its log is empty; with `pipefail` a program in a pipe that fails, such as `grep` without a match, fails it",
        ),
        _ => failure,
    })
}

/// Describes why a command cannot be started. Another attempt fails in the same way.
fn not_started(command: &Command, error: &std::io::Error) -> ActionFailure {
    let shell = command.get_program().to_string_lossy();
    let failure = |problem: String, hint: String| ActionFailure::new(ActionFailureKind::Input, problem).hint(hint);
    match error.kind() {
        ErrorKind::NotFound => failure(
            format!("the shell of its command, `{shell}`, was not found"),
            "install it (a name without a slash is looked for in PATH), or choose another: `with: { shell: sh, run: … }`".into(),
        ),
        ErrorKind::ArgumentListTooLong => {
            let variables = command.get_envs().filter_map(|(name, value)| Some((value?.len(), format!("variable `{}`", name.to_string_lossy()))));
            let run = command.get_args().last().map(|text| (text.len(), "`run`".to_owned()));
            let (size, what) = variables.chain(run).max().unwrap_or_default();
            failure(
                format!("its command is too long for this system: {what} alone has {}", format_bytes(size as u64)),
                "write it into a file and read that: `from: { text: { file: text.txt } }`, then `$in_text`".to_owned(),
            )
        }
        _ => ActionFailure::new(ActionFailureKind::System, format!("cannot start `{shell}`: {error}")),
    }
}

/// The delay with which this process may receive a signal that its command received too.
const SIGNAL_DELAY: Duration = Duration::from_millis(500);

/// Waits for `time`, or until the action is cancelled. Returns true if it is.
pub fn is_cancelled_within(cancellation: &Cancellation, time: Duration) -> bool {
    let began = Instant::now();
    while !cancellation.is_cancelled() && began.elapsed() < time {
        std::thread::sleep(Duration::from_millis(10));
    }
    cancellation.is_cancelled()
}

/// The size up to which dependencies are copied.
const MAX_COPY_SIZE: u64 = 16 << 20;

/// Returns true if a command gets this dependency as a link, and could therefore meet other bytes than those in its key. Code is
/// copied: through a link an interpreter finds modules beside the file that it refers to, which are in no key, and
/// writes compiled files beside it.
pub fn is_linked(dependency: &FileFingerprint) -> bool {
    dependency.stat.size > MAX_COPY_SIZE
}

/// Puts what an action reads where a command finds it: `in/<name>.<ext>` for a single artifact, `in/<name>/<label>` for
/// a group, as links; dependencies under their relative paths, as copies, or as links to [what is large](is_linked).
///
/// # Errors
/// One cannot be made, or a dependency is not what it was any more.
pub fn lay_out(
    action: &ActionFile,
    inputs: &BTreeMap<String, Vec<GroupInput>>,
    folder: &Path,
    deps: &BTreeMap<PathBuf, FileFingerprint>,
) -> Result<BTreeMap<String, PathBuf>, Failure> {
    let make_parent = |at: &Path| match at.parent() {
        Some(parent) => std::fs::create_dir_all(parent).map_err(|error| Failure::io("make", parent, error)),
        None => Ok(()),
    };
    let link = |target: &Path, at: &Path| -> Result<(), Failure> {
        make_parent(at)?;
        std::os::unix::fs::symlink(target, at).map_err(|error| Failure::io("link", at, error))
    };
    let mut paths = BTreeMap::new();
    for (name, group) in &action.inputs {
        let is_group = action.groups.contains(name);
        let below = folder.join("in").join(if is_group { name } else { "" });
        if is_group {
            paths.insert(name.clone(), below.clone());
        }
        for (input, found) in group.iter().zip(&inputs[name]) {
            let base = if is_group { input.label.file_name() } else { name.clone() };
            let at = below.join(input.artifact.file_name(&base));
            link(&found.path, &at)?;
            paths.entry(name.clone()).or_insert(at);
        }
    }
    for (relative, dependency) in deps {
        let at = folder.join(relative);
        if is_linked(dependency) {
            link(&dependency.path, &at)?;
        } else {
            make_parent(&at)?;
            copy(dependency, &at)?;
        }
    }
    Ok(paths)
}

/// Copies a dependency, whose content must be that of the key.
fn copy(dependency: &FileFingerprint, at: &Path) -> Result<(), Failure> {
    std::fs::copy(&dependency.path, at).map_err(|error| Failure::io("copy", &dependency.path, error))?;
    let copied = std::fs::read(at).map_err(|error| Failure::io("read", at, error))?;
    if Digest::of(&copied) != dependency.digest {
        let problem = format!("{} was changed before the command could begin", dependency.path.display());
        return Err(Failure::input(problem).hint("run again once nothing writes to the file"));
    }
    Ok(())
}
