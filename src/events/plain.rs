//! One line an event, for logs, pipes and `--output plain`.

use std::io::Write;

use crate::events::text::EventText;
use cwm_engine::{EventSink, RunEvent};

/// The most groups of cache hits in a row that are listed.
const MAX_HITS: usize = 20;

/// Writes the text of events to a stream: standard error, in practice.
pub struct Plain<W: Write> {
    out: W,
    text: EventText,
}

impl<W: Write> Plain<W> {
    /// Makes a sink that writes to `out`; if it is `verbose`, it also shows progress, and each cache hit.
    pub fn new(out: W, verbose: bool) -> Self {
        Plain { out, text: EventText::new(verbose, MAX_HITS) }
    }

    fn print(&mut self, lines: &[String]) {
        if !lines.is_empty() {
            let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
            // A closed pipe must not end the run.
            let _ = self.out.write_all(lines.as_bytes()).and_then(|()| self.out.flush());
        }
    }
}

impl<W: Write> EventSink for Plain<W> {
    fn event(&mut self, event: &RunEvent) {
        let lines = self.text.lines(event);
        self.print(&lines);
    }

    fn tick(&mut self) {
        let lines = self.text.take_skipped();
        self.print(&lines);
    }
}
