//! What a store is asked to keep: the lock files that it has seen, tags, and what running stages read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::age::Age;
use crate::jobs::BatchJobs;
use cwm_action::{ActionFile, Artifact};
use cwm_core::files::Result;
use cwm_core::{Digest, DurableFs, FileError, FileErrorKind, Key, read_regular_file};
use cwm_project::lock_file::{LockFile, LockLine};
use cwm_store::{ActionRecord, Machine, Store, timestamp};

/// Version of the format of a root's file.
const ROOT_FORMAT: u32 = 1;

/// How long what a lock file named stays after the file is gone.
const AFTER_IT_IS_GONE: Age = Age::days(30);

/// How often a root is refreshed.
const REFRESHED: Age = Age::days(1);

/// A lock file that the store has seen: JSON in `roots/<first digits of the BLAKE3 of its path>.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RootFile {
    format: u32,
    /// Absolute.
    lock_file: PathBuf,
    /// From the store's folder, so that the two may be moved together.
    from_store: Option<PathBuf>,
    /// The host on which it is.
    host: String,
    /// When a run last used it, to a day.
    #[serde(with = "timestamp")]
    seen: Timestamp,
    /// What it said then.
    text: String,
}

impl RootFile {
    /// # Errors
    /// It cannot be read, is damaged, or a newer cwm wrote it.
    fn read(path: &Path) -> Result<RootFile> {
        let bytes = match read_regular_file(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(FileError::damaged(path, error.to_string()));
            }
            Err(error) => return Err(FileError::io("read", path)(error)),
        };
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let read: serde_json::Result<RootFile> = serde_json::from_slice(&bytes);
        // A newer one may lack what this cwm wants to see.
        let version = || serde_json::from_slice(&bytes).ok().map(|version: Version| version.format);
        let found = read.as_ref().map_or_else(|_| version(), |root| Some(root.format));
        match found {
            Some(found) if found > ROOT_FORMAT => {
                let path = path.to_owned();
                Err(FileError::TooNew { path, what: "a root", found: found.into(), known: ROOT_FORMAT })
            }
            _ => read.map_err(|error| FileError::damaged(path, error.to_string())),
        }
    }
}

/// Whether what the store noted of a lock file can be read.
///
/// # Errors
/// It cannot, is damaged, or a newer cwm wrote it.
pub(super) fn check_file(path: &Path) -> Result<()> {
    RootFile::read(path).map(drop)
}

/// Something that names results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// What it is, for people: the path of a lock file, `tag:paper-v1`, `running stage train`.
    pub name: String,
    /// The results that it names: key (of a running stage's inputs none) and outputs.
    pub results: Vec<(Option<Key>, BTreeMap<String, Digest>)>,
    /// What is to be known of it: that its file is gone, and what that means.
    pub note: Option<String>,
    /// The root's file, if it names nothing any more and may go.
    pub ended: Option<PathBuf>,
}

/// After a run: the store has seen its lock file, and its results were used. Nothing is written if the root is younger
/// than a day, unless the lock file was `written`; then of the uses only those are that are a day old, and the root where the run
/// `made` something: one that finds all of its results writes nothing here.
///
/// # Errors
/// The store cannot be written.
pub fn record_run(
    store: &Store,
    lock: Option<&Path>,
    records: &[Option<ActionRecord>],
    written: bool,
    made: bool,
) -> Result<()> {
    let is_new = match lock {
        Some(lock) => refresh(store, lock, written && made)?,
        None => true,
    };
    if is_new || written {
        store.note_use(records.iter().flatten().map(|record| record.key))?;
    }
    Ok(())
}

/// Writes the root of this lock file, if that is not there, damaged, older than a day, or the lock file `changed`; whether it
/// did.
fn refresh(store: &Store, lock: &Path, changed: bool) -> Result<bool> {
    let path = fs::canonicalize(lock).unwrap_or_else(|_| lock.to_owned());
    let file = root_path(store, &path);
    let is_read = match RootFile::read(&file) {
        Err(error) => error.trouble() == FileErrorKind::TooNew,
        Ok(_) => true,
    };
    let modified_recently = fs::metadata(&file).and_then(|metadata| metadata.modified()).is_ok_and(|noted| {
        let noted = Timestamp::try_from(noted).unwrap_or(Timestamp::MIN);
        (REFRESHED.before(Timestamp::now())..=Timestamp::now()).contains(&noted)
    });
    if is_read && modified_recently && !changed {
        return Ok(false);
    }
    let text = match fs::read(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        // Nothing is done yet.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(FileError::io("read", &path)(error)),
    };
    // What it last said in whole is worth more than what is left of it now.
    if is_read && LockFile::of(path.clone(), text.clone()).is_ok_and(|lock| !lock.warnings().is_empty()) {
        return Ok(false);
    }
    write(store, &path, text)?;
    Ok(true)
}

fn root_path(store: &Store, lock: &Path) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    let name = Digest::of(lock.as_os_str().as_bytes()).to_string();
    store.roots_folder().join(format!("{}.json", &name[..16]))
}

fn write(store: &Store, lock: &Path, text: String) -> Result<()> {
    store.create()?;
    let root = RootFile {
        format: ROOT_FORMAT,
        lock_file: lock.to_owned(),
        from_store: store.reference(lock).from_store,
        host: Machine::here().host,
        seen: Timestamp::now(),
        text,
    };
    let file = root_path(store, lock);
    let mut bytes = serde_json::to_vec_pretty(&root).map_err(|error| FileError::io("write", &file)(error.into()))?;
    bytes.push(b'\n');
    let disk = DurableFs::default();
    disk.make_folders(&store.roots_folder())?;
    disk.replace(&file, &bytes, true)
}

/// Forgets a lock file that the store has seen: what it names is no longer kept because of it. False if it never was.
///
/// # Errors
/// The store cannot be written.
pub fn forget(store: &Store, lock: &Path) -> Result<bool> {
    let given = std::path::absolute(lock).map_err(FileError::io("find", lock))?;
    let mut found = false;
    for path in [fs::canonicalize(&given).ok(), Some(given)].into_iter().flatten() {
        let file = root_path(store, &path);
        found |= file.exists();
        DurableFs::default().remove(&file)?;
    }
    Ok(found)
}

/// Everything that names results.
///
/// # Errors
/// The store cannot be read, or a root or tag is of a newer version or damaged.
pub fn roots(store: &Store, jobs: &dyn BatchJobs, now: Timestamp) -> Result<Vec<Root>> {
    let mut roots = Vec::new();
    for (name, path) in store.files_in(&store.roots_folder())? {
        if name.ends_with(".json") {
            roots.push(root(store, path, now)?);
        }
    }
    for tag in super::tags::list(store)? {
        tag.verify_intact()?;
        let results = tag.lock.cells().map(|(_, line)| (Some(line.key), line.outputs.clone())).collect();
        roots.push(Root { name: format!("{}{}", super::tags::PREFIX, tag.name), results, note: None, ended: None });
    }
    let awaited = jobs.awaited_keys(store);
    for work in store.work_folders()? {
        let key = *work.key();
        // A job that waits in a queue reads the same when it starts.
        let is_awaited = awaited.contains(&key);
        if !is_awaited && store.holder(&key)?.is_none() {
            continue;
        }
        // One that cannot be read is being written, or was finished just now.
        let Ok(action) = ActionFile::read(&work, &key) else { continue };
        let inputs = action.inputs.iter().flat_map(|(name, group)| group.iter().map(move |input| (name, input)));
        let read = inputs.map(|(name, input)| match &input.artifact {
            Artifact::Output(output) => (None, BTreeMap::from([(name.clone(), output.digest)])),
            Artifact::Outside(snapshot) => (None, BTreeMap::from([(name.clone(), snapshot.digest)])),
        });
        let name = if is_awaited { "stage of a batch job" } else { "running stage" };
        let name = format!("{name} {}", action.label);
        roots.push(Root { name, results: read.collect(), note: None, ended: None });
    }
    Ok(roots)
}

/// What a lock file that the store has seen names now; if it cannot be told, or not in whole, also what it named when a run
/// last used it.
fn root(store: &Store, path: PathBuf, now: Timestamp) -> Result<Root> {
    let root = RootFile::read(&path)?;
    let name = root.lock_file.display().to_string();
    let moved = root.from_store.as_ref().map(|from_store| store.root().join(from_store));
    let is_here = root.host == Machine::here().host;
    // A path means something else on another host; what lies beside the store goes where it goes.
    let places = moved.into_iter().chain(is_here.then(|| root.lock_file.clone()));
    let (mut trouble, mut now_says) = (None, None);
    for place in places {
        match LockFile::read(&place) {
            Ok(lock) if !place.is_file() => drop(lock),
            Ok(lock) => match lock.warnings().first() {
                None => return Ok(Root { name, results: results(lock.all_lines()), note: None, ended: None }),
                Some(warning) => {
                    let (line, message) = (warning.line, &warning.message);
                    trouble = Some(format!("cannot be read as a whole (line {line}: {message})"));
                    now_says = Some(lock);
                    break;
                }
            },
            Err(error) => trouble = Some(error.to_string()),
        }
    }
    let said = LockFile::of(root.lock_file.clone(), root.text)?;
    let day = root.seen.strftime("%Y-%m-%d");
    let (kept, note) = match trouble {
        Some(trouble) if now_says.is_some() => {
            (true, format!("{trouble}; what can be read of it stays, and what it named on {day}"))
        }
        Some(trouble) => (true, format!("{trouble}; what it named on {day} stays")),
        None if !is_here => (true, format!("is on {}, or gone; what it named on {day} stays", root.host)),
        None if root.seen < AFTER_IT_IS_GONE.before(now) => (false, "is gone for 30 days".to_owned()),
        None => (true, format!("is gone; what it named on {day} stays until 30 days after that")),
    };
    let lines = now_says.iter().chain([&said]).flat_map(LockFile::all_lines);
    let results = if kept { results(lines) } else { Vec::new() };
    Ok(Root { name, results, note: Some(note), ended: (!kept).then_some(path) })
}

/// Each once.
fn results<'a>(lines: impl Iterator<Item = &'a LockLine>) -> Vec<(Option<Key>, BTreeMap<String, Digest>)> {
    let results: BTreeSet<_> = lines.map(|line| (Some(line.key), line.outputs.clone())).collect();
    results.into_iter().collect()
}
