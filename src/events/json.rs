//! One JSON object a line, for machines (`--json`).

use std::io::Write;

use cwm_engine::{EventSink, RunEvent};

/// Writes to the stream that it is given (standard output, in practice).
pub struct Json<W: Write>(pub W);

impl<W: Write> EventSink for Json<W> {
    fn event(&mut self, event: &RunEvent) {
        if let Ok(line) = serde_json::to_string(event) {
            let _ = writeln!(self.0, "{line}");
            let _ = self.0.flush();
        }
    }
}
