//! The run log: the same events, kept in the store, begun only when something runs.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use cwm_engine::{EventSink, RunEvent};

/// Version of the log's lines.
const RUN_LOG_FORMAT: u32 = 1;

/// Writes `runs/<time>-<pid>.jsonl`, progress aside. Failing to write never fails the run.
pub struct RunLog {
    folder: PathBuf,
    file: Option<File>,
    /// Events before the first one worth a log.
    before: Vec<RunEvent>,
}

impl RunLog {
    /// A log in this folder of the store.
    pub fn new(folder: PathBuf) -> Self {
        RunLog { folder, file: None, before: Vec::new() }
    }

    fn begin(&mut self) {
        let name = format!("{}-{}.jsonl", jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S%3f"), std::process::id());
        let file = std::fs::create_dir_all(&self.folder).and_then(|()| File::create(self.folder.join(name)));
        if let Ok(mut file) = file {
            let _ = writeln!(file, "{{\"run_log\":{RUN_LOG_FORMAT},\"version\":\"{}\"}}", env!("CARGO_PKG_VERSION"));
            self.before.drain(..).for_each(|event| write(&mut file, &event));
            self.file = Some(file);
        }
    }
}

impl EventSink for RunLog {
    fn event(&mut self, event: &RunEvent) {
        if matches!(event, RunEvent::Progress { .. } | RunEvent::Doing { .. } | RunEvent::WouldRun { .. }) {
            return;
        }
        if self.file.is_none() && matches!(event, RunEvent::Started { .. } | RunEvent::Submitted { .. }) {
            self.begin();
        }
        match &mut self.file {
            Some(file) => write(file, event),
            None => self.before.push(event.clone()),
        }
    }
}

fn write(file: &mut File, event: &RunEvent) {
    if let Ok(line) = serde_json::to_string(event) {
        let _ = writeln!(file, "{line}");
    }
}
