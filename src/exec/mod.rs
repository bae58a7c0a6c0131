//! One action in a process of its own: `cwm exec KEY`.
//!
//! Reads one self-contained action file, never the YAML; holds the key's lock; puts the result into the store itself,
//! so that what is recorded does not depend on anybody watching.

mod action_file;
mod command_stage;
mod lifeline;
mod protocol;
mod streams;
mod usage;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use cwm_contract::{Cancellation, Context, Event, Failure, FailureKind, GroupInput, Task};

pub use action_file::{ACTION_FILE_FORMAT, ActionBody, ActionFile, ActionInput, ActionOutput, ArtifactShape};
pub use protocol::{FailedKind, Line};

use crate::digest::Key;
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::fingerprint;
use crate::outside::Snapshot;
use crate::registry::Registry;
use crate::store::{Store, WorkFolder};
use streams::{Lines, StageReporter};

/// How a stage's work ended, before it is told to the executor.
enum Outcome {
    Recorded,
    AlreadyRecorded,
    Failed(FailedKind, Failure),
}

/// Does the action `key` of the store at `root`. The exit code is 0 when a result is recorded.
///
/// # Errors
/// The action file or the store cannot be used; failures of the stage itself are told on the event stream and give
/// [`ExitCode::STAGE_FAILED`].
pub fn exec(root: &Path, key: &Key) -> Result<ExitCode, Error> {
    let lines = Lines::take()?;
    lifeline::watch();
    let cancellation = Cancellation::default();
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT, signal_hook::consts::SIGUSR1] {
        signal_hook::flag::register(signal, cancellation.flag())
            .map_err(|error| Error::system(format!("cannot watch for signal {signal}: {error}")))?;
    }
    let outcome = match perform(root, key, &lines, &cancellation) {
        Ok(outcome) => outcome,
        Err(error) => {
            let mut failure = Failure::internal(error.message.clone());
            failure.hint = error.hints.first().cloned();
            let kind = if error.kind == crate::error::ErrorKind::Internal { FailedKind::Internal } else { FailedKind::System };
            Outcome::Failed(kind, failure)
        }
    };
    Ok(match outcome {
        Outcome::Recorded => {
            lines.send(&Line::Recorded);
            ExitCode::OK
        }
        Outcome::AlreadyRecorded => {
            lines.send(&Line::AlreadyRecorded);
            ExitCode::OK
        }
        Outcome::Failed(kind, failure) => {
            eprintln!("{}", failure.message);
            lines.send(&Line::Failed { kind, message: failure.message, hint: failure.hint });
            ExitCode::STAGE_FAILED
        }
    })
}

fn perform(root: &Path, key: &Key, lines: &Lines, cancellation: &Cancellation) -> Result<Outcome, Error> {
    let store = Store::open(root)?;
    let work = store.work(key);
    let lock = store.lock_key(key, |holder| lines.send(&Line::Waiting { holder: holder.to_string() }))?;
    // Only under the lock: another executor may have written the action file anew.
    let action = ActionFile::read(&work.action_file(), key)?;
    check_code(&action)?;
    if !action.force && store.recorded(key)?.is_some_and(|record| store.missing(&record).is_empty()) {
        return Ok(Outcome::AlreadyRecorded);
    }
    work.begin()?;
    lines.log_to(&work.log())?;
    lines.send(&Line::Started);
    let clock = usage::Clock::start();
    let kept = Arc::new(Mutex::new(Vec::new()));
    let ran = catch_unwind(AssertUnwindSafe(|| {
        do_work(&store, &work, &action, &lock, lines, cancellation, kept.clone())
    }));
    let failed = match ran {
        Ok(Ok(())) => None,
        Ok(Err(failure)) => Some((kind_of(&action, &failure), failure)),
        Err(panic) => {
            let message = panic_text(panic.as_ref());
            Some((FailedKind::Panic, Failure::internal(format!("panicked: {message}")).hint("this is a mistake in cwm; please report it with the log")))
        }
    };
    if let Some((kind, failure)) = failed {
        return Ok(Outcome::Failed(kind, failure));
    }
    if let Some(changed) = changed_meanwhile(&action) {
        let failure = Failure::input(format!("{} changed while the stage ran, so its result is not recorded", changed.display()))
            .hint("run again once the file is at rest");
        return Ok(Outcome::Failed(FailedKind::Input, failure));
    }
    let events = std::mem::take(&mut *kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    match usage::record(&store, &work, &action, events, &clock) {
        Ok(()) => Ok(Outcome::Recorded),
        Err(error) => {
            let mut failure = Failure::system(error.message);
            failure.hint = error.hints.into_iter().next();
            Ok(Outcome::Failed(FailedKind::System, failure))
        }
    }
}

/// A rebuild in the middle of a run must not record new code under an old key.
fn check_code(action: &ActionFile) -> Result<(), Error> {
    if let ActionBody::Stage { values, .. } = &action.body {
        let registry = Registry::built_in();
        let Some(stage) = registry.find(&action.components.kind) else {
            return Err(Error::internal(format!("this cwm has no stage `{}`", action.components.kind)));
        };
        let code = fingerprint::code_of(&action.components.kind, stage.parts(values).as_deref());
        if !action.components.code.is_empty() && code != action.components.code {
            return Err(Error::system(format!(
                "the code of stage `{}` in this binary is not the code that the action asks for",
                action.components.kind
            ))
            .hint("cwm was rebuilt meanwhile: run again"));
        }
    }
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn do_work(
    store: &Store,
    work: &WorkFolder,
    action: &ActionFile,
    lock: &crate::store::KeyLock,
    lines: &Lines,
    cancellation: &Cancellation,
    kept: Arc<Mutex<Vec<Event>>>,
) -> Result<(), Failure> {
    let as_failure = |error: Error| Failure::system(error.message);
    let mut inputs = BTreeMap::new();
    for (name, group) in &action.inputs {
        let paths = group.iter().map(|input| Ok(GroupInput { label: input.label.clone(), path: input_path(store, input)? }));
        inputs.insert(name.clone(), paths.collect::<Result<Vec<_>, Error>>().map_err(as_failure)?);
    }
    let outputs: BTreeMap<String, PathBuf> = action
        .outputs
        .iter()
        .map(|(name, output)| (name.clone(), work.out().join(output.shape.file_name(name))))
        .collect();
    match &action.body {
        ActionBody::Stage { values, .. } => {
            let registry = Registry::built_in();
            let stage = registry
                .find(&action.components.kind)
                .ok_or_else(|| Failure::internal(format!("this cwm has no stage `{}`", action.components.kind)))?;
            // Stages find links named by input, so that messages name them, and objects stay read-only.
            let task = Task {
                values: values.clone(),
                inputs,
                outputs,
                temporary: work.tmp(),
                kept: work.keep(),
                resources: action.resources.clone(),
            };
            let reporter = StageReporter { lines: lines.clone(), kept };
            stage.run(&Context::new(stage, task, Box::new(reporter), cancellation.clone()))
        }
        ActionBody::Command { run, environment, inherited, deps } => {
            let folder = work.tmp().join("cwd");
            std::fs::create_dir_all(&folder).map_err(|error| Failure::io("make", &folder, error))?;
            let deps = deps.iter().map(|(relative, snapshot)| (relative.clone(), snapshot.path.clone())).collect();
            let inputs = command_stage::lay_out(action, &inputs, &folder, &deps)?;
            let scratch = work.tmp().join("scratch");
            std::fs::create_dir_all(&scratch).map_err(|error| Failure::io("make", &scratch, error))?;
            let layout = command_stage::Layout {
                folder: &folder,
                inputs: &inputs,
                outputs: &outputs,
                temporary: &scratch,
                cores: action.resources.cores,
                lock: lock.descriptor(),
            };
            let variables = command_stage::environment(environment, &layout);
            command_stage::run(run, &variables, inherited, &layout, cancellation)?;
            undeclared(&work.out(), &outputs)
        }
    }
}

/// An output that nobody declared would be lost silently; that is an error.
fn undeclared(out: &Path, outputs: &BTreeMap<String, PathBuf>) -> Result<(), Failure> {
    let entries = std::fs::read_dir(out).map_err(|error| Failure::io("list", out, error))?;
    for entry in entries {
        let path = entry.map_err(|error| Failure::io("list", out, error))?.path();
        if !outputs.values().any(|output| *output == path) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            return Err(Failure::input(format!("its command wrote `{name}`, which is not one of its outputs"))
                .hint("declare it under `outputs:`, or write it to $TMPDIR"));
        }
    }
    Ok(())
}

fn input_path(store: &Store, input: &ActionInput) -> Result<PathBuf, Error> {
    match &input.outside {
        Some(snapshot) => Ok(snapshot.path.clone()),
        None => store.artifact_path(&input.digest, input.shape == ArtifactShape::Folder),
    }
}

fn changed_meanwhile(action: &ActionFile) -> Option<PathBuf> {
    let parameters: Vec<&Snapshot> = match &action.body {
        ActionBody::Stage { files, .. } => files.iter().collect(),
        ActionBody::Command { deps, .. } => deps.values().collect(),
    };
    let inputs = action.inputs.values().flatten().filter_map(|input| input.outside.as_ref());
    parameters.into_iter().chain(inputs).find(|snapshot| !snapshot.still_the_same()).map(|snapshot| snapshot.path.clone())
}

fn kind_of(action: &ActionFile, failure: &Failure) -> FailedKind {
    match failure.kind {
        FailureKind::Cancelled => FailedKind::Cancelled,
        FailureKind::System => FailedKind::System,
        FailureKind::Internal => FailedKind::Internal,
        FailureKind::Input if matches!(action.body, ActionBody::Command { .. }) => FailedKind::Command,
        FailureKind::Input => FailedKind::Input,
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}
