//! Events as JSON, one object a line: on standard output (`--json`), and in the run log.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use cwm_engine::{EventSink, RunEvent};

/// The version of the lines of the run log.
const RUN_LOG_FORMAT: u32 = 1;

/// Writes events to a stream: standard output, in practice. Failing to write never fails the run.
pub struct Json<W: Write>(pub W);

impl<W: Write> EventSink for Json<W> {
    fn event(&mut self, event: &RunEvent) {
        if let Ok(line) = serde_json::to_string(event) {
            let _ = writeln!(self.0, "{line}").and_then(|()| self.0.flush());
        }
    }
}

/// Writes all events but progress to `runs/<time>-<pid>.jsonl` in the store. The file is made when the first cell starts.
pub struct RunLog {
    folder: PathBuf,
    file: Option<Json<File>>,
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
        let file = self.file.insert(Json(file));
        self.earlier.drain(..).for_each(|event| file.event(&event));
        Ok(())
    }
}

impl EventSink for RunLog {
    fn event(&mut self, event: &RunEvent) {
        if matches!(event, RunEvent::Progress { .. } | RunEvent::Doing { .. } | RunEvent::WouldRun { .. }) {
            return;
        }
        if self.file.is_none() && matches!(event, RunEvent::Started { .. } | RunEvent::Submitted { .. }) {
            let _ = self.create();
        }
        match &mut self.file {
            Some(file) => file.event(event),
            None => self.earlier.push(event.clone()),
        }
    }
}
