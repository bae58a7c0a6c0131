//! What an action cost, and its record.

use std::time::Instant;

use cwm_contract::Event;

use crate::error::Error;
use crate::exec::action_file::{ActionBody, ActionFile, ArtifactShape};
use crate::outside::Snapshot;
use crate::store::{ActionRecord, Commit, Cost, Machine, Store, WorkFolder};

/// The start of an action.
pub struct Clock {
    started: jiff::Timestamp,
    instant: Instant,
}

impl Clock {
    /// Now.
    pub fn start() -> Self {
        Clock { started: jiff::Timestamp::now(), instant: Instant::now() }
    }

    fn cost(&self) -> Cost {
        // Its own process and the commands that it waited for.
        let (own, children) = (usage_of(libc::RUSAGE_SELF), usage_of(libc::RUSAGE_CHILDREN));
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        Cost {
            wall_seconds: self.instant.elapsed().as_secs_f64(),
            user_seconds: seconds(own.ru_utime) + seconds(children.ru_utime),
            system_seconds: seconds(own.ru_stime) + seconds(children.ru_stime),
            // Linux counts in kilobytes.
            peak_memory: own.ru_maxrss.max(children.ru_maxrss).unsigned_abs() * 1024,
        }
    }
}

fn usage_of(who: i32) -> libc::rusage {
    // SAFETY: all-zero is a valid rusage, and getrusage only writes into it.
    unsafe {
        let mut usage = std::mem::zeroed();
        libc::getrusage(who, &mut usage);
        usage
    }
}

/// Moves the outputs into the store and records the action.
///
/// # Errors
/// An output is missing or not what was declared, or the store refuses; then nothing is recorded.
pub fn record(
    store: &Store,
    work: &WorkFolder,
    action: &ActionFile,
    events: Vec<Event>,
    clock: &Clock,
) -> Result<(), Error> {
    let mut aliases = std::collections::BTreeMap::new();
    let mut metrics = std::collections::BTreeMap::new();
    for event in events {
        match event {
            Event::SameAs { output, path } => {
                aliases.insert(output, path);
            }
            Event::Metric { name, value } => {
                metrics.insert(name, value);
            }
            _ => {}
        }
    }
    let cost = clock.cost();
    let mut commit = Commit::new(store);
    for (name, output) in &action.outputs {
        let written = work.out().join(output.shape.file_name(name));
        if let Some(path) = aliases.get(name) {
            let snapshot = known_file(action, path).ok_or_else(|| {
                Error::internal(format!("output `{name}` is said to be {}, which is no input", path.display()))
            })?;
            commit.add_outside(name, &output.format, &output.shape, snapshot)?;
        } else if !written.exists() {
            return Err(Error::system(format!("it did not write its output `{name}`"))
                .hint(format!("expected {} at {}", if output.shape == ArtifactShape::Folder { "a folder" } else { "a file" }, written.display())));
        } else {
            commit.add(name, &output.format, &output.shape, &written)?;
        }
    }
    let log = commit.add_log(&work.log())?;
    let record = ActionRecord {
        cause: action.cause.clone(),
        metrics,
        started: clock.started,
        cost,
        machine: Machine::here(&action.resources),
        log,
        ..ActionRecord::new(action.key, action.label.clone(), action.pipeline.clone(), action.components.clone())
    };
    commit.finish(record)?;
    work.remove()
}

/// The file at `path`, if the action knows it as an input, parameter or dependency.
fn known_file<'a>(action: &'a ActionFile, path: &std::path::Path) -> Option<&'a Snapshot> {
    let files: Vec<&Snapshot> = match &action.body {
        ActionBody::Stage { files, .. } => files.iter().collect(),
        ActionBody::Command { deps, .. } => deps.values().collect(),
    };
    let inputs = action.inputs.values().flatten().filter_map(|input| input.outside.as_ref());
    files.into_iter().chain(inputs).find(|snapshot| snapshot.path == path)
}
