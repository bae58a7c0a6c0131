//! The work itself: a stage of this binary, or a command.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use cwm_contract::{Cancellation, Context, Event, Failure, Task};

use super::inputs::Inputs;
use super::protocol::{ActionFailure, ActionFailureKind};
use super::streams::{MessageWriter, StageReporter};
use super::terms::AttemptOptions;
use super::{ActionBody, ActionFile, checkpoints, command_stage};
use cwm_core::Registry;
use cwm_store::external_files::DigestCache;
use cwm_store::{KeyLock, Store, WorkFolder};

/// An attempt that is about to begin, under the lock of its key.
pub struct AttemptContext<'a> {
    pub registry: &'a Registry,
    pub store: Store,
    pub files: DigestCache,
    pub work: WorkFolder,
    /// The file of its log: in the work folder, unless others read it elsewhere.
    pub log: PathBuf,
    pub action: ActionFile,
    pub lock: KeyLock,
    pub messages: &'a MessageWriter,
    pub cancellation: &'a Cancellation,
    pub terms: &'a AttemptOptions,
}

impl AttemptContext<'_> {
    /// Returns true if the work is done by processes that this one starts, and not by this one itself.
    pub fn is_command(&self) -> bool {
        matches!(self.action.body, ActionBody::Command { .. })
    }
}

/// Does the work of an action in its folder. The events for the record are put into `kept`.
///
/// # Errors
/// It failed.
pub fn do_work(
    attempt: &AttemptContext<'_>,
    inputs: &Inputs,
    kept: Arc<Mutex<Vec<Event>>>,
) -> Result<(), ActionFailure> {
    let AttemptContext { work, action, lock, messages, cancellation, log, .. } = attempt;
    let outputs: BTreeMap<String, PathBuf> =
        action.outputs.iter().map(|(name, output)| (name.clone(), work.out().join(output.file_name(name)))).collect();
    match &action.body {
        ActionBody::Stage { values, expected, .. } => {
            let kind = &action.components.kind;
            let unknown = || Failure::internal(format!("this cwm has no stage `{kind}`"));
            let stage = attempt.registry.get(kind).ok_or_else(unknown)?;
            let task = Task {
                values: values.clone(),
                inputs: inputs.groups.clone(),
                outputs,
                temporary: work.tmp(),
                checkpoint_dir: work.keep(),
                resources: action.resources.clone(),
                expected: expected.clone(),
            };
            let refused = Arc::new(Mutex::new(None));
            let report_device =
                checkpoints::device_check(attempt.registry, work, action, cancellation, refused.clone());
            let reporter = StageReporter { messages: (*messages).clone(), kept, report_device };
            let ran = stage.run(&Context::new(stage, task, Box::new(reporter), (*cancellation).clone()));
            let refused = refused.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
            match refused {
                Some(failure) => Err(failure),
                None => Ok(ran?),
            }
        }
        ActionBody::Command { run, environment, inherited, deps } => {
            let folder = work.tmp().join("cwd");
            let scratch = work.tmp().join("scratch");
            for folder in [&folder, &scratch] {
                std::fs::create_dir_all(folder).map_err(|error| Failure::io("make", folder, error))?;
            }
            let inputs = command_stage::lay_out(action, &inputs.groups, &folder, deps)?;
            let layout = command_stage::Layout {
                folder: &folder,
                inputs: &inputs,
                outputs: &outputs,
                temporary: &scratch,
                cores: action.resources.cores,
                log,
            };
            // So that the key stays locked as long as anyone can write, even if this process is killed.
            lock.share_with_children().map_err(Failure::from)?;
            let variables = command_stage::environment(environment, &layout);
            command_stage::run(run, &variables, inherited, &layout, cancellation)?;
            undeclared(&work.out(), &outputs)
        }
    }
}

/// Fails if an undeclared output was written, which would be lost silently.
fn undeclared(out: &Path, outputs: &BTreeMap<String, PathBuf>) -> Result<(), ActionFailure> {
    let listed = |error| Failure::io("list", out, error);
    let entries = match std::fs::read_dir(out) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            let problem = "its command removed the folder that its outputs are written into";
            let hint =
                "write each output to the path that `$out` or `$out_NAME` holds, and leave the folder above it alone";
            return Err(ActionFailure::new(ActionFailureKind::Output, problem).hint(hint));
        }
        other => other.map_err(listed)?,
    };
    for entry in entries {
        let path = entry.map_err(listed)?.path();
        if !outputs.values().any(|output| *output == path) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let problem = format!("its command wrote `{name}`, which is not one of its outputs");
            let hint = "declare it under `outputs:`, or write it to $TMPDIR";
            return Err(ActionFailure::new(ActionFailureKind::Output, problem).hint(hint));
        }
    }
    Ok(())
}
