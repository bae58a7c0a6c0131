//! What a running stage is given.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use crate::{DeviceChoice, Expected, Failure, Fetch, Fetched, Label, Parameters, Secret, Type, Values};

/// Everything that defines one piece of work, in files and plain values.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Task {
    /// All parameters, normalised, with defaults; paths absolute.
    pub values: Values,
    /// Input files by input name, each group sorted by label, each list in its order. Read-only.
    pub inputs: BTreeMap<String, Vec<GroupInput>>,
    /// Where each output goes, by output name: a file to create or a folder to make.
    pub outputs: BTreeMap<String, PathBuf>,
    /// Empty at the start, thrown away at the end.
    pub temporary: PathBuf,
    /// Survives interruption; empty the first time.
    pub kept: PathBuf,
    /// The share of the machine.
    pub resources: Resources,
    /// What is known from earlier of what it fetches.
    pub expected: Vec<Expected>,
}

/// One artifact of an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupInput {
    /// Which stage or cell made it; for a file from outside, its name.
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
    /// Accelerators by name as the machine counts them, such as `cuda:1`; empty means none. A stage's process sees these
    /// alone, and counts them anew from 0.
    pub devices: Vec<String>,
    /// Whether it asks for an accelerator on a machine that has none.
    #[serde(default)]
    pub in_vain: bool,
    /// Where it should compute, if it asks.
    #[serde(default)]
    pub device: DeviceChoice,
}

impl Default for Resources {
    fn default() -> Self {
        Resources { cores: 1, memory: None, devices: Vec::new(), in_vain: false, device: DeviceChoice::Auto }
    }
}

/// Something a running stage tells; one JSON object a line between the processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// How far it is.
    Progress {
        /// Units done.
        done: u64,
        /// Units in all, when known.
        total: Option<u64>,
        /// What is counted, in the plural: `games`, `steps`, `bytes`.
        unit: String,
    },
    /// What it is doing now, in a few words.
    Doing(String),
    /// A figure worth keeping with the action's record (not an output: later stages cannot read it).
    Metric {
        /// Name, such as `validation_loss`.
        name: String,
        /// Its value.
        value: f64,
    },
    /// A line for the log.
    Log(String),
    /// Something that people should know while it runs, in a sentence; the log has it too.
    Note(String),
    /// An output is byte for byte one of the inputs, or lies in `keep/`; nothing was written for it.
    SameAs {
        /// Name of the output.
        output: String,
        /// The file or folder given as input, the file given as parameter, or the file or folder in `keep/`.
        path: PathBuf,
    },
    /// Something came from the network, whole and checked.
    Fetched(Fetched),
    /// What it computes on, in words: `cpu`, or `cuda:0` and the name of that GPU.
    ComputesOn(String),
}

/// Where events go.
pub trait Reporter: Send + Sync {
    /// Takes one event. Must not block for long and must not fail the stage.
    fn report(&self, event: Event);
}

/// Set once when the stage should stop at its next safe point.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Asks to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether it was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// The flag itself, for signal handlers.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}

/// The view that a running stage has of the world.
pub struct Context {
    task: Task,
    reporter: Box<dyn Reporter>,
    cancellation: Cancellation,
    /// Declared secrets: environment variable and public value by parameter name.
    secrets: BTreeMap<String, (String, String)>,
    /// Last progress sent, to keep the stream thin.
    last: Mutex<Option<std::time::Instant>>,
}

impl Context {
    /// A context for one run of `stage`.
    pub fn new(stage: &dyn crate::Stage, task: Task, reporter: Box<dyn Reporter>, cancellation: Cancellation) -> Self {
        let secrets = stage
            .parameters()
            .into_iter()
            .filter_map(|spec| match spec.kind {
                Type::Secret { env, public } => Some((spec.name.to_owned(), (env.to_owned(), public.to_owned()))),
                _ => None,
            })
            .collect();
        Context { task, reporter, cancellation, secrets, last: Mutex::new(None) }
    }

    /// The parameters.
    ///
    /// # Errors
    /// Never for values that the executor has checked.
    pub fn parameters<P: Parameters>(&self) -> Result<P, Failure> {
        P::read(&self.task.values)
            .map_err(|fault| Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message)))
    }

    /// The file or folder of an input that takes exactly one.
    ///
    /// # Errors
    /// The stage did not declare such an input as required.
    pub fn input(&self, name: &str) -> Result<&Path, Failure> {
        self.optional_input(name).ok_or_else(|| Failure::internal(format!("input `{name}` was not given")))
    }

    /// The file or folder of an optional input, if given.
    pub fn optional_input(&self, name: &str) -> Option<&Path> {
        self.group(name).first().map(|input| input.path.as_path())
    }

    /// All artifacts of an input: a group sorted by label, a list in its order.
    pub fn group(&self, name: &str) -> &[GroupInput] {
        self.task.inputs.get(name).map_or(&[], Vec::as_slice)
    }

    /// Where the output `name` goes. The stage creates the file or folder.
    ///
    /// # Errors
    /// The stage did not declare such an output, or its optional input is not given.
    pub fn output(&self, name: &str) -> Result<&Path, Failure> {
        self.task
            .outputs
            .get(name)
            .map(PathBuf::as_path)
            .ok_or_else(|| Failure::internal(format!("output `{name}` is not expected here")))
    }

    /// Whether the output `name` is expected.
    pub fn wants(&self, name: &str) -> bool {
        self.task.outputs.contains_key(name)
    }

    /// Declares that the output `name` is, byte for byte, the file or folder `path` given as an input, or the file given
    /// as a parameter: it is referenced in place and never copied. Or it is the file or folder `path` below [`Context::kept`], which is
    /// taken from there when the stage has finished: so an interruption before that loses nothing of it. Nothing may
    /// be written at [`Context::output`] for it.
    pub fn same_as(&self, name: &str, path: &Path) {
        self.reporter.report(Event::SameAs { output: name.to_owned(), path: path.to_owned() });
    }

    /// A folder for scratch files; empty at the start, thrown away at the end.
    pub fn temporary(&self) -> &Path {
        &self.task.temporary
    }

    /// A folder that survives interruption: checkpoints go here. It may hold what an interrupted run of the same
    /// key left. An output that people follow while it grows stands here too, under its name and extension.
    pub fn kept(&self) -> &Path {
        &self.task.kept
    }

    /// Cores this stage may keep busy.
    pub fn cores(&self) -> usize {
        self.task.resources.cores.max(1)
    }

    /// The share of the machine.
    pub fn resources(&self) -> &Resources {
        &self.task.resources
    }

    /// Where it should compute. No result's key holds this, so a stage that asks for it ([`crate::Stage::uses_devices`])
    /// gives the same result on each device, but for rounding.
    pub fn device(&self) -> DeviceChoice {
        self.task.resources.device
    }

    /// Tells what it computes on: it is kept with the action's record, and logged.
    pub fn computes_on(&self, device: impl Into<String>) {
        let device = device.into();
        self.log(format!("computes on {device}"));
        self.reporter.report(Event::ComputesOn(device));
    }

    /// The text of a secret parameter. Never log it.
    ///
    /// # Errors
    /// No such secret is declared, its file cannot be read, or it is empty.
    pub fn secret(&self, parameter: &str) -> Result<String, Failure> {
        let (env, public) = self
            .secrets
            .get(parameter)
            .ok_or_else(|| Failure::internal(format!("`{parameter}` is not declared as a secret")))?;
        let file = self.task.values.get(parameter).and_then(|value| value.as_text()).map(PathBuf::from);
        Ok(Secret::resolve(file.as_deref(), env, public)?.0)
    }

    /// Tells how far the work is; called as often as convenient, sent a few times a second.
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

    /// Tells what is being done now, in a few words.
    pub fn doing(&self, what: impl Into<String>) {
        self.reporter.report(Event::Doing(what.into()));
    }

    /// Keeps a figure with the action's record.
    pub fn metric(&self, name: &str, value: f64) {
        self.reporter.report(Event::Metric { name: name.to_owned(), value });
    }

    /// Tells people something that they should know while it runs, such as another try; the log has it too.
    pub fn note(&self, line: impl Into<String>) {
        self.reporter.report(Event::Note(line.into()));
    }

    /// What is known from earlier of something that is to be fetched.
    pub fn expected(&self, fetch: &Fetch) -> Option<&Expected> {
        self.task.expected.iter().find(|expected| expected.fetch == *fetch)
    }

    /// Tells that something came from the network, whole and checked: it is kept with the action's record.
    pub fn fetched(&self, fetched: Fetched) {
        self.reporter.report(Event::Fetched(fetched));
    }

    /// Writes a line to the stage's log.
    pub fn log(&self, line: impl Into<String>) {
        self.reporter.report(Event::Log(line.into()));
    }

    /// The flag to look at in long loops.
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// A failure if the stage was asked to stop; for safe points: `context.check_cancelled()?`.
    ///
    /// # Errors
    /// The stage was asked to stop.
    pub fn check_cancelled(&self) -> Result<(), Failure> {
        if self.cancellation.is_cancelled() { Err(Failure::cancelled()) } else { Ok(()) }
    }
}
