//! Reading a text file that another process is still writing.

use std::fs::File;
use std::io::{ErrorKind, Read, Result, Seek, SeekFrom};
use std::path::PathBuf;

/// A file, and how far it was read.
#[derive(Debug)]
pub struct Tail {
    /// The file. Its path may be replaced once the file was moved: the new one has the same beginning.
    pub path: PathBuf,
    read: u64,
}

impl Tail {
    /// Starts at the beginning of the file at `path`, which need not be there yet.
    pub fn of(path: PathBuf) -> Self {
        Tail { path, read: 0 }
    }

    /// Reads the bytes added since the last call, up to the end of the last complete line; with `all`, to the end. A file
    /// that became shorter is read from its beginning. Empty where nothing was added or no file is there.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn more(&mut self, all: bool) -> Result<Vec<u8>> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        if file.metadata()?.len() < self.read {
            self.read = 0;
        }
        file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        if !all {
            bytes.truncate(bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1));
        }
        self.read += bytes.len() as u64;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn lines_come_when_they_are_complete_and_a_shorter_file_is_read_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut tail = Tail::of(path.clone());
        let mut more = |text: &str, all| {
            fs::write(&path, text).unwrap();
            String::from_utf8(tail.more(all).unwrap()).unwrap()
        };
        assert_eq!(more("one\ntw", false), "one\n");
        assert_eq!(more("one\ntwo\nthr", false), "two\n");
        assert_eq!(more("one\ntwo\nthr", false), "");
        assert_eq!(more("one\ntwo\nthr", true), "thr");
        assert_eq!(more("new\n", false), "new\n");
        assert!(Tail::of(folder.path().join("none")).more(true).unwrap().is_empty());
    }
}
