//! The output of a stage's process: events to the executor, everything else to the log.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cwm_contract::{Cancellation, Event, FetchResult, Reporter};

use crate::checkpoints::CheckpointOwner;
use crate::inputs::InputNames;
use crate::protocol::{ActionFailure, ActionMessage};
use cwm_core::{Error, lock_mutex};

/// The stream of [`ActionMessage`]s to the executor.
#[derive(Clone)]
pub struct MessageWriter(Arc<Mutex<Sink>>);

/// The destination of the lines.
struct Sink {
    file: File,
    /// The last time that progress was written to a file, which is read now and then.
    progressed: Option<Option<Instant>>,
}

/// The interval at which progress goes into a file.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

impl MessageWriter {
    /// Takes the file at `path` for events, of a job that no executor holds a pipe to; without one, takes standard output, so that
    /// nothing that a library prints gets among them. Standard output and error stay what they are until
    /// [`log_to`].
    ///
    /// # Errors
    /// The file cannot be opened, or the system is out of file descriptors.
    pub fn open(path: Option<&Path>) -> Result<Self, Error> {
        let file = match path {
            Some(path) => append_to(path).map_err(|error| Error::io("write", path, error))?,
            None => {
                let copy = std::io::stdout().as_fd().try_clone_to_owned();
                copy.map_err(|error| Error::system(format!("cannot take standard output: {error}")))?.into()
            }
        };
        Ok(MessageWriter(Arc::new(Mutex::new(Sink { file, progressed: path.map(|_| None) }))))
    }

    /// Sends one line. If the executor is gone, the watch of the parent's pipe ends this process. If the executor does not
    /// read, as after Ctrl-Z, events are dropped, so that the work continues.
    pub fn send(&self, line: &ActionMessage) {
        if let (Ok(text), Ok(mut sink)) = (serde_json::to_string(line), self.0.lock()) {
            if matches!(line, ActionMessage::Event(_)) && !is_writable(&sink.file) {
                return;
            }
            if let (Some(last), ActionMessage::Event(Event::Progress { .. } | Event::Activity(_))) =
                (&mut sink.progressed, line)
            {
                if last.is_some_and(|last| last.elapsed() < PROGRESS_INTERVAL) {
                    return;
                }
                *last = Some(Instant::now());
            }
            let _ = sink.file.write_all(format!("{text}\n").as_bytes());
            if sink.progressed.is_some() {
                // So that a network file system shows it on other nodes.
                let _ = sink.file.sync_data();
            }
        }
    }
}

/// Sends standard output and error to the log at `path`, appending.
///
/// # Errors
/// The log cannot be opened.
pub fn log_to(path: &Path) -> Result<(), Error> {
    let log = append_to(path).map_err(|error| Error::io("open the log", path, error))?;
    for descriptor in [1, 2] {
        // SAFETY: both descriptors are open; dup2 replaces the second by a copy of the first.
        if unsafe { libc::dup2(log.as_raw_fd(), descriptor) } < 0 {
            return Err(Error::io("write the log", path, std::io::Error::last_os_error()));
        }
    }
    Ok(())
}

fn append_to(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

/// Returns true if a pipe takes a page at once, and so a line.
fn is_writable(pipe: &File) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut descriptors = [PollFd::new(pipe, PollFlags::OUT)];
    poll(&mut descriptors, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
}

/// The reports of a stage for its record.
#[derive(Default)]
pub struct StageReport {
    /// The paths that outputs pass through, by output name.
    pub passed_through: BTreeMap<String, PathBuf>,
    /// The metrics by name.
    pub metrics: BTreeMap<String, f64>,
    /// The fetched contents, in order.
    pub fetched: Vec<FetchResult>,
    /// The device that it computed on.
    pub computed_on: Option<String>,
    /// The failure to prepare the checkpoints for that device.
    pub checkpoint_failure: Option<ActionFailure>,
}

/// Receives a stage's events: log lines go to the log, the rest to the executor; what the record needs is kept.
pub struct StageReporter {
    /// Writes messages to the executor.
    pub messages: MessageWriter,
    /// Kept for the record.
    pub reported: Arc<Mutex<StageReport>>,
    /// The names of the inputs, for people.
    pub input_names: Arc<InputNames>,
    /// The checkpoints, which are prepared for the device as soon as the stage reports it.
    pub checkpoints: CheckpointOwner,
    /// Stops the stage before it resumes from checkpoints of another device.
    pub cancellation: Cancellation,
}

impl Reporter for StageReporter {
    fn report(&self, event: Event) {
        let event = match event {
            Event::Log(line) => Event::Log(self.input_names.replace_paths(line)),
            Event::Note(line) => Event::Note(self.input_names.replace_paths(line)),
            event => event,
        };
        let mut reported = lock_mutex(&self.reported);
        match &event {
            Event::Log(line) | Event::Note(line) => _ = writeln!(std::io::stderr(), "{line}"),
            Event::Metric { name, value } => _ = reported.metrics.insert(name.clone(), *value),
            Event::PassThrough { output, path } => _ = reported.passed_through.insert(output.clone(), path.clone()),
            Event::Fetched(fetched) => reported.fetched.push(fetched.clone()),
            Event::ComputeDevice(device) => {
                reported.computed_on = Some(device.clone());
                if let Err(failure) = self.checkpoints.prepare(Some(device)) {
                    reported.checkpoint_failure = Some(failure);
                    self.cancellation.cancel();
                }
            }
            Event::Progress { .. } | Event::Activity(_) => {}
        }
        drop(reported);
        if !matches!(event, Event::Log(_)) {
            self.messages.send(&ActionMessage::Event(event));
        }
    }
}
