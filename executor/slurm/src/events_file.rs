//! The messages of a running job: the lines that a child process writes to its pipe, in a file beside its batch.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use cwm_action::ActionMessage;

/// Reads what was added to a file of lines.
#[derive(Debug)]
pub struct EventsFile {
    path: PathBuf,
    /// The end of the last whole line that was read.
    offset: u64,
}

impl EventsFile {
    /// Returns the file at `path`, which need not be there yet.
    pub fn at(path: PathBuf) -> Self {
        EventsFile { path, offset: 0 }
    }

    /// Returns the messages that were added since the last call. A line that is no message is skipped: two starts of one job
    /// may write at once.
    pub fn read(&mut self) -> Vec<ActionMessage> {
        let Ok(mut file) = File::open(&self.path) else { return Vec::new() };
        let mut bytes = Vec::new();
        // Lines before an error count. The rest, and a line whose end is not written yet, is read next time.
        let _ = file.seek(SeekFrom::Start(self.offset)).and_then(|_| file.read_to_end(&mut bytes));
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.offset += end as u64;
        bytes[..end].split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }
}

#[cfg(test)]
mod tests {
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
