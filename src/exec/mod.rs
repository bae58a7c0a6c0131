//! One action in a process of its own: `cwm exec KEY`.
//!
//! Reads one self-contained action file, never the YAML; holds the key's lock; puts the result into the store itself,
//! so that what is recorded does not depend on anybody watching.

mod action_file;
mod command_stage;
mod elsewhere;
mod kept;
mod lifeline;
mod protocol;
mod stragglers;
mod streams;
mod usage;

use std::collections::BTreeMap;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use cwm_contract::{Cancellation, Context, Event, Failure, FailureKind, GroupInput, Task};

pub use action_file::{ACTION_FILE_FORMAT, ActionBody, ActionFile, ActionInput, ActionOutput, Artifact};
pub use protocol::{FailedKind, Line};

use crate::digest::{Digest, Key};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::fingerprint;
use crate::keyed;
use crate::outside::{Files, Snapshot};
use crate::registry::Registry;
use crate::store::{KeyLock, OutputRecord, Stamp, Store, WorkFolder};
use streams::{Lines, StageReporter};

/// How a stage's work ended, before it is told to the executor.
enum Outcome {
    Recorded(BTreeMap<String, Digest>),
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
            let kind =
                if error.kind == crate::error::ErrorKind::Internal { FailedKind::Internal } else { FailedKind::System };
            Outcome::Failed(kind, failure)
        }
    };
    Ok(match outcome {
        Outcome::Recorded(outputs) => {
            lines.send(&Line::Recorded(outputs));
            ExitCode::OK
        }
        Outcome::AlreadyRecorded => {
            lines.send(&Line::AlreadyRecorded);
            ExitCode::OK
        }
        Outcome::Failed(kind, failure) => {
            // The log may be on a full disk.
            let _ = writeln!(std::io::stderr(), "{}", failure.message);
            lines.send(&Line::Failed { kind, message: failure.message, hint: failure.hint });
            ExitCode::STAGE_FAILED
        }
    })
}

fn perform(root: &Path, key: &Key, lines: &Lines, cancellation: &Cancellation) -> Result<Outcome, Error> {
    let store = Store::at(root)?.seen_whole();
    let files = Files::of_store(&store);
    let work = store.work(key);
    let mut told = false;
    let lock = store.lock_key(key, &command_line(), |holder| {
        if !std::mem::replace(&mut told, true) {
            let holder = holder.map_or_else(|| "another process".into(), ToString::to_string);
            lines.send(&Line::Waiting { holder });
        }
        !cancellation.is_cancelled()
    })?;
    let Some(lock) = lock else { return Ok(Outcome::Failed(FailedKind::Cancelled, Failure::cancelled())) };
    // Only under the lock is this certain: another executor may have recorded the result meanwhile, and have taken the
    // work folder with the action file away.
    let recorded = store.available(key, None, &files)?.is_some();
    let action = match ActionFile::read(&work, key) {
        Ok(action) => action,
        Err(_) if recorded => return already_recorded(&work),
        Err(error) => return Err(error),
    };
    if recorded && !action.force {
        return already_recorded(&work);
    }
    check_components(&action, &files)?;
    work.prepare()?;
    lines.log_to(&work.log())?;
    // A command keeps nothing, and need not wait for a stamp to reach the disk.
    if matches!(action.body, ActionBody::Stage { .. })
        && let Err(failure) = kept::prepare(&work, &kept::attempt(&action))?
    {
        return Ok(Outcome::Failed(FailedKind::Input, failure));
    }
    let goes_on = !kept::usable(work.kept()?).is_empty();
    if !goes_on {
        elsewhere::tell(&store, &action);
    }
    lines.send(&Line::Started);
    let clock = usage::Clock::start();
    let kept = Arc::new(Mutex::new(Vec::new()));
    let inputs = Inputs::find(&store, &files, &action)?;
    let ran =
        catch_unwind(AssertUnwindSafe(|| do_work(&work, &action, &inputs, &lock, lines, cancellation, kept.clone())));
    let failed = match ran {
        Ok(Ok(())) => None,
        Ok(Err(failure)) => Some((kind_of(&action, &failure), failure)),
        Err(panic) => {
            let failure = Failure::internal(format!("panicked: {}", panic_text(panic.as_ref())));
            Some((FailedKind::Panic, failure.hint("this is a mistake in cwm; please report it with the log")))
        }
    };
    if let Some((kind, mut failure)) = failed {
        if kind != FailedKind::Cancelled && disk_is_full(root) {
            // Its own words may be lost: the log is on that disk too.
            failure.message += "; the disk of the store is full (No space left on device)";
            failure.hint = Some("free space on that disk, then run again: nothing that was recorded is lost".into());
        }
        // Not what it kept, which the next attempt goes on from.
        work.discard_output()?;
        return Ok(Outcome::Failed(kind, failure));
    }
    for snapshot in inputs.watched(&action) {
        if !snapshot.still_the_same()? {
            let changed = snapshot.path.display();
            let failure =
                Failure::input(format!("{changed} changed while the stage ran, so its result is not recorded"));
            return Ok(Outcome::Failed(FailedKind::Input, failure.hint("run again once the file is at rest")));
        }
    }
    for (output, stamp) in &inputs.stamps {
        if !store.stamp(output, &files).is_ok_and(|now| now == *stamp) {
            let failure =
                Failure::input("one of its inputs in the store was changed while it ran; its result is not recorded");
            let hint = "inputs are read-only: copy what must be changed; `cwm verify` sets damaged files aside";
            return Ok(Outcome::Failed(FailedKind::Input, failure.hint(hint)));
        }
    }
    let events = std::mem::take(&mut *kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    Ok(Outcome::Recorded(usage::record(&store, &work, &action, &inputs, events, &clock.of(goes_on))?))
}

/// Somebody else made the result; nobody needs what lies in the work folder any more.
fn already_recorded(work: &WorkFolder) -> Result<Outcome, Error> {
    work.remove()?;
    Ok(Outcome::AlreadyRecorded)
}

/// Whether a file system has room for nothing worth writing.
fn disk_is_full(root: &Path) -> bool {
    rustix::fs::statvfs(root).is_ok_and(|disk| disk.f_bavail * disk.f_frsize < 64 * 1024)
}

/// What this process was asked to do, for those who wait for it.
fn command_line() -> String {
    let words: Vec<String> = std::env::args().take(3).collect();
    words.join(" ")
}

/// The inputs of an action, found.
pub(crate) struct Inputs {
    /// By input name, each in the order of the plan.
    groups: BTreeMap<String, Vec<GroupInput>>,
    /// Files from outside among them, as they are at the start.
    outside: Vec<Snapshot>,
    /// What is read from the store, with what the file system says of it at the start.
    stamps: Vec<(OutputRecord, Stamp)>,
    /// What is read from the store, with where it lies.
    stored: Vec<(PathBuf, OutputRecord)>,
}

impl Inputs {
    fn find(store: &Store, files: &Files, action: &ActionFile) -> Result<Self, Error> {
        let mut found = Inputs { groups: BTreeMap::new(), outside: Vec::new(), stamps: Vec::new(), stored: Vec::new() };
        for (name, group) in &action.inputs {
            let mut paths = Vec::with_capacity(group.len());
            for input in group {
                let path = match &input.artifact {
                    Artifact::Outside(snapshot) => {
                        found.outside.push(snapshot.clone());
                        snapshot.path.clone()
                    }
                    Artifact::Output(output) => {
                        let path = store.path_of(output, files)?;
                        if output.outside.is_some() && !store.contains(&path) {
                            found.outside.push(files.snapshot(&path)?);
                        }
                        found.stamps.push((output.clone(), store.stamp(output, files)?));
                        found.stored.push((path.clone(), output.clone()));
                        path
                    }
                };
                paths.push(GroupInput { label: input.label.clone(), path });
            }
            found.groups.insert(name.clone(), paths);
        }
        Ok(found)
    }

    /// Every file from outside that the action reads.
    fn watched<'a>(&'a self, action: &'a ActionFile) -> impl Iterator<Item = &'a Snapshot> {
        let given: Vec<&Snapshot> = match &action.body {
            ActionBody::Stage { files, .. } => files.iter().collect(),
            ActionBody::Command { deps, .. } => deps.values().collect(),
        };
        self.outside.iter().chain(given)
    }
}

/// A rebuild in the middle of a run must not record new code under an old key; nor may a secret, a variable of the
/// environment, or a file given as a parameter, that changed since the key was made. What a stage only brings in depends on none of them but its files, which are
/// looked at when it has ended.
fn check_components(action: &ActionFile, files: &Files) -> Result<(), Error> {
    if let ActionBody::Command { inherited, .. } = &action.body
        && let Some((name, _)) =
            keyed::variables(inherited).find(|(name, now)| action.components.parameters.get(name) != Some(now))
    {
        return Err(Error::system(format!("{name} is not what it was when the key was made")).hint("run again"));
    }
    if let ActionBody::Stage { values, .. } = &action.body {
        let registry = Registry::built_in();
        let Some(stage) = registry.get(&action.components.kind) else {
            return Err(Error::internal(format!("this cwm has no stage `{}`", action.components.kind)));
        };
        let code = fingerprint::code_of(&action.components.kind, stage.parts(values).as_deref())?;
        if !action.components.code.is_empty() && code != action.components.code {
            return Err(Error::system(format!(
                "the code of stage `{}` in this binary is not the code that the action asks for",
                action.components.kind
            ))
            .hint("cwm was rebuilt meanwhile: run again"));
        }
        if stage.brings(values).is_none()
            && keyed::parameters(stage, values, files, &mut Vec::new())? != action.components.parameters
        {
            return Err(Error::system("parameters, files or secrets are not what they were when the key was made")
                .hint("if a file or secret was changed just now, run again"));
        }
    }
    Ok(())
}

fn do_work(
    work: &WorkFolder,
    action: &ActionFile,
    inputs: &Inputs,
    lock: &KeyLock,
    lines: &Lines,
    cancellation: &Cancellation,
    kept: Arc<Mutex<Vec<Event>>>,
) -> Result<(), Failure> {
    let outputs: BTreeMap<String, PathBuf> =
        action.outputs.iter().map(|(name, output)| (name.clone(), work.out().join(output.file_name(name)))).collect();
    match &action.body {
        ActionBody::Stage { values, expected, .. } => {
            let registry = Registry::built_in();
            let stage = registry
                .get(&action.components.kind)
                .ok_or_else(|| Failure::internal(format!("this cwm has no stage `{}`", action.components.kind)))?;
            let task = Task {
                values: values.clone(),
                inputs: inputs.groups.clone(),
                outputs,
                temporary: work.tmp(),
                kept: work.keep(),
                resources: action.resources.clone(),
                expected: expected.clone(),
            };
            let refused = Arc::new(Mutex::new(None));
            let computes_on = kept::settling(work, action, cancellation, refused.clone());
            let reporter = StageReporter { lines: lines.clone(), kept, computes_on };
            let ran = stage.run(&Context::new(stage, task, Box::new(reporter), cancellation.clone()));
            let refused = refused.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
            refused.map_or(ran, Err)
        }
        ActionBody::Command { run, environment, inherited, deps } => {
            let folder = work.tmp().join("cwd");
            std::fs::create_dir_all(&folder).map_err(|error| Failure::io("make", &folder, error))?;
            let deps = deps.iter().map(|(relative, snapshot)| (relative.clone(), snapshot.path.clone())).collect();
            let inputs = command_stage::lay_out(action, &inputs.groups, &folder, &deps)?;
            let scratch = work.tmp().join("scratch");
            std::fs::create_dir_all(&scratch).map_err(|error| Failure::io("make", &scratch, error))?;
            let layout = command_stage::Layout {
                folder: &folder,
                inputs: &inputs,
                outputs: &outputs,
                temporary: &scratch,
                cores: action.resources.cores,
            };
            // So that the key stays locked as long as anyone can write, even if this process is killed.
            lock.let_children_keep()?;
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
