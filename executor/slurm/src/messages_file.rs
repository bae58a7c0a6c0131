//! The messages of a running job: the lines that a child process writes to its pipe, in a file beside its batch.

use cwm_action::ActionMessage;
use cwm_core::files::Tail;

/// Returns the messages that were added since the last call. A line that is no message is skipped: two starts of one job
/// may write at once. What cannot be read is read next time.
pub fn new_messages(messages: &mut Tail) -> Vec<ActionMessage> {
    let bytes = messages.more(false).unwrap_or_default();
    bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
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
        let mut messages = Tail::of(path.clone());
        assert!(new_messages(&mut messages).is_empty());
        let mut file = File::options().create(true).append(true).open(path).unwrap();
        file.write_all(b"\"start\"\n{\"outcome\":").unwrap();
        assert_eq!(new_messages(&mut messages), [ActionMessage::Start]);
        assert!(new_messages(&mut messages).is_empty());
        file.write_all(b"{\"Ok\":\"cache_hit\"}}\nnoise\n{}\n\"start\"\n").unwrap();
        assert_eq!(
            new_messages(&mut messages),
            [ActionMessage::Outcome(Ok(ActionOutcome::CacheHit)), ActionMessage::Start]
        );
    }
}
