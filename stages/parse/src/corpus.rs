//! The files that a corpus is read from.

use std::path::{Path, PathBuf};

use cwm_contract::{Context, Failure};

/// The files of the input in the order in which they are read.
pub struct Corpus {
    files: Vec<PathBuf>,
    /// Their bytes together; `None` if the size of one is unknown, such as that of a pipe.
    size: Option<u64>,
}

impl Corpus {
    /// Finds the files: those given, and in place of a folder the files in it and in its folders, by name; names that
    /// begin with a dot are passed over.
    ///
    /// # Errors
    /// A file or folder cannot be found, or no file is left.
    pub fn find(context: &Context) -> Result<Self, Failure> {
        let mut files = Vec::new();
        for input in context.group("pgn") {
            add(&input.path, &mut files)?;
        }
        if files.is_empty() {
            return Err(Failure::input("the input has no files").hint("a folder must hold files of games"));
        }
        let mut size = Some(0);
        for path in &files {
            let metadata = path.metadata().map_err(|error| Failure::io("read", path, error))?;
            size = size.filter(|_| metadata.is_file()).map(|size| size + metadata.len());
        }
        Ok(Corpus { files, size })
    }

    /// The files.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Bytes of all files, compressed as they are, if that is known.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Returns ` of PATH` for the file numbered `file`, if there are several.
    pub fn of_file(&self, file: usize) -> String {
        if self.files.len() > 1 { format!(" of {}", self.files[file].display()) } else { String::new() }
    }

    /// Returns a name for all files together.
    pub fn name(&self) -> String {
        match &self.files[..] {
            [only] => only.display().to_string(),
            files => format!("the {} files", files.len()),
        }
    }
}

fn add(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let io = |error| Failure::io("read", path, error);
    let mut names = Vec::new();
    for entry in path.read_dir().map_err(io)? {
        names.push(entry.map_err(io)?.file_name());
    }
    names.sort_unstable();
    let seen = names.iter().filter(|name| !name.as_encoded_bytes().starts_with(b"."));
    seen.into_iter().try_for_each(|name| add(&path.join(name), files))
}
