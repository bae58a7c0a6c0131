//! One action in a process of its own: `cwm exec KEY`.
//!
//! Reads one self-contained action file, never the YAML; holds the key's lock; puts the result into the store itself,
//! so that what is recorded does not depend on anybody watching.

mod action_file;
mod attempt;
mod attempt_options;
mod checkpoints;
mod command_exit;
mod command_stage;
mod inputs;
pub mod key_parameters;
mod log_tail;
pub mod out_of_memory;
pub mod probe;
mod process_tree;
mod protocol;
pub mod source_key;
mod streams;
mod usage;
mod watchdog;
mod work;

use std::io::Write;
use std::path::Path;

use cwm_contract::{Cancellation, Stage};

pub use action_file::{ACTION_FILE_FORMAT, ActionBody, ActionFile, ActionInput, ActionOutput, Artifact};
pub use attempt_options::AttemptOptions;
pub use checkpoints::has_checkpoint;
pub use command_exit::describe_signal;
pub use command_stage::is_cancelled_within;
pub use log_tail::read_log_tail;
pub use process_tree::kill_descendants;
pub use protocol::{ActionFailure, ActionFailureKind, ActionMessage, ActionOutcome};
pub use streams::{MessageWriter, log_to};
pub use usage::user;

use attempt::Attempt;
use checkpoints::CheckpointOwner;
use cwm_core::{Error, ExitCode, Key, Registry};
use cwm_store::{CheckpointStamp, DigestCache, KeyLock, Store, WorkFolder};

/// This process, `cwm exec KEY`: its action, and what that needs besides the store.
#[derive(Clone, Copy)]
pub struct ExecProcess<'a> {
    /// The stages of this program.
    pub registry: &'a Registry,
    /// The key of the action.
    pub key: &'a Key,
    /// The options of the attempt.
    pub options: &'a AttemptOptions,
    /// The messages to the executor.
    pub messages: &'a MessageWriter,
    /// The request to stop.
    pub cancellation: &'a Cancellation,
}

/// Runs one action, which `perform` does, and writes its messages to standard output, or to the file `events`. The exit code is
/// 0 when a result is recorded.
///
/// # Errors
/// The messages cannot be written. Failures of the action are reported as a message and give [`ExitCode::STAGE_FAILED`].
pub fn exec(
    registry: &Registry,
    key: &Key,
    options: &AttemptOptions,
    events: Option<&Path>,
    perform: impl FnOnce(&ExecProcess<'_>) -> Result<ActionOutcome, ActionFailure>,
) -> Result<ExitCode, Error> {
    let messages = &MessageWriter::open(events)?;
    process_tree::end_with_parent();
    let cancellation = &Cancellation::default();
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT, signal_hook::consts::SIGUSR1] {
        signal_hook::flag::register(signal, cancellation.flag())
            .map_err(|error| Error::system(format!("cannot watch for signal {signal}: {error}")))?;
    }
    let outcome = perform(&ExecProcess { registry, key, options, messages, cancellation });
    let exit_code = if outcome.is_ok() { ExitCode::OK } else { ExitCode::STAGE_FAILED };
    if let Err(failure) = &outcome {
        // After an empty line, since a command may not have ended its last one. The log may be on a full disk.
        let _ = writeln!(std::io::stderr(), "\n{}", failure.message);
    }
    messages.send(&ActionMessage::Outcome(outcome));
    Ok(exit_code)
}

impl<'a> ExecProcess<'a> {
    /// Takes the lock of the key in `store`, waiting for its present owner, and reads the action. Only under the lock it is
    /// certain that the action is still to be done: another executor may have recorded the result meanwhile, and have removed the
    /// work folder with the action file. Then there is nothing to do.
    ///
    /// # Errors
    /// A stop was requested meanwhile, or the store cannot be used.
    pub fn begin(&self, store: &Store, digests: &DigestCache) -> Result<Option<(KeyLock, ActionFile)>, ActionFailure> {
        let check = self.options.check;
        let mut reported = false;
        let lock = store.lock_key(self.key, &self.options.requested_by, |owner| {
            if !std::mem::replace(&mut reported, true) {
                let owner = owner.map_or_else(|| "another process".into(), ToString::to_string);
                self.messages.send(&ActionMessage::Waiting { owner });
            }
            !self.cancellation.is_cancelled()
        });
        let lock = lock?.ok_or_else(ActionFailure::cancelled)?;
        let recorded = store.available(self.key, None, digests)?.is_some();
        let work = store.attempt_folder(self.key, check);
        match ActionFile::read(&work) {
            Ok(action) if !recorded || action.force || check => return Ok(Some((lock, action))),
            Ok(_) => {}
            // Or it was checked: the run that requested this check writes the file again.
            Err(_) if check || store.preferred_record(self.key, None)?.is_some() => {}
            Err(error) => return Err(error.into()),
        }
        remove(&work);
        Ok(None)
    }

    /// Returns the stage of the action; nothing for a command.
    ///
    /// # Errors
    /// Components of the key changed since the key was made: code that was rebuilt in the middle of a run, a secret, a variable of
    /// the environment, or a file given as a parameter. External sources depend on their files alone, which are checked at the end.
    fn find_stage(&self, action: &ActionFile, digests: &DigestCache) -> Result<Option<&'a dyn Stage>, Error> {
        let components = &action.components;
        let changed =
            |what: String| Error::system(format!("{what} changed since the key was computed")).hint("run again");
        let values = match &action.body {
            ActionBody::Stage { values, .. } => values,
            ActionBody::Command { inherited, .. } => {
                let mut variables = key_parameters::variables(inherited);
                let other = variables.find(|(name, now)| components.parameters.get(name) != Some(now));
                return other.map_or(Ok(None), |(name, _)| Err(changed(name)));
            }
        };
        let (registry, kind) = (self.registry, &components.kind);
        let stage = registry.get(kind).ok_or_else(|| Error::internal(format!("this cwm has no stage `{kind}`")))?;
        let code = (registry.code_of)(kind, stage.code_parts(values).as_deref())?;
        if !components.code.is_empty() && code != components.code {
            return Err(changed(format!("the code of stage `{kind}` (cwm was rebuilt meanwhile)")));
        }
        if stage.external_sources(values).is_none()
            && key_parameters::parameters(stage, values, digests, &mut Vec::new())? != components.parameters
        {
            return Err(changed("a parameter, a file or a secret".to_owned()));
        }
        Ok(Some(stage))
    }

    /// Prepares the folder for the attempt, and sends the output of this process to the log.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn prepare(&self, work: &WorkFolder, log: &Path) -> Result<(), Error> {
        work.prepare(self.options.attempt)?;
        log_to(log)
    }

    /// Performs the action in the store at `root`; its output goes into the log there, or into the one at `log`.
    ///
    /// # Errors
    /// The stage failed, or the store or the action file cannot be used.
    pub fn perform(&self, root: &Path, log: Option<&Path>) -> Result<ActionOutcome, ActionFailure> {
        let store = Store::at(root)?;
        let digests = DigestCache::of_store(&store);
        let Some((lock, action)) = self.begin(&store, &digests)? else { return Ok(ActionOutcome::CacheHit) };
        let stage = self.find_stage(&action, &digests)?;
        let work = store.attempt_folder(self.key, self.options.check);
        let log = log.map_or_else(|| work.log(), Path::to_owned);
        self.prepare(&work, &log)?;
        let _ = self.options.heading().map(|heading| writeln!(std::io::stderr(), "{heading}"));
        let checkpoints = CheckpointOwner::of(&work, &action);
        // A command keeps nothing, and need not wait for a stamp to reach the disk.
        if let Some(stage) = stage {
            checkpoints.prepare((!stage.uses_devices()).then_some(CheckpointStamp::PROCESSOR))?;
        }
        let has_checkpoint = has_checkpoint(&work)?;
        let attempt = Attempt { process: *self, stage, store, digests, work, log, action, lock };
        let outcome = if self.options.check {
            let checked = attempt.check();
            checked.inspect(|_| remove(&attempt.work)).map(ActionOutcome::Comparison)
        } else {
            let made = attempt.execute_and_record(has_checkpoint);
            made.map(ActionOutcome::NewResult).map_err(|failure| of_full_disk(root, failure))
        };
        if outcome.is_err() {
            // The log stays, which has the reason, and so do checkpoints, from which the next attempt resumes.
            attempt.work.discard_output()?;
        }
        outcome
    }
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

/// Removes the work folder of an action that is done; a failure is only reported.
pub fn remove(work: &WorkFolder) {
    if let Err(error) = work.remove() {
        let _ = writeln!(std::io::stderr(), "the work folder stays: {error}");
    }
}
