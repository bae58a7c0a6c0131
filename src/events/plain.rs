//! One line an event, for logs, pipes and `--output plain`.

use std::io::{Write, stderr};
use std::time::Instant;

use cwm_contract::Label;

use crate::events::progress::ProgressLog;
use crate::events::text::EventText;
use cwm_core::escape_controls_in_lines;
use cwm_engine::{EventSink, RunEvent};

/// The most groups of cache hits in a row that are listed.
const MAX_HITS: usize = 20;

/// Writes the text of events to standard error.
pub struct Plain {
    text: EventText,
    /// A part of the progress, unless all of it is shown.
    progress: Option<ProgressLog>,
    began: Instant,
}

impl Plain {
    /// Makes a sink; if it is `verbose`, it also shows all progress, and each cache hit. `all` are the cells of the pipeline.
    pub fn new(verbose: bool, all: Vec<Label>) -> Self {
        let progress = (!verbose).then(ProgressLog::default);
        Plain { text: EventText::new(verbose, MAX_HITS, all), progress, began: Instant::now() }
    }
}

fn print(lines: &[String]) {
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    // A closed pipe must not end the run.
    let _ = stderr().write_all(lines.as_bytes());
}

impl EventSink for Plain {
    fn event(&mut self, event: &RunEvent) {
        let mut lines = self.text.lines(event);
        let progress = self.progress.as_mut().and_then(|progress| progress.line(event, self.began.elapsed()));
        lines.extend(progress.map(|line| escape_controls_in_lines(&line)));
        print(&lines);
    }

    fn tick(&mut self) {
        print(&self.text.take_skipped());
    }
}
