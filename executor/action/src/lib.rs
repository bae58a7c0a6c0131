//! One action in a process of its own: `cwm exec KEY`.
//!
//! Reads one self-contained action file, never the YAML; holds the key's lock; puts the result into the store itself,
//! so that what is recorded does not depend on anybody watching.

mod action_file;
mod attempt;
mod checkpoints;
mod command_exit;
mod command_stage;
mod inputs;
pub mod key_parameters;
mod log_tail;
mod orphans;
pub mod out_of_memory;
mod parent_pipe;
pub mod probe;
mod process_tree;
mod protocol;
pub mod source_key;
mod stale_checkpoints;
pub mod streams;
mod terms;
mod usage;
mod watchdog;
mod work;

use std::io::Write;
use std::path::Path;

use cwm_contract::Cancellation;

pub use action_file::{ACTION_FILE_FORMAT, ActionBody, ActionFile, ActionInput, ActionOutput, Artifact};
pub use command_exit::describe_signal;
pub use log_tail::read_log_tail;
pub use process_tree::kill_descendants;
pub use protocol::{ActionFailure, ActionFailureKind, ActionMessage, ActionOutcome};
pub use terms::AttemptOptions;
pub use usage::user;

use cwm_core::{Error, ExitCode, Key, Registry};
use cwm_store::external_files::DigestCache;
use cwm_store::{KeyLock, Store, WorkFolder};
pub use streams::MessageWriter;
use work::AttemptContext;

/// Runs one action, which `perform` does, and writes its messages to standard output, or to the file `events`. The exit code is
/// 0 when a result is recorded.
///
/// # Errors
/// The messages cannot be written. Failures of the action are reported as a message and give [`ExitCode::STAGE_FAILED`].
pub fn exec(
    events: Option<&Path>,
    perform: impl FnOnce(&MessageWriter, &Cancellation) -> Result<ActionOutcome, ActionFailure>,
) -> Result<ExitCode, Error> {
    let messages = events.map_or_else(MessageWriter::take, MessageWriter::into_file)?;
    parent_pipe::watch();
    let cancellation = Cancellation::default();
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT, signal_hook::consts::SIGUSR1] {
        signal_hook::flag::register(signal, cancellation.flag())
            .map_err(|error| Error::system(format!("cannot watch for signal {signal}: {error}")))?;
    }
    let outcome = perform(&messages, &cancellation);
    let exit_code = if outcome.is_ok() { ExitCode::OK } else { ExitCode::STAGE_FAILED };
    if let Err(failure) = &outcome {
        streams::end_line_of_log();
        // The log may be on a full disk.
        let _ = writeln!(std::io::stderr(), "{}", failure.message);
    }
    messages.send(&ActionMessage::Outcome(outcome));
    Ok(exit_code)
}

/// Takes the lock of the key, waiting for its present holder.
///
/// # Errors
/// A stop was requested meanwhile, or the store cannot be used.
pub fn lock_action(
    store: &Store,
    key: &Key,
    terms: &AttemptOptions,
    messages: &MessageWriter,
    cancellation: &Cancellation,
) -> Result<KeyLock, ActionFailure> {
    let mut reported = false;
    let lock = store.lock_key(key, &terms.who(), |holder| {
        if !std::mem::replace(&mut reported, true) {
            let holder = holder.map_or_else(|| "another process".into(), ToString::to_string);
            messages.send(&ActionMessage::Waiting { holder });
        }
        !cancellation.is_cancelled()
    });
    lock?.ok_or_else(ActionFailure::cancelled)
}

/// Performs an action in the store at `root`; its output goes into the log there, or into the one at `log`.
///
/// # Errors
/// The stage failed, or the store or the action file cannot be used.
pub fn perform(
    registry: &Registry,
    root: &Path,
    key: &Key,
    terms: &AttemptOptions,
    messages: &MessageWriter,
    cancellation: &Cancellation,
    log: Option<&Path>,
) -> Result<ActionOutcome, ActionFailure> {
    let store = Store::at(root)?.assume_initialized();
    let files = DigestCache::of_store(&store);
    let work = if terms.check { store.checking(key) } else { store.work(key) };
    let log = log.map_or_else(|| work.log(), Path::to_owned);
    let lock = lock_action(&store, key, terms, messages, cancellation)?;
    // Only under the lock is this certain: another executor may have recorded the result meanwhile, and have taken the
    // work folder with the action file away.
    let recorded = store.available(key, None, &files)?.is_some();
    let action = match ActionFile::read(&work, key) {
        Ok(action) => action,
        // Or it was checked: the run that requested this check writes the file again.
        Err(_) if recorded || terms.check => return Ok(already_recorded(&work)),
        Err(error) => return Err(error.into()),
    };
    if recorded && !action.force && !terms.check {
        return Ok(already_recorded(&work));
    }
    check_components(registry, &action, &files)?;
    work.prepare(terms.attempt)?;
    messages.log_to(&log)?;
    let _ = terms.heading().map(|heading| writeln!(std::io::stderr(), "{heading}"));
    // A command keeps nothing, and need not wait for a stamp to reach the disk.
    if matches!(action.body, ActionBody::Stage { .. }) {
        checkpoints::prepare(&work, &checkpoints::owner(registry, &action))?;
    }
    let has_checkpoint = has_checkpoint(&work)?;
    if !has_checkpoint && !terms.check {
        stale_checkpoints::report(&store, &action);
    }
    let attempt = AttemptContext { registry, store, files, work, log, action, lock, messages, cancellation, terms };
    let outcome = if terms.check {
        let checked = attempt.check();
        checked.inspect(|_| remove(&attempt.work)).map(ActionOutcome::Comparison)
    } else {
        let made = attempt.make(has_checkpoint);
        made.map(ActionOutcome::NewResult).map_err(|failure| of_full_disk(root, failure))
    };
    if outcome.is_err() {
        // The log stays, which has the reason, and so do checkpoints, from which the next attempt resumes.
        attempt.work.discard_output()?;
    }
    outcome
}

/// Returns the failure of an attempt, which may be due to a full disk: its own message may be lost, as the log is on that disk
/// too.
fn of_full_disk(root: &Path, failure: ActionFailure) -> ActionFailure {
    let is_full = || rustix::fs::statvfs(root).is_ok_and(|disk| disk.f_bavail * disk.f_frsize < 64 * 1024);
    if failure.kind == ActionFailureKind::Cancelled || !is_full() {
        return failure;
    }
    let message = format!("{}; the disk of the store is full (No space left on device)", failure.message);
    ActionFailure { message, ..failure }
        .hint("free space on that disk, then run again: nothing that was recorded is lost")
}

/// Returns true if this folder has a checkpoint from which an attempt resumes.
///
/// # Errors
/// The disk refuses.
pub fn has_checkpoint(work: &WorkFolder) -> Result<bool, Error> {
    Ok(!checkpoints::usable(work.checkpoints()?).is_empty())
}

/// Removes the work folder of an action whose result another process recorded.
pub fn already_recorded(work: &WorkFolder) -> ActionOutcome {
    remove(work);
    ActionOutcome::CacheHit
}

/// Removes the work folder of an action that is done; a failure is only reported.
fn remove(work: &WorkFolder) {
    if let Err(error) = work.remove() {
        let _ = writeln!(std::io::stderr(), "the work folder stays: {error}");
    }
}

/// Fails if components of the key changed since the key was made: code that was rebuilt in the middle of a run, a secret, a
/// variable of the environment, or a file given as a parameter. External sources depend on their files alone, which are checked
/// at the end.
fn check_components(registry: &Registry, action: &ActionFile, files: &DigestCache) -> Result<(), Error> {
    if let ActionBody::Command { inherited, .. } = &action.body
        && let Some((name, _)) =
            key_parameters::variables(inherited).find(|(name, now)| action.components.parameters.get(name) != Some(now))
    {
        return Err(Error::system(format!("{name} is not what it was when the key was made")).hint("run again"));
    }
    if let ActionBody::Stage { values, .. } = &action.body {
        let Some(stage) = registry.get(&action.components.kind) else {
            return Err(Error::internal(format!("this cwm has no stage `{}`", action.components.kind)));
        };
        let code = (registry.code_of)(&action.components.kind, stage.code_parts(values).as_deref())?;
        if !action.components.code.is_empty() && code != action.components.code {
            return Err(Error::system(format!(
                "the code of stage `{}` in this binary is not the code that the action asks for",
                action.components.kind
            ))
            .hint("cwm was rebuilt meanwhile: run again"));
        }
        if stage.external_sources(values).is_none()
            && key_parameters::parameters(stage, values, files, &mut Vec::new())? != action.components.parameters
        {
            return Err(Error::system("parameters, files or secrets are not what they were when the key was made")
                .hint("if a file or secret was changed just now, run again"));
        }
    }
    Ok(())
}
