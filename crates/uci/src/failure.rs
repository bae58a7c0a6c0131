//! Failures of engines as text: the program, the commands that it was sent, its last lines, and a hint.

use std::path::Path;
use std::time::Duration;

use cwm_contract::{Failure, FailureKind, escape_characters, is_hidden};

use crate::process::{Process, RequestError};

/// The most characters of a line that are shown.
const LINE_LENGTH: usize = 200;

/// The hint about a program that is no engine.
const OTHER_PROGRAM: &str = "name a UCI engine, such as Stockfish (apt-get install stockfish)";

/// An exchange with an engine: commands, and the output that they cause.
pub struct EngineRequest<'a> {
    /// The word that ends it, such as `uciok`.
    pub terminator: &'static str,
    /// The commands that the engine was sent last.
    pub sent: &'a str,
    /// The position, as a FEN.
    pub position: Option<&'a str>,
    /// The longest time for it.
    pub time: Duration,
    /// The most bytes of its reply.
    pub bytes: u64,
}

impl EngineRequest<'_> {
    /// The failure of an exchange that did not come to its end.
    pub fn failure(&self, program: &Path, process: &Process, error: RequestError) -> Failure {
        let is_late = matches!(error, RequestError::Timeout);
        let (kind, how) = match error {
            RequestError::Cancelled => return Failure::cancelled(),
            RequestError::Timeout => (FailureKind::System, format!(" within {} s", self.time.as_secs_f64())),
            RequestError::OutputLimit => (FailureKind::Input, format!(" within {} MiB of output", self.bytes >> 20)),
            RequestError::Ended(how) => (FailureKind::System, format!(": it {how}")),
            RequestError::System(error) => (FailureKind::System, format!(": {error}")),
        };
        let failure = self.wrong(program, process, &format!("did not send `{}`{how}", self.terminator));
        match self.terminator {
            "uciok" if is_late => {
                failure.hint(format!("{OTHER_PROGRAM}; if it is one, the machine was busy: run again"))
            }
            "uciok" => failure.hint(OTHER_PROGRAM),
            _ => Failure { kind, ..failure }.hint("start the program by hand and send it the same lines"),
        }
    }

    /// The failure of an engine that does something wrong, with the circumstances.
    pub fn wrong(&self, program: &Path, process: &Process, what: &str) -> Failure {
        let mut message = format!("the engine {} {what}", program.display());
        if let Some(position) = self.position {
            message += &format!(", in the position `{position}`");
        }
        // A FEN is shorter than the moves of a game.
        let sent = self.sent.lines().filter(|line| self.position.is_none() || !line.starts_with("position "));
        message += &format!("; it was sent {}", quoted(sent));
        let lines = quoted(process.recent_lines());
        message +=
            &if lines.is_empty() { "; it wrote nothing".to_owned() } else { format!("; its last lines: {lines}") };
        Failure::input(message)
    }
}

/// Lines as a list, each in backquotes, short and with escapes for control characters.
pub fn quoted<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let quote = |line: &str| match line.char_indices().nth(LINE_LENGTH) {
        Some((end, _)) => format!("`{}…`", escape_characters(&line[..end], is_hidden)),
        None => format!("`{}`", escape_characters(line, is_hidden)),
    };
    lines.map(quote).collect::<Vec<_>>().join(", ")
}
