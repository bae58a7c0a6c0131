//! The cost of an action, its outputs, and its record.

use std::collections::BTreeMap;
use std::time::Instant;

use cwm_contract::{Event, FetchResult};

use crate::action_file::ActionFile;
use crate::inputs::Inputs;
use crate::protocol::{ActionFailure, ActionFailureKind};
use crate::source_key;
use cwm_core::{Digest, Error, FileErrorKind, os, visible};
use cwm_store::{ActionRecord, Content, Machine, NewAction, NewOutput, OutputShape, RunInfo, Store, WorkFolder};

/// The start of an action.
#[derive(Clone, Copy)]
pub struct ResourceUsageTimer {
    started: jiff::Timestamp,
    instant: Instant,
    has_checkpoint: bool,
}

impl ResourceUsageTimer {
    /// Starts now; `has_checkpoint` is true if the attempt resumes from a checkpoint.
    pub fn start(has_checkpoint: bool) -> Self {
        ResourceUsageTimer { started: jiff::Timestamp::now(), instant: Instant::now(), has_checkpoint }
    }

    /// Returns the cost of the action until now, without the device that it computed on.
    pub fn stop(&self, action: &ActionFile) -> RunInfo {
        // Its own process and the commands that it waited for.
        let (own, children) = (usage_of(libc::RUSAGE_SELF), usage_of(libc::RUSAGE_CHILDREN));
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        RunInfo {
            started: self.started,
            wall_seconds: self.instant.elapsed().as_secs_f64(),
            user_seconds: seconds(own.ru_utime) + seconds(children.ru_utime),
            system_seconds: seconds(own.ru_stime) + seconds(children.ru_stime),
            peak_memory_bytes: own.ru_maxrss.max(children.ru_maxrss).unsigned_abs() * os::PEAK_MEMORY_UNIT,
            machine: Machine { cores: action.resources.cores, ..Machine::here() },
            devices: action.resources.devices.clone(),
            computed_on: None,
            is_resumed: self.has_checkpoint,
            taken_from: BTreeMap::new(),
            user: visible(&user()),
            cwm_version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// Returns the user's login name where the environment has it, else the user's number.
pub fn user() -> String {
    let named = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok().filter(|name| !name.is_empty()));
    named.unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()))
}

fn usage_of(who: i32) -> libc::rusage {
    // SAFETY: all-zero is a valid rusage, and getrusage only writes into it.
    unsafe {
        let mut usage = std::mem::zeroed();
        libc::getrusage(who, &mut usage);
        usage
    }
}

/// The outputs of a stage, and what it reported.
pub struct CollectedOutputs {
    /// By output name.
    pub outputs: BTreeMap<String, NewOutput>,
    metrics: BTreeMap<String, f64>,
    fetched: Vec<FetchResult>,
    computed_on: Option<String>,
}

/// Collects the outputs of a stage that succeeded; nothing is touched.
///
/// # Errors
/// One is missing, or passes something through that is no input.
pub fn collect_outputs(
    work: &WorkFolder,
    action: &ActionFile,
    inputs: &Inputs,
    events: Vec<Event>,
) -> Result<CollectedOutputs, ActionFailure> {
    let mut aliases = BTreeMap::new();
    let mut metrics = BTreeMap::new();
    let mut fetched = Vec::new();
    let mut computed_on = None;
    for event in events {
        match event {
            Event::PassThrough { output, path } => {
                aliases.insert(output, path);
            }
            Event::Metric { name, value } => {
                metrics.insert(name, value);
            }
            Event::Fetched(one) => fetched.push(one),
            Event::ComputeDevice(device) => computed_on = Some(device),
            Event::Progress { .. } | Event::Activity(_) | Event::Log(_) | Event::Note(_) => {}
        }
    }
    let mut outputs = BTreeMap::new();
    for (name, output) in &action.outputs {
        let made = work.out().join(output.file_name(name));
        let content = match aliases.get(name) {
            // Moved only now, so that an interruption before this has lost nothing.
            Some(path) if path.starts_with(work.keep()) => Content::Local(path.clone()),
            Some(path) => inputs.content(action, path).ok_or_else(|| {
                let path = path.display();
                Error::internal(format!("output `{name}` passes {path} through, which is none of its inputs"))
            })?,
            None if !made.exists() => {
                let what = if output.shape.is_folder() { "a folder" } else { "a file" };
                let problem = format!("it did not write its output `{name}`");
                let hint = format!("{what} was expected at {}", made.display());
                return Err(ActionFailure::new(ActionFailureKind::Output, problem).hint(hint));
            }
            None => Content::Local(made),
        };
        let is_folder = output.or_folder && matches!(&content, Content::Local(path) if path.is_dir());
        let shape = if is_folder { OutputShape::Folder } else { output.shape.clone() };
        let made = NewOutput { format: output.format.clone(), shape, content };
        outputs.insert(name.clone(), made);
    }
    Ok(CollectedOutputs { outputs, metrics, fetched, computed_on })
}

/// Moves the outputs into the store and records the action. Returns what came out.
///
/// # Errors
/// An output is not what was declared, or the store refuses; then nothing is recorded.
pub fn record(
    store: &Store,
    work: &WorkFolder,
    action: &ActionFile,
    made: CollectedOutputs,
    cost: RunInfo,
    probe: BTreeMap<String, Digest>,
) -> Result<BTreeMap<String, Digest>, ActionFailure> {
    let CollectedOutputs { outputs, metrics, fetched, computed_on } = made;
    // What was requested by its URL is known by its checksum from now on.
    let has_unpinned_url = source_key::has_unpinned_url(&action.components);
    let with_checksums = source_key::with_checksums(&action.components, &fetched);
    if has_unpinned_url && with_checksums.is_none() {
        return Err(Error::internal("it did not report the checksum of everything that it fetched").into());
    }
    let components = with_checksums.unwrap_or_else(|| action.components.clone());
    let circumstances = RunInfo { computed_on: computed_on.map(|device| visible(&device)), ..cost };
    let record = ActionRecord {
        cause: action.cause.clone(),
        metrics,
        fetched: fetched.clone(),
        probe,
        ..ActionRecord::new(action.pipeline.clone(), action.label.clone(), components, circumstances)
    };
    let log = work.log().exists().then(|| work.log());
    let recorded = store.record(NewAction { record, outputs, log });
    let recorded = recorded.map_err(|error| {
        let is_refused = error.kind() == FileErrorKind::Refused;
        let failure = ActionFailure::from(error);
        if is_refused { ActionFailure { kind: ActionFailureKind::Output, ..failure } } else { failure }
    })?;
    if has_unpinned_url {
        // And under the URL, for runs that know no more than that. Second: it promises that the other is there.
        store.record_as(&recorded.record, action.components.clone(), fetched)?;
    }
    super::remove(work);
    Ok(recorded.record.output_digests())
}
