//! Resolves an operand of `cwm diff`: a report's folder, a lock file, a run with `--set`, a revision in git, or a result in the
//! store.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::reports;
use crate::commands::locked_results::lock_of_run;
use crate::commands::results::{by_hash, is_hash};
use crate::hints::set_options;
use crate::locate::{open_store, pipeline_file};
use cwm_core::{Error, folder_of};
use cwm_gc::tags;
use cwm_history::diff::TableFile;
use cwm_pipeline::plan::{self, Plan};
use cwm_project::lock_file::{LockFile, SetValues};
use cwm_project::runs;
use cwm_store::Store;

/// The store and the pipeline of the command line. They are opened only when needed, as two folders can be compared without
/// a pipeline.
pub struct ProjectPaths<'a> {
    /// The store, if it is named.
    pub store: Option<&'a Path>,
    /// The pipeline file, if it is named.
    pub file: Option<&'a Path>,
}

impl ProjectPaths<'_> {
    /// Returns the absolute path of the pipeline.
    fn pipeline(&self) -> Result<PathBuf, Error> {
        let file = pipeline_file(self.file)?;
        std::path::absolute(&file).map_err(|error| Error::io("find", &file, error))
    }

    /// Returns the path of the pipeline's lock file.
    fn lock(&self) -> Result<PathBuf, Error> {
        Ok(LockFile::path_for(&self.pipeline()?))
    }

    /// Returns the pipeline as it is today, with the values of `--set` of the run of `lock`, if that is its lock file and it is
    /// correct.
    pub fn plan(&self, lock: &LockFile) -> Option<Plan> {
        let sets = lock.run().map(|run| run.set).unwrap_or_default();
        let file = self.pipeline().ok().filter(|file| runs::lock_path(file, &sets) == lock.path())?;
        plan::load(&file, &Vec::from_iter(sets), &crate::registry::built_in()).ok()
    }

    /// Opens the store of the command line, else the pipeline's.
    ///
    /// # Errors
    /// There is no pipeline, or the store is of a newer format.
    pub fn store(&self) -> Result<Store, Error> {
        open_store(self.store, self.file)
    }
}

/// An operand of `cwm diff`.
pub enum Operand {
    /// A lock file.
    Lock(LockFile),
    /// The tables of a report.
    Report(Vec<TableFile>),
}

impl Operand {
    /// Returns the lock file of the run with these values of `--set`, and its name for people.
    ///
    /// # Errors
    /// It is not recorded, or cannot be read.
    pub fn of_run(sets: &SetValues, places: &ProjectPaths) -> Result<(String, Operand), Error> {
        let lock = lock_of_run(&places.pipeline()?, sets)?;
        Ok((set_options(sets).trim_start().to_owned(), Operand::Lock(checked(lock)?)))
    }

    /// Resolves `text`: a file or folder, else a tag, else a run with `--set`, else a revision in git, else a result in
    /// the store. Returns the operand and its name for people.
    ///
    /// # Errors
    /// It names nothing, or it cannot be read.
    pub fn resolve(text: &str, places: &ProjectPaths) -> Result<(String, Operand), Error> {
        let path = Path::new(text);
        if text == "." {
            let lock = LockFile::read(&places.lock()?)?;
            let name = lock.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !lock.exists() {
                return Err(Error::usage(format!("there is no {name} yet")).hint("`cwm run` writes it"));
            }
            return Ok((name, Operand::Lock(checked(lock)?)));
        }
        let operand = if path.is_dir() {
            Operand::Report(reports::in_folder(path)?)
        } else if path.is_file() {
            Operand::Lock(checked(LockFile::read(path)?)?)
        } else if let Some(tag) = text.strip_prefix(tags::PREFIX) {
            Operand::Lock(tags::read(&places.store()?, tag)?.lock)
        } else if let Some(run) = places.pipeline().map_or(Ok(None), |file| runs::find(&file, text))? {
            Operand::Lock(checked(run)?)
        } else {
            match revision(text, places)? {
                Ok(lock) => Operand::Lock(lock),
                Err(_) if is_hash(text) => Operand::Report(stored_report(text, &places.store()?)?),
                Err(git_message) => {
                    let git = if git_message.is_empty() { String::new() } else { format!(" (git: {git_message})") };
                    let problem = format!("`{text}` is not a run, lock file, report or git revision{git}");
                    return Err(Error::usage(problem).hint("`cwm runs` lists the runs"));
                }
            }
        };
        Ok((text.to_owned(), operand))
    }
}

/// Checks that a lock file is one: of another file every line would be ignored, and two of them be the same.
fn checked(lock: LockFile) -> Result<LockFile, Error> {
    match lock.problems().first() {
        Some(warning) if lock.cells().next().is_none() => Err(Error::usage(format!("this is no lock file: {warning}"))),
        _ => Ok(lock),
    }
}

/// Reads the tables of a report in the store, by the beginning of its digest or key.
fn stored_report(hash: &str, store: &Store) -> Result<Vec<TableFile>, Error> {
    let found = by_hash(store, hash)?;
    let digests =
        found.iter().flat_map(|(record, names)| names.iter().filter_map(|name| reports::digest(record, name)));
    let mut digests: Vec<_> = digests.collect();
    digests.sort();
    digests.dedup();
    match digests[..] {
        [digest] => reports::in_store(hash, &digest, store),
        _ => Err(Error::usage(format!("{hash} names {} reports", digests.len()))
            .hint("give the digest of one report, which `cwm show STAGE` prints")),
    }
}

/// Reads the lock file at `REV` or `REV:path` in git. Returns git's message, which may be empty, if there is no such revision.
fn revision(text: &str, places: &ProjectPaths) -> Result<Result<LockFile, String>, Error> {
    if text.starts_with('-') || text.contains(char::is_control) {
        return Ok(Err(String::new()));
    }
    let (revision, folder, path) = match text.split_once(':') {
        Some((revision, path)) => (revision, PathBuf::from("."), path.to_owned()),
        None => {
            let lock = places.lock()?;
            let name = lock.file_name().unwrap_or_default().to_string_lossy();
            (text, folder_of(&lock).to_owned(), format!("./{name}"))
        }
    };
    let commit = format!("{revision}^{{commit}}");
    if let Err(git_message) = git(&folder, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]) {
        return Ok(Err(git_message));
    }
    let object = format!("{revision}:{path}");
    let Ok(bytes) = git(&folder, &["cat-file", "blob", &object]) else {
        return Err(Error::usage(format!("{path} is not in git at {revision}"))
            .hint("is the lock file committed there? `REV:path/to/pipeline.lock` names another"));
    };
    let lock = LockFile::parse(PathBuf::from(object), String::from_utf8_lossy(&bytes).into_owned())?;
    checked(lock).map(Ok)
}

/// Returns the output of git; else the first line of its error.
fn git(folder: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output();
    let output = output.map_err(|error| format!("it cannot be run: {error}"))?;
    let message = String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned();
    if output.status.success() { Ok(output.stdout) } else { Err(message) }
}
