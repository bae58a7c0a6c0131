//! The roots of a store: the lock files that it has seen, tags, and the inputs of running stages.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};

use super::tags;
use super::time_span::{days, time_before};
use cwm_action::ActionFile;
use cwm_core::files::{Result, from_json, read_project_file, resolve, to_json};
use cwm_core::{Digest, DurableFs, FileError, FileErrorKind, Key, OutputDigests};
use cwm_project::lock_file::LockFile;
use cwm_store::{Store, host_name, list_folder, read_own_file};

/// Version of the format of a root's file.
const ROOT_FORMAT: u32 = 1;

/// The time for which results stay after the lock file that named them is gone.
const RETENTION_WITHOUT_FILE: Duration = days(30);

/// The interval at which a root is refreshed.
const REFRESH_INTERVAL: Duration = days(1);

/// Functions by which the backend of a cluster finds the keys that its jobs need and the files that they left.
pub struct BatchJobs {
    /// The keys of the actions that jobs will still do, or do now.
    pub pending_keys: fn(&Store) -> HashSet<Key>,
    /// Files and folders of jobs that ended before a time, which nobody reads any more.
    pub garbage: fn(&Store, Timestamp) -> Vec<PathBuf>,
}

/// A lock file that the store has seen: JSON in `roots/<first digits of the BLAKE3 of its path>.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RootFile {
    format: u32,
    /// The absolute path of the lock file.
    lock_file: PathBuf,
    /// The path from the store's folder, so that the two may be moved together.
    from_store: Option<PathBuf>,
    /// The host of the lock file.
    host: String,
    /// The time of the last run that used it, to a day.
    seen: Timestamp,
    /// The text of the lock file at that time.
    text: String,
}

impl RootFile {
    /// Reads the file of a root.
    ///
    /// # Errors
    /// It cannot be read, is damaged, or a newer cwm wrote it.
    pub(super) fn read(path: &Path) -> Result<RootFile> {
        from_json(path, &read_own_file(path)?, "a root", ROOT_FORMAT, |root: &RootFile| root.format)
    }
}

/// A result by its key and outputs; the inputs of a running stage have no key.
type RootedResult = (Option<Key>, OutputDigests);

/// A root: something that names results, which then stay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Root {
    /// The name for people: the path of a lock file, `tag:paper-v1`, `running stage train`.
    pub name: String,
    /// The results that it names; JSON has their number.
    #[serde(serialize_with = "count")]
    pub results: Vec<RootedResult>,
    /// A remark, such as that its file is gone and what that means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The root's file, if it names nothing any more and may be deleted.
    #[serde(skip)]
    pub ended: Option<PathBuf>,
}

fn count<S: Serializer>(results: &[RootedResult], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_u64(results.len() as u64)
}

/// Records after a run that the store has seen its lock file, and that its results, of these `keys`, were used. Nothing is
/// written if the root is younger than a day, unless the lock file is changed. The root is written anew where the run also has
/// new results, so that a run that finds all of its results writes nothing here.
///
/// # Errors
/// The store cannot be written.
pub fn record_run(
    store: &Store,
    lock: &Path,
    keys: impl IntoIterator<Item = Key>,
    lock_is_changed: bool,
    has_new_results: bool,
) -> Result<()> {
    if refresh(store, lock, lock_is_changed && has_new_results)? || lock_is_changed {
        store.record_use(keys)?;
    }
    Ok(())
}

/// Writes the root of this lock file, if that is missing, damaged or older than a day, or if the lock file `changed`. Returns
/// true if it was written.
fn refresh(store: &Store, lock: &Path, changed: bool) -> Result<bool> {
    let path = fs::canonicalize(lock).unwrap_or_else(|_| lock.to_owned());
    let file = root_path(store, &path);
    let is_usable = !RootFile::read(&file).is_err_and(|error| error.kind() != FileErrorKind::TooNew);
    let written = fs::metadata(&file).and_then(|metadata| metadata.modified());
    // A time that lies ahead was set by a clock that went wrong.
    let is_recent = written.is_ok_and(|time| time.elapsed().is_ok_and(|age| age <= REFRESH_INTERVAL));
    if is_usable && is_recent && !changed {
        return Ok(false);
    }
    let Some(text) = read_project_file(&path)? else { return Ok(false) };
    // The last text that was whole is worth more than the rest of it now.
    if is_usable && LockFile::parse(path.clone(), text.clone()).is_ok_and(|lock| !lock.problems().is_empty()) {
        return Ok(false);
    }
    write(store, path, text)?;
    Ok(true)
}

/// Makes a lock file a root before a run writes it for the first time: its results stay although the run is killed right after
/// that.
///
/// # Errors
/// The store cannot be written.
pub fn register(store: &Store, lock: &Path) -> Result<()> {
    // The file, and its folder, may be gone.
    let path = resolve(lock);
    if root_path(store, &path).exists() { Ok(()) } else { write(store, path, String::new()) }
}

fn write(store: &Store, lock_file: PathBuf, text: String) -> Result<()> {
    store.create()?;
    let file = root_path(store, &lock_file);
    let root = RootFile {
        format: ROOT_FORMAT,
        from_store: store.reference(&lock_file).from_store,
        lock_file,
        host: host_name(),
        seen: Timestamp::now(),
        text,
    };
    let disk = DurableFs::default();
    disk.make_folders(&store.folder("roots"))?;
    disk.replace(&file, &to_json(&file, &root)?, true)?;
    Ok(())
}

fn root_path(store: &Store, lock: &Path) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    let name = Digest::of(lock.as_os_str().as_bytes()).to_string();
    store.folder("roots").join(format!("{}.json", &name[..16]))
}

/// Forgets a lock file that the store has seen: it is no longer a root. Returns false if the store has not seen it.
///
/// # Errors
/// The store cannot be written.
pub fn forget(store: &Store, lock: &Path) -> Result<bool> {
    let absolute = std::path::absolute(lock).map_err(FileError::io("find", lock))?;
    let mut found = false;
    for path in [resolve(&absolute), absolute] {
        let file = root_path(store, &path);
        found |= file.exists();
        DurableFs::default().remove(&file)?;
    }
    Ok(found)
}

/// Returns everything that names results.
///
/// # Errors
/// The store cannot be read, or a root or tag is of a newer version or damaged.
pub fn roots(store: &Store, jobs: &BatchJobs, now: Timestamp) -> Result<Vec<Root>> {
    let mut roots = Vec::new();
    for (name, path) in list_folder(&store.folder("roots"))? {
        if name.ends_with(".json") {
            roots.push(lock_file_root(store, path, now)?);
        }
    }
    for tag in tags::list(store)? {
        tag.verify_intact()?;
        roots.push(Root::of(format!("{}{}", tags::PREFIX, tag.name), results([&tag.lock])));
    }
    let pending = (jobs.pending_keys)(store);
    for work in store.work_folders()? {
        let key = work.key;
        // A job that waits in a queue reads the same when it starts.
        let is_pending = pending.contains(&key);
        if !is_pending && store.lock_owner(&key)?.is_none() {
            continue;
        }
        // An action file that cannot be read is being written, or its action was finished just now.
        let Ok(action) = ActionFile::read(&work) else { continue };
        let inputs = action.inputs.iter().flat_map(|(name, group)| group.iter().map(move |input| (name, input)));
        let read = inputs.map(|(name, input)| (None, BTreeMap::from([(name.clone(), input.artifact.digest())])));
        let kind = if is_pending { "stage of a batch job" } else { "running stage" };
        roots.push(Root::of(format!("{kind} {}", action.label), read.collect()));
    }
    Ok(roots)
}

impl Root {
    fn of(name: String, results: Vec<RootedResult>) -> Root {
        Root { name, results, note: None, ended: None }
    }
}

/// Returns the root of a lock file that the store has seen. If the lock file cannot be read as a whole, the root also has what
/// the lock file named when a run last used it.
fn lock_file_root(store: &Store, path: PathBuf, now: Timestamp) -> Result<Root> {
    let root = RootFile::read(&path)?;
    let name = root.lock_file.display().to_string();
    let moved = root.from_store.as_ref().map(|from_store| store.root().join(from_store));
    let is_here = root.host == host_name();
    // A path means something else on another host; what lies beside the store goes where it goes.
    let mut places = moved.into_iter().chain(is_here.then(|| root.lock_file.clone()));
    let place = places.find(|place| fs::symlink_metadata(place).is_ok());
    let day = root.seen.strftime("%Y-%m-%d");
    let (note, lock) = match place.map(|place| LockFile::read(&place)) {
        Some(Ok(lock)) => match lock.problems().first() {
            None => return Ok(Root::of(name, results([&lock]))),
            Some(warning) => {
                let problem = format!("cannot be read as a whole (line {}: {})", warning.place.line, warning.message);
                (
                    format!("{problem}; the results in its readable lines stay, and those that it named on {day}"),
                    Some(lock),
                )
            }
        },
        Some(Err(error)) => (format!("{error}; the results that it named on {day} stay"), None),
        None if !is_here => (format!("is on {}, or gone; the results that it named on {day} stay", root.host), None),
        None if root.seen < time_before(now, RETENTION_WITHOUT_FILE) => {
            let note = Some("is gone for 30 days".to_owned());
            return Ok(Root { note, ended: Some(path), ..Root::of(name, Vec::new()) });
        }
        None => (format!("is gone; the results that it named on {day} stay for 30 days after that"), None),
    };
    let noted = LockFile::parse(root.lock_file, root.text)?;
    Ok(Root { note: Some(note), ..Root::of(name, results(lock.iter().chain([&noted]))) })
}

/// Returns the results that lock files name, each once.
fn results<'a>(locks: impl IntoIterator<Item = &'a LockFile>) -> Vec<RootedResult> {
    let lines = locks.into_iter().flat_map(LockFile::all_lines);
    let results: BTreeSet<_> = lines.map(|line| (Some(line.key), line.outputs.clone())).collect();
    results.into_iter().collect()
}
