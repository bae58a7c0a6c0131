//! Running a stage on its own, for the tests of stage crates and of out-of-tree stages, and for probes; and where tests
//! find the reference data.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::{
    Cancellation, Context, Count, DeviceChoice, Event, ExpectedChecksum, Failure, GroupInput, Invocation, Label,
    ProbeContext, ProbeOutput, Reporter, Resources, Shape, Stage, Value, Values,
};

/// Builds one run of a stage in a folder of the caller's.
pub struct Trial {
    folder: PathBuf,
    invocation: Invocation,
}

/// The outcome of a finished trial.
pub struct Outcome {
    /// Path of each output, whether written or declared the same as an input.
    pub outputs: BTreeMap<String, PathBuf>,
    /// The last value of each metric.
    pub metrics: BTreeMap<String, f64>,
    /// All events in order.
    pub events: Vec<Event>,
}

#[derive(Default)]
struct Recorder(Arc<Mutex<Vec<Event>>>);

impl Reporter for Recorder {
    fn report(&self, event: Event) {
        if let Ok(mut events) = self.0.lock() {
            events.push(event);
        }
    }
}

impl Trial {
    /// A trial that works below `folder` (made if absent).
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Trial {
            folder: folder.into(),
            invocation: Invocation { resources: Resources { cores: 2, ..Default::default() }, ..Default::default() },
        }
    }

    /// Sets a parameter.
    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.invocation.values.insert(name.to_owned(), value);
        self
    }

    /// Gives the input `name` the file or folder `path`.
    pub fn input(self, name: &str, path: impl AsRef<Path>) -> Self {
        self.labelled(name, Label::stage(name), path)
    }

    /// Says what is known of something that is fetched.
    pub fn expecting(mut self, expected: ExpectedChecksum) -> Self {
        self.invocation.expected.push(expected);
        self
    }

    /// Adds a labelled artifact to the input `name`.
    pub fn labelled(mut self, name: &str, label: Label, path: impl AsRef<Path>) -> Self {
        let group = self.invocation.inputs.entry(name.to_owned()).or_default();
        group.push(GroupInput { label, path: path.as_ref().to_owned() });
        self
    }

    /// Sets the number of cores.
    pub fn cores(mut self, cores: usize) -> Self {
        self.invocation.resources.cores = cores;
        self
    }

    /// Sets the device on which it computes.
    pub fn on(mut self, device: DeviceChoice) -> Self {
        self.invocation.resources.device = device;
        self
    }

    /// Runs `stage`: checks and completes the parameters as the executor would, empties `out/` and `tmp/`, keeps
    /// `keep/`.
    ///
    /// # Errors
    /// A bad parameter, or what the stage failed with.
    pub fn run(self, stage: &dyn Stage) -> Result<Outcome, Failure> {
        self.run_until(stage, Cancellation::default())
    }

    /// Describes the run before it runs ([`Stage::preview`]); `keep/` is that of earlier runs.
    ///
    /// # Errors
    /// A bad parameter, or what the stage failed with.
    pub fn preview(mut self, stage: &dyn Stage) -> Result<Option<String>, Failure> {
        self.invocation.values = complete(stage, self.invocation.values)?;
        self.invocation.checkpoint_dir = self.folder.join("checkpoints");
        stage.preview(&Context::new(stage, self.invocation, Box::new(Recorder::default()), Cancellation::default()))
    }

    /// Runs the stage like [`Trial::run`], with a cancellation of the caller's.
    ///
    /// # Errors
    /// As [`Trial::run`].
    pub fn run_until(mut self, stage: &dyn Stage, cancellation: Cancellation) -> Result<Outcome, Failure> {
        self.invocation.values = complete(stage, self.invocation.values)?;
        for input in stage.inputs().iter().filter(|input| input.count != Count::List) {
            if let Some(group) = self.invocation.inputs.get_mut(input.name) {
                group.sort_by(|a, b| a.label.cmp(&b.label));
            }
        }
        let out = self.folder.join("out");
        self.invocation.temporary = self.folder.join("tmp");
        self.invocation.checkpoint_dir = self.folder.join("checkpoints");
        for emptied in [&out, &self.invocation.temporary] {
            let _ = std::fs::remove_dir_all(emptied);
        }
        for made in [&out, &self.invocation.temporary, &self.invocation.checkpoint_dir] {
            std::fs::create_dir_all(made).map_err(|error| Failure::io("make", made, error))?;
        }
        for output in stage.outputs() {
            if output.when.is_none_or(|input| self.invocation.inputs.contains_key(input)) {
                let file = match output.shape {
                    Shape::File(extension) | Shape::FileOrFolder(extension) => format!("{}.{extension}", output.name),
                    Shape::Folder => output.name.to_owned(),
                };
                self.invocation.outputs.insert(output.name.to_owned(), out.join(file));
            }
        }
        let mut outputs = self.invocation.outputs.clone();
        let events = Arc::new(Mutex::new(Vec::new()));
        stage.run(&Context::new(stage, self.invocation, Box::new(Recorder(events.clone())), cancellation))?;
        let events = std::mem::take(&mut *events.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        let mut metrics = BTreeMap::new();
        for event in &events {
            match event {
                Event::Metric { name, value } => {
                    metrics.insert(name.clone(), *value);
                }
                Event::PassThrough { output, path } => {
                    outputs.insert(output.clone(), path.clone());
                }
                _ => {}
            }
        }
        if let Some((name, path)) = outputs.iter().find(|(_, path)| !path.exists()) {
            return Err(Failure::internal(format!("output `{name}` was not written at {}", path.display())));
        }
        Ok(Outcome { outputs, metrics, events })
    }
}

/// The probe of `stage` with these parameters, checked and completed as the executor would, in `folder` (made if
/// absent).
///
/// # Errors
/// A bad parameter, or what the probe failed with.
pub fn probe(stage: &dyn Stage, values: Values, folder: &Path) -> Result<Option<ProbeOutput>, Failure> {
    let values = complete(stage, values)?;
    std::fs::create_dir_all(folder).map_err(|error| Failure::io("make", folder, error))?;
    stage.probe(&ProbeContext::new(&values, folder, Cancellation::default()))
}

/// The file or folder `path` of the reference data, which lie in the folder that `CWM_SHARED` names, else in `shared`
/// beside the repository; none, with a line on standard error, if it does not exist.
pub fn shared(path: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let found = std::env::var_os("CWM_SHARED").map_or_else(beside, PathBuf::from).join(path);
    if !found.exists() {
        eprintln!("skipped: no reference data at {} (set CWM_SHARED)", found.display());
        return None;
    }
    Some(found)
}

/// All parameters of `stage`, normalised, with its defaults where `given` has none.
fn complete(stage: &dyn Stage, mut parameters: Values) -> Result<Values, Failure> {
    let specs = stage.parameters();
    if let Some(name) = parameters.keys().find(|name| specs.iter().all(|spec| spec.name != name.as_str())) {
        return Err(Failure::input(format!("unknown parameter `{name}`")));
    }
    let mut values = Values::new();
    for spec in specs {
        let value = parameters.remove(spec.name).or(spec.default);
        let value = value.ok_or_else(|| Failure::input(format!("parameter `{}` is missing", spec.name)))?;
        let value = spec
            .kind
            .normalise(&value)
            .map_err(|wrong| Failure::input(format!("parameter `{}` {wrong}", spec.name)))?;
        values.insert(spec.name.to_owned(), value);
    }
    match stage.check(&values).into_iter().next() {
        Some(fault) => {
            let failure = Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message));
            Err(fault.hint.into_iter().fold(failure, Failure::hint))
        }
        None => Ok(values),
    }
}
