//! A batch: cells that were submitted together, as files in `batches/<id>/` of the store.
//!
//! | file | what |
//! |---|---|
//! | `batch.json` | which cell each index is, and on which terms ([`BatchFile`]) |
//! | `keys` | the same for the script: a key a line |
//! | `script` | what `sbatch` was given |
//! | `job` | the job's id, written by `sbatch` itself; empty until then |
//! | `<index>.events` | the messages of the task, as a child process sends them to its executor |
//! | `<index>.out` | what the task and Slurm wrote before and beside the stage's log |
//! | `ended` | a JSON line for each task that a run saw the end of |
//! | `over` | empty: nothing more comes of any task |
//!
//! The first three are on the disk for good before `sbatch` is called.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use cwm_contract::Label;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::binary;
use super::events_file::EventsFile;
use super::isolated::RemoteStoreConfig;
use cwm_action::{ActionFailureKind, ActionMessage, AttemptOptions, user};
use cwm_core::{Digest, DurableFs, Error, Key, read_regular_file};
use cwm_store::{Machine, Store};

/// Version of [`BatchFile`].
const BATCH_FORMAT: u32 = 1;

/// Days after which a batch counts as ended.
const OLD: i64 = 30;

/// `batch.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BatchFile {
    /// [`BATCH_FORMAT`].
    pub format: u32,
    /// Its name, which the comment of its job contains.
    pub id: String,
    /// When it was made.
    pub made: Timestamp,
    /// The command that made it.
    pub by: String,
    /// The host that it ran on.
    pub host: String,
    /// The user who ran it.
    pub user: String,
    /// The program that its jobs run, in `bin/`.
    pub binary: Digest,
    /// The options of `sbatch`.
    pub options: Vec<String>,
    /// Its cells by their index; none if its job is a run itself.
    pub tasks: Vec<BatchTask>,
    /// The pipeline of a run that is a job itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_of: Option<PathBuf>,
    /// The remotes that its jobs exchange content with, if they do not share the run's store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_store: Option<RemoteStoreConfig>,
}

/// A cell of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchTask {
    /// Its key.
    pub key: Key,
    /// The cell.
    pub label: Label,
    /// True if it is done even if it is recorded.
    pub force: bool,
    /// The options of the attempt.
    pub terms: AttemptOptions,
}

/// A line of `ended`.
#[derive(Debug, Serialize, Deserialize)]
struct Ended {
    task: u32,
    how: String,
}

/// A batch that is on the disk.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Its folder.
    pub folder: PathBuf,
    /// The content of its `batch.json`.
    pub file: BatchFile,
}

/// `batches`.
pub fn folder(store: &Store) -> PathBuf {
    store.root().join("batches")
}

/// The content of a new batch, but for the options of `sbatch`, which name its folder.
pub fn new(binary: Digest, tasks: Vec<BatchTask>, by: &str, run_of: Option<PathBuf>) -> BatchFile {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let made = Timestamp::now();
    let host = Machine::here().host;
    let unique = format!("{host} {} {} {}", std::process::id(), made, COUNT.fetch_add(1, Ordering::Relaxed));
    let random = Digest::of(unique.as_bytes()).to_string();
    let id = format!("{}-{}", made.strftime("%Y%m%dT%H%M%S"), &random[..16]);
    BatchFile {
        format: BATCH_FORMAT,
        id,
        made,
        by: by.to_owned(),
        host,
        user: user(),
        binary,
        options: Vec::new(),
        tasks,
        run_of,
        remote_store: None,
    }
}

impl Batch {
    /// Puts a batch on the disk for good, whole or not at all.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn write(store: &Store, file: BatchFile, script: &str) -> Result<Batch, Error> {
        let (disk, batches) = (DurableFs::default(), folder(store));
        disk.make_folders(&batches)?;
        let aside = disk.temporary_folder(&batches, ".new-")?;
        let json = serde_json::to_vec_pretty(&file).map_err(|error| Error::internal(error.to_string()))?;
        let keys: String = file.tasks.iter().map(|task| format!("{}\n", task.key)).collect();
        for (name, bytes) in [("batch.json", &json[..]), ("keys", keys.as_bytes()), ("script", script.as_bytes())] {
            disk.replace(&aside.path().join(name), bytes, false)?;
        }
        disk.touch(&aside.path().join("job"))?;
        disk.sync_folder(aside.path())?;
        let place = batches.join(&file.id);
        aside.persist(&place)?;
        disk.sync_folder(&batches)?;
        disk.sync_folder(store.root())?;
        Ok(Batch { folder: place, file })
    }

    /// The batch of this name.
    ///
    /// # Errors
    /// It is not there, or is of a newer version or damaged.
    pub fn read(store: &Store, id: &str) -> Result<Batch, Error> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if id.is_empty() || !id.chars().all(is_name) {
            return Err(Error::usage(format!("`{id}` is no name of a batch")));
        }
        let folder = folder(store).join(id);
        let path = folder.join("batch.json");
        let bytes = read_regular_file(&path).map_err(|error| Error::io("read the batch", &path, error))?;
        let damaged = |error: String| Error::store(format!("{} is damaged: {error}", path.display()));
        let file: BatchFile = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        if file.format > BATCH_FORMAT {
            let words = format!("{} has format {}, this cwm reads {BATCH_FORMAT}", path.display(), file.format);
            return Err(Error::store(words).hint("use the cwm that made it, or a newer one"));
        }
        if file.id != id {
            return Err(damaged(format!("it is the batch {}", file.id)));
        }
        Ok(Batch { folder, file })
    }

    /// The file of the messages of the task of this index.
    pub fn events(&self, index: u32) -> PathBuf {
        self.folder.join(format!("{index}.events"))
    }

    /// The file of what it and Slurm wrote beside the stage's log.
    pub fn out(&self, index: u32) -> PathBuf {
        self.folder.join(format!("{index}.out"))
    }

    /// The job's id, if `sbatch` wrote one.
    pub fn job(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.folder.join("job")).ok()?;
        // `12;cluster` where there are several.
        let id = text.lines().next()?.split(';').next()?.trim();
        (!id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())).then(|| id.to_owned())
    }

    /// The file into which `sbatch` writes the id.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn job_file(&self) -> Result<File, Error> {
        let path = self.folder.join("job");
        let file = File::options().create(true).write(true).truncate(true).open(&path);
        file.map_err(|error| Error::io("write", &path, error))
    }

    /// Notes a job that was found by its comment.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn note_job(&self, job: &str) -> Result<(), Error> {
        Ok(DurableFs::default().replace(&self.folder.join("job"), format!("{job}\n").as_bytes(), true)?)
    }

    /// Notes that a task has ended, if the folder can be written.
    pub fn note_end(&self, index: u32, how: &str) {
        let line = serde_json::to_string(&Ended { task: index, how: how.to_owned() }).unwrap_or_default();
        let file = File::options().create(true).append(true).open(self.folder.join("ended"));
        let _ = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    }

    /// The ends of tasks, as far as a run saw them.
    pub fn ends(&self) -> HashMap<u32, String> {
        let text = std::fs::read_to_string(self.folder.join("ended")).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Ended>(line).ok());
        lines.map(|ended| (ended.task, ended.how)).collect()
    }

    /// True if a task has ended, as far as its files say. One that was stopped may start again.
    pub fn has_ended(&self, index: u32, ends: &HashMap<u32, String>) -> bool {
        if ends.contains_key(&index) {
            return true;
        }
        let last = EventsFile::at(self.events(index))
            .read()
            .into_iter()
            .rev()
            .find(|line| !matches!(line, ActionMessage::Event(_)));
        match last {
            Some(ActionMessage::Outcome(Err(failure))) => failure.kind != ActionFailureKind::Cancelled,
            Some(ActionMessage::Outcome(Ok(_))) => true,
            _ => false,
        }
    }

    /// Marks the batch as over if all of its tasks have ended, so that nobody reads it again.
    pub fn close_if_over(&self) {
        let ends = self.ends();
        if (0..self.file.tasks.len() as u32).all(|index| ends.contains_key(&index)) {
            let _ = DurableFs::default().touch(&self.folder.join(OVER));
        }
    }

    fn is_old(&self) -> bool {
        Timestamp::now().as_second() - self.file.made.as_second() > OLD * 86_400
    }
}

/// The name of the file that marks a batch as over.
const OVER: &str = "over";

/// The batches of a store that are not over, the oldest first. A folder that is no batch is left out.
pub fn open(store: &Store) -> Vec<Batch> {
    let names = cwm_store::list_folder(&folder(store)).unwrap_or_default();
    let open = names.into_iter().filter(|(_, path)| !path.join(OVER).exists());
    open.filter_map(|(name, _)| Batch::read(store, &name).ok()).collect()
}

/// The keys that jobs are making or will make, as far as is known without asking Slurm: `gc` keeps what they read.
pub fn pending_keys(store: &Store) -> HashSet<Key> {
    let mut awaited = HashSet::new();
    for batch in open(store).into_iter().filter(|batch| !batch.is_old()) {
        let ends = batch.ends();
        let open = (0..).zip(&batch.file.tasks).filter(|(index, _)| !batch.has_ended(*index, &ends));
        awaited.extend(open.map(|(_, task)| task.key));
    }
    awaited
}

/// Folders of batches of which nothing more comes, that were made before `time`; and what never became one.
pub fn ended_batches(store: &Store, time: Timestamp) -> Vec<PathBuf> {
    let mut ended = Vec::new();
    for (name, path) in cwm_store::list_folder(&folder(store)).unwrap_or_default() {
        let is_over = match Batch::read(store, &name) {
            Ok(batch) if batch.file.made >= time => false,
            Ok(batch) if batch.file.run_of.is_some() => batch.is_old() || path.join(OVER).exists(),
            Ok(batch) => {
                let ends = batch.ends();
                batch.is_old() || (0..batch.file.tasks.len() as u32).all(|index| batch.has_ended(index, &ends))
            }
            Err(_) => is_older(&path, time),
        };
        ended.extend(is_over.then_some(path));
    }
    ended
}

/// Copies of programs that no batch but those in `going` runs.
pub fn unused_job_binaries(store: &Store, going: &[PathBuf], time: Timestamp) -> Vec<PathBuf> {
    let staying = open(store).into_iter().filter(|batch| !going.contains(&batch.folder));
    let used: BTreeSet<String> = staying.map(|batch| batch.file.binary.to_string()).collect();
    let copies = cwm_store::list_folder(&binary::folder(store)).unwrap_or_default();
    // A young one may be of a batch that is not written yet.
    let unused = copies.into_iter().filter(|(name, path)| !used.contains(name) && is_older(path, time));
    unused.map(|(_, path)| path).collect()
}

fn is_older(path: &Path, time: Timestamp) -> bool {
    let changed = std::fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    changed.is_ok_and(|changed| Timestamp::try_from(changed).is_ok_and(|changed| changed < time))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(digit: char) -> Key {
        digit.to_string().repeat(64).parse().unwrap()
    }

    fn written(store: &Store) -> Batch {
        let task = |digit| BatchTask {
            key: key(digit),
            label: Label::stage("train"),
            force: false,
            terms: AttemptOptions::default(),
        };
        let file = new(Digest::of(b"program"), vec![task('a'), task('b')], "cwm run", None);
        Batch::write(store, file, "#!/bin/sh\n").unwrap()
    }

    #[test]
    fn a_batch_is_awaited_until_each_of_its_tasks_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path()).unwrap();
        store.create().unwrap();
        let batch = written(&store);
        assert_eq!(
            std::fs::read_to_string(batch.folder.join("keys")).unwrap(),
            format!("{}\n{}\n", key('a'), key('b'))
        );
        assert_eq!(pending_keys(&store), HashSet::from([key('a'), key('b')]));
        assert_eq!(batch.job(), None);
        std::fs::write(batch.folder.join("job"), "17;cluster\n").unwrap();
        assert_eq!(batch.job().as_deref(), Some("17"));

        // Cancelled, and perhaps started again; then it has its result.
        let cancelled = "\"start\"\n{\"outcome\":{\"Err\":{\"kind\":\"cancelled\",\"message\":\"\",\"hint\":null}}}\n";
        std::fs::write(batch.events(0), cancelled).unwrap();
        assert!(!batch.has_ended(0, &batch.ends()));
        std::fs::write(batch.events(0), format!("{cancelled}\"start\"\n{{\"outcome\":{{\"Ok\":\"cache_hit\"}}}}\n"))
            .unwrap();
        assert_eq!(pending_keys(&store), HashSet::from([key('b')]));

        let later = Timestamp::now() + jiff::SignedDuration::from_hours(1);
        let program = binary::path(&store, &batch.file.binary);
        std::fs::create_dir_all(binary::folder(&store)).unwrap();
        std::fs::write(&program, "").unwrap();
        assert!(ended_batches(&store, later).is_empty() && unused_job_binaries(&store, &[], later).is_empty());
        batch.note_end(1, "its job 17_1 was cancelled");
        assert!(pending_keys(&store).is_empty());
        assert_eq!(ended_batches(&store, later), std::slice::from_ref(&batch.folder));
        assert!(ended_batches(&store, batch.file.made).is_empty(), "not yet");
        assert_eq!(unused_job_binaries(&store, std::slice::from_ref(&batch.folder), later), [program]);
        // One that everybody has seen the end of is not read again.
        batch.note_end(0, "done");
        batch.close_if_over();
        assert!(open(&store).is_empty());
        assert_eq!(ended_batches(&store, later), [batch.folder]);
    }

    #[test]
    fn a_folder_that_is_no_batch_is_an_error_and_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path()).unwrap();
        store.create().unwrap();
        let batch = written(&store);
        for (name, text) in [("batch.json", "{"), ("batch.json", "[]")] {
            std::fs::write(batch.folder.join(name), text).unwrap();
            assert!(Batch::read(&store, &batch.file.id).unwrap_err().message.contains("is damaged"));
            assert!(pending_keys(&store).is_empty() && open(&store).is_empty());
        }
        for name in ["", "../work", "a/b", ".new-x"] {
            assert!(Batch::read(&store, name).unwrap_err().message.contains("is no name of a batch"));
        }
    }
}
