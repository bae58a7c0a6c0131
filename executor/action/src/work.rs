//! The work of an attempt, from its inputs to its record.

use std::collections::BTreeMap;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use cwm_contract::{Context, Failure, Invocation};

use super::attempt::Attempt;
use super::checkpoints::CheckpointOwner;
use super::inputs::Inputs;
use super::protocol::{ActionFailure, ActionFailureKind, ActionMessage};
use super::streams::{StageReport, StageReporter, log_to};
use super::usage::ResourceUsageTimer;
use super::{ActionBody, ActionFile, command_stage, out_of_memory, probe, source_key, watchdog};
use cwm_core::{Digest, Error, FileError, FileErrorKind, OutputDigests, lock_mutex};
use cwm_store::{ActionRecord, Difference, NewAction, NewOutput, OutputContent, OutputShape, RunInfo};

impl Attempt<'_> {
    /// Does the work and records the result, whose digests are returned by output name. `is_resumed` is true if it resumes from a
    /// checkpoint of an earlier attempt.
    ///
    /// # Errors
    /// It failed; then nothing is recorded.
    pub fn execute_and_record(&self, is_resumed: bool) -> Result<OutputDigests, ActionFailure> {
        self.process.messages.send(&ActionMessage::Start);
        let timer = ResourceUsageTimer::start();
        let (outputs, reported) = self.execute()?;
        let run_info = timer.stop(&self.action, reported.computed_on.as_deref(), is_resumed);
        let probe = self.probe();
        // The log becomes content of the store, and this process has it open: from here on nothing may be added to it.
        log_to(Path::new("/dev/null"))?;
        let own_log = self.work.log();
        if self.log != own_log {
            std::fs::copy(&self.log, &own_log).map_err(|error| Error::io("copy the log", &self.log, error))?;
        }
        let recorded = self.record(outputs, reported, probe, run_info);
        if recorded.is_err() {
            let _ = log_to(&self.log);
        }
        recorded
    }

    /// Moves the outputs into the store and records the action. Returns the digests of the outputs by name.
    fn record(
        &self,
        outputs: BTreeMap<String, NewOutput>,
        reported: StageReport,
        probe: BTreeMap<String, Digest>,
        run_info: RunInfo,
    ) -> Result<OutputDigests, ActionFailure> {
        let ActionFile { pipeline, label, components: requested, cause, .. } = &self.action;
        let StageReport { metrics, fetched, .. } = reported;
        let mut components = requested.clone();
        // Content that was requested by its URL is identified by its checksum from now on.
        let has_unpinned_url = source_key::has_unpinned_url(requested);
        if has_unpinned_url {
            let missing = || Error::internal("it did not report the checksum of everything that it fetched");
            components = source_key::with_checksums(requested, &fetched).ok_or_else(missing)?;
        }
        let record = ActionRecord {
            cause: cause.clone(),
            metrics,
            fetched: fetched.clone(),
            probe,
            ..ActionRecord::new(pipeline.clone(), label.clone(), components, run_info)
        };
        let log = Some(self.work.log()).filter(|log| log.exists());
        let recorded = self.store.record(NewAction { record, outputs, log }).map_err(|error| {
            let is_refused = error.kind() == FileErrorKind::Rejected;
            let failure = ActionFailure::from(error);
            if is_refused { ActionFailure { kind: ActionFailureKind::Output, ..failure } } else { failure }
        })?;
        if has_unpinned_url {
            // A second record has the key of the URL, for runs that do not have the checksum. It refers to the first one, so
            // it is written after it.
            self.store.record_as(&recorded.record, requested.clone(), fetched)?;
        }
        super::remove(&self.work);
        Ok(recorded.record.output_digests())
    }

    /// Takes the stage's probe. A result does not need one, so a failure of the probe is only written to the log.
    fn probe(&self) -> BTreeMap<String, Digest> {
        let (ActionBody::Stage { values, .. }, Some(stage), false) =
            (&self.action.body, self.stage, self.action.components.code.is_empty())
        else {
            return BTreeMap::new();
        };
        let folder = self.work.tmp().join("probe");
        probe::take(stage, values, &folder, self.process.cancellation).unwrap_or_else(|failure| {
            let _ = writeln!(std::io::stderr(), "recorded without a probe: {failure}");
            BTreeMap::new()
        })
    }

    /// Does the work again and compares the result with the recorded one; nothing else is changed.
    ///
    /// # Errors
    /// It failed, or there is nothing to compare with.
    pub fn check(&self) -> Result<Vec<Difference>, ActionFailure> {
        self.process.messages.send(&ActionMessage::Start);
        let (outputs, _) = self.execute()?;
        let mut differences = Vec::new();
        for (name, output) in &outputs {
            let recorded = self.action.recorded.as_ref().and_then(|recorded| recorded.get(name));
            let missing = || Error::store(format!("the recorded result has no output `{name}`"));
            differences.extend(self.store.differences(name, output, recorded.ok_or_else(missing)?)?);
        }
        Ok(differences)
    }

    /// Does the work. Returns its outputs, which are not touched, and what the stage reported.
    fn execute(&self) -> Result<(BTreeMap<String, NewOutput>, StageReport), ActionFailure> {
        let inputs = Inputs::find(self)?;
        let outputs = self.action.outputs.iter();
        let outputs: BTreeMap<String, PathBuf> =
            outputs.map(|(name, output)| (name.clone(), self.work.out().join(output.shape.file_name(name)))).collect();
        let work = || catch_unwind(AssertUnwindSafe(|| self.run_stage(&inputs, &outputs)));
        let reported = match watchdog::run(self, work)? {
            // A stage that ends within the grace period after its time limit has succeeded.
            (Ok(Ok(reported)), _) => Ok(reported),
            (_, Some(exceeded)) => Err(exceeded),
            (Ok(Err(failure)), None) => Err(failure),
            (Err(panic), None) => Err(panicked(panic.as_ref())),
        };
        let reported = reported.inspect_err(|_| {
            // Other cells may read the inputs that were rewritten. The failure of the work is the one to report.
            if let Err(error) = inputs.quarantine_rewritten(&self.store) {
                let _ = writeln!(std::io::stderr(), "{}", error.message);
            }
        })?;
        inputs.verify_unchanged(self)?;
        Ok((self.collect_outputs(&inputs, &outputs, &reported)?, reported))
    }

    fn run_stage(&self, inputs: &Inputs, outputs: &BTreeMap<String, PathBuf>) -> Result<StageReport, ActionFailure> {
        let Attempt { process, work, action, .. } = self;
        match &action.body {
            ActionBody::Stage { values, expected, .. } => {
                let stage =
                    self.stage.ok_or_else(|| Failure::internal("this cwm does not have the stage of the action"))?;
                let invocation = Invocation {
                    values: values.clone(),
                    inputs: inputs.groups.clone(),
                    outputs: outputs.clone(),
                    temporary: work.tmp(),
                    checkpoint_dir: work.checkpoint_folder(),
                    resources: action.resources.clone(),
                    expected: expected.clone(),
                };
                let reported: Arc<Mutex<StageReport>> = Arc::default();
                let input_names = Arc::new(inputs.names(&self.store));
                let reporter = StageReporter {
                    input_names: input_names.clone(),
                    messages: process.messages.clone(),
                    reported: reported.clone(),
                    checkpoints: CheckpointOwner::of(work, action),
                    cancellation: process.cancellation.clone(),
                };
                let ran = stage.run(&Context::new(stage, invocation, Box::new(reporter), process.cancellation.clone()));
                let mut reported = std::mem::take(&mut *lock_mutex(&reported));
                match reported.checkpoint_failure.take() {
                    Some(failure) => Err(failure),
                    None => ran.map(|()| reported).map_err(|failure| {
                        let message = input_names.replace_paths(failure.message);
                        Failure { message, ..failure }.into()
                    }),
                }
            }
            ActionBody::Command { shell, run, environment, inherited, deps } => {
                let (folder, scratch) = (work.tmp().join("cwd"), work.tmp().join("scratch"));
                for folder in [&folder, &scratch] {
                    std::fs::create_dir_all(folder).map_err(|error| Failure::io("make", folder, error))?;
                }
                let inputs = command_stage::lay_out(action, &inputs.groups, &folder, deps)?;
                // So that the key stays locked as long as anyone can write, even if this process is killed.
                self.lock.share_with_children().map_err(Failure::from)?;
                let mut command = command_stage::command(shell, run, inherited);
                command.envs(command_stage::variables(environment, &inputs, outputs)).current_dir(&folder);
                command.env("TMPDIR", &scratch).env("CWM_CORES", action.resources.cores.to_string());
                command_stage::run(command, &self.log, process.cancellation)?;
                reject_undeclared(&work.out(), outputs)?;
                Ok(StageReport::default())
            }
        }
    }

    /// Collects the outputs of work that succeeded; nothing is touched.
    fn collect_outputs(
        &self,
        inputs: &Inputs,
        paths: &BTreeMap<String, PathBuf>,
        reported: &StageReport,
    ) -> Result<BTreeMap<String, NewOutput>, ActionFailure> {
        let mut outputs = BTreeMap::new();
        for (name, output) in &self.action.outputs {
            let made = &paths[name];
            let content = match reported.passed_through.get(name) {
                // Moved only now, so that an interruption before this has lost nothing.
                Some(path) if path.starts_with(self.work.checkpoint_folder()) => OutputContent::Local(path.clone()),
                Some(path) => inputs.content(path).ok_or_else(|| {
                    let path = path.display();
                    Error::internal(format!("output `{name}` passes {path} through, which is none of its inputs"))
                })?,
                None if !made.exists() => {
                    let what = if output.shape.is_folder() { "a folder" } else { "a file" };
                    let problem = format!("it did not write its output `{name}`");
                    let hint = format!(
                        "{what} was expected at {}, which a command writes to as `$out` or `$out_NAME`",
                        made.display()
                    );
                    return Err(ActionFailure::new(ActionFailureKind::Output, problem).hint(hint));
                }
                None => OutputContent::Local(made.clone()),
            };
            let is_folder = output.or_folder && matches!(&content, OutputContent::Local(path) if path.is_dir());
            let shape = if is_folder { OutputShape::Folder } else { output.shape.clone() };
            outputs.insert(name.clone(), NewOutput { format: output.format.clone(), shape, content });
        }
        Ok(outputs)
    }
}

/// Fails if an undeclared output was written, which would be lost silently.
fn reject_undeclared(out: &Path, outputs: &BTreeMap<String, PathBuf>) -> Result<(), ActionFailure> {
    // Where the command removed the folder, its outputs are missing.
    let entries = FileError::optional(std::fs::read_dir(out).map_err(FileError::io("list", out)))?;
    for entry in entries.into_iter().flatten() {
        let entry = entry.map_err(FileError::io("list", out))?;
        if !outputs.values().any(|output| *output == entry.path()) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let problem = format!("its command wrote `{name}`, which is not one of its outputs");
            let hint = "declare it under `outputs:`, or write it to $TMPDIR";
            return Err(ActionFailure::new(ActionFailureKind::Output, problem).hint(hint));
        }
    }
    Ok(())
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> ActionFailure {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into());
    let (kind, hint) = match out_of_memory::find(&text) {
        Some(_) => (ActionFailureKind::OutOfMemory, out_of_memory::HINT),
        None => (ActionFailureKind::Panic, "this is a mistake in cwm; please report it with the log"),
    };
    ActionFailure::new(kind, format!("panicked: {text}")).hint(hint)
}
