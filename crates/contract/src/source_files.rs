//! An external file, or a folder of them.

use std::path::{Path, PathBuf};

use crate::{Failure, Parameter, Type, Value};

/// An external file, or a folder of such files; by the time a stage runs, its absolute path. Which files of a folder
/// are meant is declared: `kind = Type::Files { endings: … }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFiles(pub PathBuf);

impl Parameter for SourceFiles {
    fn kind() -> Type {
        Type::Files { endings: &[] }
    }
    fn read(value: &Value) -> Result<Self, String> {
        String::read(value).map(|text| SourceFiles(text.into()))
    }
    fn write(&self) -> Value {
        Value::Text(self.0.to_string_lossy().into_owned())
    }
}

impl SourceFiles {
    /// The file itself; of a folder, the files in it and in its folders whose names end in one of `endings` (given in
    /// small letters, compared in any case), sorted by their paths. Names that begin with a dot are passed over.
    ///
    /// # Errors
    /// The path cannot be read, or the folder holds no such file.
    pub fn list(&self, endings: &[&str]) -> Result<Vec<PathBuf>, Failure> {
        let metadata = std::fs::metadata(&self.0).map_err(|error| Failure::io("read", &self.0, error))?;
        if !metadata.is_dir() {
            return Ok(vec![self.0.clone()]);
        }
        let mut files = Vec::new();
        add(&self.0, endings, &mut files)?;
        files.sort();
        if files.is_empty() {
            let endings = endings.join(", ");
            let message = format!("{} holds no file whose name ends in {endings}", self.0.display());
            return Err(Failure::input(message).hint("name another folder, or a file, whatever its name"));
        }
        Ok(files)
    }
}

fn add(folder: &Path, endings: &[&str], files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let unread = |error| Failure::io("read", folder, error);
    for entry in folder.read_dir().map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy().to_lowercase();
        // A link to a folder is not followed, since it may lead back up.
        if entry.file_type().map_err(unread)?.is_dir() && !name.starts_with('.') {
            add(&path, endings, files)?;
        } else if !name.starts_with('.') && endings.iter().any(|ending| name.ends_with(ending)) && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}
