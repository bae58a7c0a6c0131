//! The end of a log, of which there may be any amount.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Returns the last `most` bytes of a log as text, of those that follow byte `from`.
///
/// # Errors
/// It is not there, or cannot be read.
pub fn read_log_tail(log: &Path, from: u64, most: u64) -> io::Result<String> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most).max(from)))?;
    let mut bytes = Vec::new();
    // Content that is written meanwhile is not waited for.
    file.take(most).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_as_long_as_asked_for_and_begins_no_earlier() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        std::fs::write(&log, "one\ntwo\n").unwrap();
        let end = |from, most| read_log_tail(&log, from, most).unwrap();
        assert_eq!([end(0, 100), end(0, 4), end(6, 100), end(50, 4)], ["one\ntwo\n", "two\n", "o\n", ""]);
        assert_eq!(read_log_tail(&folder.path().join("none"), 0, 4).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
