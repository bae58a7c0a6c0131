//! The inputs, outputs and services of a running stage.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use crate::{
    DeviceChoice, ExpectedChecksum, Failure, FetchRequest, FetchResult, Label, Parameters, Secret, Type, Values,
};

/// One execution of a stage, in files and plain values.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Invocation {
    /// All parameters, normalised, with defaults; paths absolute.
    pub values: Values,
    /// Input files by input name, each group sorted by label, each list in its order. Read-only.
    pub inputs: BTreeMap<String, Vec<GroupInput>>,
    /// Path of each output, by output name: a file to create or a folder to make.
    pub outputs: BTreeMap<String, PathBuf>,
    /// Empty at the start, thrown away at the end.
    pub temporary: PathBuf,
    /// A folder that survives interruption; empty the first time.
    pub checkpoint_dir: PathBuf,
    /// The share of the machine.
    pub resources: Resources,
    /// Checksums known from earlier fetches.
    pub expected: Vec<ExpectedChecksum>,
}

/// One artifact of an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupInput {
    /// The stage or cell that made it; for an external file, its name.
    pub label: Label,
    /// The file or folder.
    pub path: PathBuf,
}

/// The share of the machine that a stage has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// Cores, at least 1.
    pub cores: usize,
    /// Bytes of memory it declared, if it did.
    pub memory: Option<u64>,
    /// Accelerators by name as the machine counts them, such as `cuda:1`; empty means none. A stage's process sees
    /// these alone, and counts them anew from 0.
    pub devices: Vec<String>,
    /// True if the stage needs an accelerator and the machine has none.
    #[serde(default)]
    pub accelerator_unavailable: bool,
    /// The device that was requested.
    #[serde(default)]
    pub device: DeviceChoice,
}

impl Default for Resources {
    fn default() -> Self {
        Resources {
            cores: 1,
            memory: None,
            devices: Vec::new(),
            accelerator_unavailable: false,
            device: DeviceChoice::Auto,
        }
    }
}

/// An event of a running stage; one JSON object a line between the processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The progress of the work.
    Progress {
        /// Units done.
        done: u64,
        /// Units in all, when known.
        total: Option<u64>,
        /// The unit, in the plural: `games`, `steps`, `bytes`.
        unit: String,
    },
    /// The current activity, in a few words.
    Activity(String),
    /// A metric that is stored in the action's record. It is no output: later stages cannot read it.
    Metric {
        /// Name, such as `validation_loss`.
        name: String,
        /// Its value.
        value: f64,
    },
    /// A line for the log.
    Log(String),
    /// A sentence that is shown while the stage runs; it is logged too.
    Note(String),
    /// An output is byte for byte one of the inputs, or lies in `keep/`; nothing was written for it.
    PassThrough {
        /// Name of the output.
        output: String,
        /// The file or folder given as input, the file given as parameter, or the file or folder in `keep/`.
        path: PathBuf,
    },
    /// A fetch ended, and its content was verified.
    Fetched(FetchResult),
    /// The device it computes on: `cpu`, or `cuda:0` or `wgpu:0` and the name of that GPU.
    ComputeDevice(String),
}

/// Receives the events of a running stage.
pub trait Reporter: Send + Sync {
    /// Takes one event. Must not block for long and must not fail the stage.
    fn report(&self, event: Event);
}

/// A flag that cancels the stage at its next safe point.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Requests cancellation.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Returns true if cancellation was requested.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Returns the flag itself, for signal handlers.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}

/// The interface of a running stage to the executor.
pub struct Context {
    invocation: Invocation,
    reporter: Box<dyn Reporter>,
    cancellation: Cancellation,
    /// Declared secrets: environment variable and public value by parameter name.
    secrets: BTreeMap<String, (String, String)>,
    /// Last progress sent, to keep the stream thin.
    last: Mutex<Option<std::time::Instant>>,
}

impl Context {
    /// Creates the context of one run of `stage`.
    pub fn new(
        stage: &dyn crate::Stage,
        invocation: Invocation,
        reporter: Box<dyn Reporter>,
        cancellation: Cancellation,
    ) -> Self {
        let secrets = stage
            .parameters()
            .into_iter()
            .filter_map(|spec| match spec.kind {
                Type::Secret { env, public } => Some((spec.name.to_owned(), (env.to_owned(), public.to_owned()))),
                _ => None,
            })
            .collect();
        Context { invocation, reporter, cancellation, secrets, last: Mutex::new(None) }
    }

    /// Reads the parameters.
    ///
    /// # Errors
    /// Never for values that the executor has checked.
    pub fn parameters<P: Parameters>(&self) -> Result<P, Failure> {
        P::read(&self.invocation.values)
            .map_err(|fault| Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message)))
    }

    /// Returns the file or folder of an input that takes exactly one.
    ///
    /// # Errors
    /// The stage did not declare such an input as required.
    pub fn input(&self, name: &str) -> Result<&Path, Failure> {
        self.optional_input(name).ok_or_else(|| Failure::internal(format!("input `{name}` was not given")))
    }

    /// Returns the file or folder of an optional input, if given.
    pub fn optional_input(&self, name: &str) -> Option<&Path> {
        self.group(name).first().map(|input| input.path.as_path())
    }

    /// Returns all artifacts of an input: a group sorted by label, a list in its order.
    pub fn group(&self, name: &str) -> &[GroupInput] {
        self.invocation.inputs.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the path of the output `name`. The stage creates the file or folder.
    ///
    /// # Errors
    /// The stage did not declare such an output, or its optional input is not given.
    pub fn output(&self, name: &str) -> Result<&Path, Failure> {
        self.invocation
            .outputs
            .get(name)
            .map(PathBuf::as_path)
            .ok_or_else(|| Failure::internal(format!("output `{name}` is not expected here")))
    }

    /// Returns true if the output `name` is expected.
    pub fn has_output(&self, name: &str) -> bool {
        self.invocation.outputs.contains_key(name)
    }

    /// Declares that the output `name` is identical to the file or folder `path`. An input, or a file given as a
    /// parameter, is referenced in place and never copied. A path below [`Context::checkpoint_dir`] is moved from
    /// there when the stage has finished, so that an interruption before that loses nothing. Nothing may be written at
    /// [`Context::output`] for it.
    pub fn pass_through(&self, name: &str, path: &Path) {
        self.reporter.report(Event::PassThrough { output: name.to_owned(), path: path.to_owned() });
    }

    /// Returns a folder for scratch files; empty at the start, deleted at the end.
    pub fn temporary(&self) -> &Path {
        &self.invocation.temporary
    }

    /// Returns the folder of checkpoints, which survives interruption. It may hold those of an interrupted run of the
    /// same key. An output that grows while the stage runs lies here too, under its name and extension, so that it can
    /// be followed.
    pub fn checkpoint_dir(&self) -> &Path {
        &self.invocation.checkpoint_dir
    }

    /// Cores this stage may keep busy.
    pub fn cores(&self) -> usize {
        self.invocation.resources.cores.max(1)
    }

    /// The share of the machine.
    pub fn resources(&self) -> &Resources {
        &self.invocation.resources
    }

    /// Returns the device to compute on. It is part of no key, so a stage that uses it ([`crate::Stage::uses_devices`])
    /// gives the same result on each device, but for rounding.
    pub fn device(&self) -> DeviceChoice {
        self.invocation.resources.device
    }

    /// Reports the device that it computes on, which is recorded and logged.
    pub fn report_device(&self, device: impl Into<String>) {
        let device = device.into();
        self.log(format!("computes on {device}"));
        self.reporter.report(Event::ComputeDevice(device));
    }

    /// Reads the text of a secret parameter. Never log it.
    ///
    /// # Errors
    /// No such secret is declared, its file cannot be read, or it is empty.
    pub fn secret(&self, parameter: &str) -> Result<String, Failure> {
        let (env, public) = self
            .secrets
            .get(parameter)
            .ok_or_else(|| Failure::internal(format!("`{parameter}` is not declared as a secret")))?;
        let file = self.invocation.values.get(parameter).and_then(|value| value.as_text()).map(PathBuf::from);
        Ok(Secret::resolve(file.as_deref(), env, public)?.0)
    }

    /// Reports progress. It may be called often; it is sent a few times a second.
    pub fn progress(&self, done: u64, total: Option<u64>, unit: &str) {
        let finished = total == Some(done);
        {
            let mut last = self.last.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let now = std::time::Instant::now();
            if !finished && last.is_some_and(|at| now.duration_since(at).as_millis() < 200) {
                return;
            }
            *last = Some(now);
        }
        self.reporter.report(Event::Progress { done, total, unit: unit.to_owned() });
    }

    /// Reports the current activity, in a few words.
    pub fn activity(&self, activity: impl Into<String>) {
        self.reporter.report(Event::Activity(activity.into()));
    }

    /// Stores a metric in the action's record.
    pub fn metric(&self, name: &str, value: f64) {
        self.reporter.report(Event::Metric { name: name.to_owned(), value });
    }

    /// Shows a sentence while the stage runs, such as a note on a retry; it is logged too.
    pub fn note(&self, line: impl Into<String>) {
        self.reporter.report(Event::Note(line.into()));
    }

    /// Returns the checksum that `fetch` must have, if one is known.
    pub fn expected_checksum(&self, fetch: &FetchRequest) -> Option<&ExpectedChecksum> {
        self.invocation.expected.iter().find(|expected| expected.fetch == *fetch)
    }

    /// Reports a fetch whose content was verified; it is stored in the action's record.
    pub fn report_fetched(&self, fetched: FetchResult) {
        self.reporter.report(Event::Fetched(fetched));
    }

    /// Writes a line to the stage's log.
    pub fn log(&self, line: impl Into<String>) {
        self.reporter.report(Event::Log(line.into()));
    }

    /// Returns the flag to check in long loops.
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// Fails if the stage was cancelled; for safe points: `context.check_cancelled()?`.
    ///
    /// # Errors
    /// The stage was cancelled.
    pub fn check_cancelled(&self) -> Result<(), Failure> {
        if self.cancellation.is_cancelled() { Err(Failure::cancelled()) } else { Ok(()) }
    }
}
