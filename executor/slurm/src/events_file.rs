//! The messages of a running job: the lines that a child process writes to its pipe, in a file beside its batch.

use std::path::PathBuf;

use cwm_action::ActionMessage;
use cwm_core::files::Tail;

/// Reads what was added to a file of lines.
#[derive(Debug)]
pub struct EventsFile(Tail);

impl EventsFile {
    /// Returns the file at `path`, which need not be there yet.
    pub fn at(path: PathBuf) -> Self {
        EventsFile(Tail::of(path))
    }

    /// Returns the messages that were added since the last call. A line that is no message is skipped: two starts of one job
    /// may write at once. What cannot be read is read next time.
    pub fn read(&mut self) -> Vec<ActionMessage> {
        let bytes = self.0.more(false).unwrap_or_default();
        bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use cwm_action::ActionOutcome;

    use super::*;

    #[test]
    fn each_line_is_read_once_and_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0.events");
        let mut events = EventsFile::at(path.clone());
        assert!(events.read().is_empty());
        let mut file = File::options().create(true).append(true).open(path).unwrap();
        file.write_all(b"\"start\"\n{\"outcome\":").unwrap();
        assert_eq!(events.read(), [ActionMessage::Start]);
        assert!(events.read().is_empty());
        file.write_all(b"{\"Ok\":\"cache_hit\"}}\nnoise\n{}\n\"start\"\n").unwrap();
        assert_eq!(events.read(), [ActionMessage::Outcome(Ok(ActionOutcome::CacheHit)), ActionMessage::Start]);
    }
}
