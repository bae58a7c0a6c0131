//! Events as JSON, one object a line: on standard output (`--json`), and in the run log.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use crate::output::print_event;
use cwm_engine::{EventSink, RunEvent};

/// The version of the lines of the run log.
const RUN_LOG_FORMAT: u32 = 1;

/// Prints events on standard output.
pub struct Json;

impl EventSink for Json {
    fn event(&mut self, event: &RunEvent) {
        print_event(event);
    }
}

/// Writes all events but progress to `runs/<time>-<pid>.jsonl` in the store. The file is made when the first cell starts.
pub struct RunLog {
    folder: PathBuf,
    file: Option<File>,
    /// The events before the first cell starts.
    earlier: Vec<RunEvent>,
}

impl RunLog {
    /// Makes a log in this folder of the store.
    pub fn new(folder: PathBuf) -> Self {
        RunLog { folder, file: None, earlier: Vec::new() }
    }

    fn create(&mut self) -> std::io::Result<()> {
        let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S%3f");
        std::fs::create_dir_all(&self.folder)?;
        let mut file = File::create(self.folder.join(format!("{time}-{}.jsonl", std::process::id())))?;
        writeln!(file, "{{\"run_log\":{RUN_LOG_FORMAT},\"version\":\"{}\"}}", env!("CARGO_PKG_VERSION"))?;
        let file = self.file.insert(file);
        self.earlier.drain(..).for_each(|event| append(file, &event));
        Ok(())
    }
}

impl EventSink for RunLog {
    fn event(&mut self, event: &RunEvent) {
        if matches!(event, RunEvent::Progress { .. } | RunEvent::Activity { .. } | RunEvent::WouldRun { .. }) {
            return;
        }
        if self.file.is_none() && matches!(event, RunEvent::Started { .. } | RunEvent::Submitted { .. }) {
            let _ = self.create();
        }
        match &mut self.file {
            Some(file) => append(file, event),
            None => self.earlier.push(event.clone()),
        }
    }
}

/// Writes an event to the log. Failing to write never fails the run.
fn append(file: &mut File, event: &RunEvent) {
    if let Ok(line) = serde_json::to_string(event) {
        let _ = writeln!(file, "{line}");
    }
}
