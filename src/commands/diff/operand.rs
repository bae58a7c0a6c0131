//! What a person may name on `cwm diff`'s command line: a report's folder, a lock file, a revision of it in git, or a
//! result of the store.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::reports;
use crate::commands::ls::no_tag;
use crate::locate::{open_store, pipeline_file};
use cwm_core::Error;
use cwm_gc::tags;
use cwm_history::diff::TableFile;
use cwm_pipeline::plan::{self, Plan};
use cwm_project::lock_file::LockFile;
use cwm_store::Store;

/// Where to look; found out only when needed, as two folders can be compared without a pipeline.
pub struct Places<'a> {
    store: Option<&'a Path>,
    file: Option<&'a Path>,
}

impl<'a> Places<'a> {
    /// With the store and the pipeline of the command line.
    pub fn new(store: Option<&'a Path>, file: Option<&'a Path>) -> Self {
        Places { store, file }
    }

    /// The pipeline's lock file.
    fn lock(&self) -> Result<PathBuf, Error> {
        let file = pipeline_file(self.file)?;
        let file = std::path::absolute(&file).map_err(|error| Error::io("find", &file, error))?;
        Ok(LockFile::path_for(&file))
    }

    /// The pipeline as it is today, if `lock` is its lock file and nothing is wrong with it.
    pub fn plan(&self, lock: &LockFile) -> Option<Plan> {
        let is_its_own = self.lock().is_ok_and(|own| own == lock.path());
        let file = pipeline_file(self.file).ok().filter(|_| is_its_own)?;
        plan::load(&file, &[], &crate::registry::built_in()).ok()
    }

    /// The store of the command line, else the pipeline's.
    ///
    /// # Errors
    /// There is no pipeline, or the store is of a newer format.
    pub fn store(&self) -> Result<Store, Error> {
        open_store(self.store, self.file)
    }
}

/// One of the two.
pub struct Operand {
    /// As people know it.
    pub name: String,
    /// What it is.
    pub found: Found,
}

/// The object that a name stands for.
pub enum Found {
    /// A lock file.
    Lock(LockFile),
    /// The tables of a report.
    Report(Vec<TableFile>),
}

impl Operand {
    /// Resolves `text`: what is on disk first, then a revision in git and a result of the store, which must not both be
    /// there.
    ///
    /// # Errors
    /// It names nothing, or two things, or what it names cannot be read.
    pub fn find(text: &str, places: &Places) -> Result<Operand, Error> {
        let path = Path::new(text);
        let name = text.to_owned();
        if let Some(tag) = text.strip_prefix(tags::PREFIX).filter(|_| !path.exists()) {
            let found = tags::find(&places.store()?, tag)?.ok_or_else(|| no_tag(tag))?;
            return Ok(Operand { name, found: Found::Lock(found.lock) });
        }
        if path.is_dir() {
            if reports::is_folder(path) {
                return Ok(Operand { name, found: Found::Report(reports::in_folder(path)?) });
            }
            let lock = match text {
                "." => places.lock()?,
                _ => path.join(places.lock()?.file_name().unwrap_or_default()),
            };
            if lock.is_file() {
                return Ok(Operand { name: lock_name(&lock), found: Found::Lock(read(&lock)?) });
            }
            let problem = format!("{text} holds neither the tables of a report nor {}", lock_name(&lock));
            return Err(
                Error::usage(problem).hint("`cwm export report DIR` makes such a folder, `cwm run` a lock file")
            );
        }
        if path.is_file() {
            return Ok(Operand { name, found: Found::Lock(read(path)?) });
        }
        let stored = by_hash(text, places)?;
        match (revision(text, places)?, stored) {
            (Ok(_), Some(_)) => Err(Error::usage(format!("`{text}` is a revision in git and a result of the store"))
                .hint("give more digits of the one that is meant")),
            (Ok(lock), None) => Ok(Operand { name, found: Found::Lock(lock) }),
            (_, Some(tables)) => Ok(Operand { name, found: Found::Report(tables) }),
            (Err(git_message), None) => {
                let what =
                    "neither a report's folder, nor a lock file, nor a revision in git, nor a report in the store";
                let error = Error::usage(format!("`{text}` is {what}")).hint(
                    "such as `cwm diff HEAD .`, `cwm diff v1:paper.lock paper.lock` or `cwm diff old-report report`",
                );
                Err(if git_message.is_empty() { error } else { error.hint(format!("git says: {git_message}")) })
            }
        }
    }
}

/// A lock file that is one: of another file every line would be ignored, and two of them be the same.
fn read(path: &Path) -> Result<LockFile, Error> {
    one(LockFile::read(path)?)
}

fn one(lock: LockFile) -> Result<LockFile, Error> {
    match lock.warnings().first() {
        Some(warning) if lock.cells().next().is_none() => Err(Error::usage(format!("this is no lock file: {warning}"))),
        _ => Ok(lock),
    }
}

fn lock_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A report of the store, by the beginning of its digest or key.
fn by_hash(text: &str, places: &Places) -> Result<Option<Vec<TableFile>>, Error> {
    if text.len() < 6 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(None);
    }
    // A revision in git may be all that is meant, where there is no store.
    let store = places.store()?;
    let mut digests: Vec<_> = Vec::new();
    for (record, ports) in store.by_prefix(text)? {
        digests.extend(ports.iter().filter_map(|port| reports::digest(&record, port)));
    }
    digests.sort();
    digests.dedup();
    match digests[..] {
        [] => Ok(None),
        [digest] => reports::in_store(text, &digest, &store).map(Some),
        _ => Err(Error::usage(format!("the store has {} reports that begin with {text}", digests.len()))
            .hint("give more digits")),
    }
}

/// Returns the lock file at `REV` or `REV:path`; else git's message about the missing revision, which may be empty.
fn revision(text: &str, places: &Places) -> Result<Result<LockFile, String>, Error> {
    if text.starts_with('-') || text.contains(char::is_control) {
        return Ok(Err(String::new()));
    }
    let (revision, path) = match text.split_once(':') {
        Some((revision, path)) => (revision, Some(path)),
        None => (text, None),
    };
    let here =
        std::env::current_dir().map_err(|error| Error::system(format!("cannot tell the current folder: {error}")))?;
    let (folder, object, path) = match path {
        Some(path) => (here, text.to_owned(), PathBuf::from(path)),
        None => {
            let lock = places.lock()?;
            let folder = lock.parent().unwrap_or(&here).to_owned();
            (folder, format!("{revision}:./{}", lock_name(&lock)), lock)
        }
    };
    let commit = format!("{revision}^{{commit}}");
    if let Err(git_message) = git(&folder, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])? {
        return Ok(Err(git_message));
    }
    let Ok(bytes) = git(&folder, &["cat-file", "blob", &object])? else {
        let problem = format!("{} is not in git at {revision}", path.display());
        return Err(
            Error::usage(problem).hint("is the lock file committed there? `REV:path/to/pipeline.lock` names another")
        );
    };
    let lock = LockFile::of(PathBuf::from(object), String::from_utf8_lossy(&bytes).into_owned())?;
    one(lock).map(Ok)
}

/// Returns the output of git; else the first line of its error.
fn git(folder: &Path, arguments: &[&str]) -> Result<Result<Vec<u8>, String>, Error> {
    match Command::new("git").arg("-C").arg(folder).args(arguments).output() {
        Ok(output) if output.status.success() => Ok(Ok(output.stdout)),
        Ok(output) => Ok(Err(String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Err("there is no git here".to_owned())),
        Err(error) => Err(Error::system(format!("cannot run git: {error}"))),
    }
}
