//! A batch: cells that were submitted together, as files in `batches/<id>/` of the store.
//!
//! | file | what |
//! |---|---|
//! | `batch.json` | which cell each index is, and with which options ([`BatchFile`]) |
//! | `keys` | the same for the script: a key a line |
//! | `script` | what `sbatch` was given |
//! | `job` | the job's id, written by `sbatch` itself; empty until then |
//! | `<index>.events` | the messages of the task, as a child process sends them to its executor |
//! | `<index>.out` | what the task and Slurm wrote, apart from the stage's log |
//! | `ended` | a JSON line for each task that a run saw the end of |
//! | `over` | empty: nothing more comes of any task |
//!
//! The first three are on the disk for good before `sbatch` is called.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use cwm_contract::Label;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::binary;
use super::isolated::RemoteStoreConfig;
use super::messages_file::new_messages;
use super::request::{JobScript, JobTemplate, ResourceRequest};
use super::settings::JobSettings;
use super::slurm_cli::{self, SlurmError};
use cwm_action::{ActionFailureKind, ActionMessage, AttemptOptions, user};
use cwm_core::files::{Tail, from_json};
use cwm_core::{Digest, DurableFs, Error, FileError, Key, read_regular_file};
use cwm_store::{Store, host_name, list_folder};

/// Version of [`BatchFile`].
const BATCH_FORMAT: u32 = 1;

/// Days after which a batch counts as ended.
const MAX_AGE_DAYS: i64 = 30;

/// `batch.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BatchFile {
    /// [`BATCH_FORMAT`].
    pub format: u32,
    /// Its name, which the comment of its job contains.
    pub id: String,
    /// When it was made.
    #[serde(alias = "made")]
    pub created_at: Timestamp,
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
    #[serde(alias = "terms")]
    pub options: AttemptOptions,
}

/// A line of `ended`.
#[derive(Debug, Serialize, Deserialize)]
struct EndedTask {
    task: u32,
}

/// A batch that is on the disk.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Its folder.
    pub folder: PathBuf,
    /// The content of its `batch.json`.
    pub file: BatchFile,
}

/// Returns the folder `batches` of a store.
pub fn folder(store: &Store) -> PathBuf {
    store.root().join("batches")
}

/// The work of a batch's job.
pub enum BatchWork<'a> {
    /// Cells with this request, as an array.
    Cells(&'a ResourceRequest, Vec<BatchTask>),
    /// A run of a pipeline, in a folder, with the arguments of its command.
    Run { pipeline: &'a Path, folder: &'a Path, arguments: &'a [String] },
}

impl Batch {
    /// Puts a new batch of the command `by` on the disk for good, whole or not at all.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn create(store: &Store, settings: &JobSettings, by: &str, work: BatchWork<'_>) -> Result<Batch, Error> {
        let binary = binary::store_binary(store)?;
        let (created_at, host) = (Timestamp::now(), host_name());
        let unique = Digest::of(format!("{host} {} {created_at}", std::process::id()).as_bytes()).to_string();
        let id = format!("{}-{}", created_at.strftime("%Y%m%dT%H%M%S"), &unique[..16]);
        let place = folder(store).join(&id);
        let program = binary::path(store, &binary);
        let template = JobTemplate { settings, batch: &id, folder: &place, root: store.root(), binary: &program };
        let (JobScript { options, script }, tasks, run_of) = match work {
            BatchWork::Cells(request, tasks) => (template.array(request, tasks.len()), tasks, None),
            BatchWork::Run { pipeline, folder, arguments } => {
                (template.run(folder, arguments), Vec::new(), Some(pipeline.to_owned()))
            }
        };
        let (format, user, by) = (BATCH_FORMAT, user(), by.to_owned());
        let remote_store = settings.remote_store.clone();
        let file = BatchFile { format, id, created_at, by, host, user, binary, options, tasks, run_of, remote_store };
        let json = serde_json::to_vec_pretty(&file).map_err(|error| Error::internal(error.to_string()))?;
        let keys: String = file.tasks.iter().map(|task| format!("{}\n", task.key)).collect();

        let (disk, batches) = (DurableFs::default(), folder(store));
        disk.make_folders(&batches)?;
        let staging = disk.temporary_folder(&batches, ".new-")?;
        for (name, bytes) in [("batch.json", &json[..]), ("keys", keys.as_bytes()), ("script", script.as_bytes())] {
            disk.replace(&staging.path().join(name), bytes, false)?;
        }
        disk.write_marker(&staging.path().join("job"), "")?;
        disk.sync(staging.path())?;
        staging.persist(&place)?;
        disk.sync(&batches)?;
        disk.sync(store.root())?;
        Ok(Batch { folder: place, file })
    }

    /// Calls `sbatch`, which keeps `lock` until it has ended.
    ///
    /// # Errors
    /// The job was refused, or it is unknown if it was.
    pub fn submit(&self, lock: &File) -> Result<(), SlurmError> {
        let path = self.folder.join("job");
        let job = File::create(&path).map_err(|error| Error::io("write", &path, error))?;
        slurm_cli::submit(&self.file.options, job, lock)
    }

    /// Removes a batch that Slurm did not take.
    pub fn remove(&self) {
        // If it stays, the next run that needs a cell of it finds no job for it, either.
        let _ = std::fs::remove_dir_all(&self.folder);
    }

    /// Returns the batch of this name.
    ///
    /// # Errors
    /// It is not there, or is of a newer version or damaged.
    pub fn read(store: &Store, id: &str) -> Result<Batch, Error> {
        let folder = folder(store).join(id);
        let path = folder.join("batch.json");
        let bytes = read_regular_file(&path).map_err(|error| Error::io("read the batch", &path, error))?;
        let file = from_json(&path, &bytes, "a batch", BATCH_FORMAT, |file: &BatchFile| file.format)?;
        if file.id != id {
            return Err(FileError::damaged(&path, format!("it is the batch {}", file.id)).into());
        }
        Ok(Batch { folder, file })
    }

    /// Returns the file of the messages of the task of this index.
    pub fn messages_path(&self, index: u32) -> PathBuf {
        self.folder.join(format!("{index}.events"))
    }

    /// Returns the file of what it and Slurm wrote, apart from the stage's log.
    pub fn out(&self, index: u32) -> PathBuf {
        self.folder.join(format!("{index}.out"))
    }

    /// Returns the job's id, if `sbatch` wrote one.
    pub fn job(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.folder.join("job")).ok()?;
        // `12;cluster` where there are several.
        let id = text.lines().next()?.split(';').next()?.trim();
        (!id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())).then(|| id.to_owned())
    }

    /// Notes that a task has ended, if the folder can be written.
    pub fn record_end(&self, index: u32) {
        let line = serde_json::to_string(&EndedTask { task: index }).unwrap_or_default();
        let file = File::options().create(true).append(true).open(self.folder.join("ended"));
        let _ = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    }

    /// The indices of the tasks whose end a run saw.
    fn ends(&self) -> HashSet<u32> {
        let text = std::fs::read_to_string(self.folder.join("ended")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str::<EndedTask>(line).ok()).map(|ended| ended.task).collect()
    }

    /// Returns the tasks with their indices that are wanted and have not ended, as far as the batch's files show. One that was
    /// stopped may start again.
    pub fn open_tasks(&self, is_wanted: impl Fn(&BatchTask) -> bool) -> impl Iterator<Item = (u32, &BatchTask)> {
        let ends = self.ends();
        let wanted = (0..).zip(&self.file.tasks).filter(move |(_, task)| is_wanted(task));
        wanted.filter(move |(index, _)| !ends.contains(index) && !self.reported_end(*index))
    }

    fn reported_end(&self, index: u32) -> bool {
        let messages = new_messages(&mut Tail::of(self.messages_path(index)));
        match messages.iter().rfind(|message| !matches!(message, ActionMessage::Event(_))) {
            Some(ActionMessage::Outcome(Err(failure))) => failure.kind != ActionFailureKind::Cancelled,
            Some(ActionMessage::Outcome(Ok(_))) => true,
            _ => false,
        }
    }

    /// Marks the batch as over if a run saw the end of all tasks, so that nobody reads it again.
    pub fn close_if_over(&self) {
        if self.ends().len() >= self.file.tasks.len() {
            let _ = DurableFs::default().write_marker(&self.folder.join(OVER), "");
        }
    }

    fn is_old(&self) -> bool {
        Timestamp::now().as_second() - self.file.created_at.as_second() > MAX_AGE_DAYS * 86_400
    }
}

/// The name of the file that marks a batch as over.
const OVER: &str = "over";

/// Returns the batches of a store that are not over, the oldest first. A folder that is no batch is left out.
pub fn open(store: &Store) -> Vec<Batch> {
    let names = list_folder(&folder(store)).unwrap_or_default();
    let open = names.into_iter().filter(|(_, path)| !path.join(OVER).exists());
    open.filter_map(|(name, _)| Batch::read(store, &name).ok()).collect()
}

/// Returns the keys that jobs are making or will make, as far as is known without a query of Slurm: `gc` keeps what they read.
pub fn pending_keys(store: &Store) -> HashSet<Key> {
    let batches: Vec<Batch> = open(store).into_iter().filter(|batch| !batch.is_old()).collect();
    batches.iter().flat_map(|batch| batch.open_tasks(|_| true)).map(|(_, task)| task.key).collect()
}

/// Returns the folders of ended batches that were made before `time`, and the copies of programs that no other batch runs.
pub fn garbage(store: &Store, time: Timestamp) -> Vec<PathBuf> {
    let mut garbage = ended_batches(store, time);
    let binaries = unused_job_binaries(store, &garbage, time);
    garbage.extend(binaries);
    garbage
}

/// Folders of batches that were made before `time` and whose tasks have ended; and folders that never became a batch.
fn ended_batches(store: &Store, time: Timestamp) -> Vec<PathBuf> {
    let folders = list_folder(&folder(store)).unwrap_or_default().into_iter();
    let ended = folders.filter(|(name, path)| match Batch::read(store, name) {
        Ok(batch) if batch.file.created_at >= time => false,
        Ok(batch) if batch.is_old() => true,
        Ok(batch) if batch.file.run_of.is_some() => path.join(OVER).exists(),
        Ok(batch) => batch.open_tasks(|_| true).next().is_none(),
        Err(_) => is_older(path, time),
    });
    ended.map(|(_, path)| path).collect()
}

/// Copies of programs that no batch but those in `ended` runs.
fn unused_job_binaries(store: &Store, ended: &[PathBuf], time: Timestamp) -> Vec<PathBuf> {
    let others = open(store).into_iter().filter(|batch| !ended.contains(&batch.folder));
    let used: HashSet<String> = others.map(|batch| batch.file.binary.to_string()).collect();
    let copies = list_folder(&binary::folder(store)).unwrap_or_default();
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
    use cwm_contract::Needs;

    use super::*;

    fn key(digit: char) -> Key {
        digit.to_string().repeat(64).parse().unwrap()
    }

    fn written(store: &Store) -> Batch {
        let task = |digit| BatchTask {
            key: key(digit),
            label: Label::stage("train"),
            force: false,
            options: AttemptOptions::default(),
        };
        let settings = JobSettings::default();
        let request = ResourceRequest::of("train", &Needs::default(), None, &settings);
        let work = BatchWork::Cells(&request, vec![task('a'), task('b')]);
        Batch::create(store, &settings, "cwm run", work).unwrap()
    }

    #[test]
    fn a_batch_is_open_until_each_of_its_tasks_has_ended() {
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
        std::fs::write(batch.messages_path(0), cancelled).unwrap();
        assert_eq!(batch.open_tasks(|_| true).count(), 2);
        std::fs::write(
            batch.messages_path(0),
            format!("{cancelled}\"start\"\n{{\"outcome\":{{\"Ok\":\"cache_hit\"}}}}\n"),
        )
        .unwrap();
        assert_eq!(pending_keys(&store), HashSet::from([key('b')]));

        let later = Timestamp::now() + jiff::SignedDuration::from_hours(1);
        let program = binary::path(&store, &batch.file.binary);
        assert!(ended_batches(&store, later).is_empty() && unused_job_binaries(&store, &[], later).is_empty());
        batch.record_end(1);
        assert!(pending_keys(&store).is_empty());
        assert_eq!(ended_batches(&store, later), std::slice::from_ref(&batch.folder));
        assert!(ended_batches(&store, batch.file.created_at).is_empty(), "not yet");
        assert_eq!(unused_job_binaries(&store, std::slice::from_ref(&batch.folder), later), [program]);
        // One that everybody has seen the end of is not read again.
        batch.record_end(0);
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
            assert!(Batch::read(&store, name).is_err(), "{name}");
        }
        // One that is written, and has not got its name yet.
        std::fs::rename(written(&store).folder, super::folder(&store).join(".new-x")).unwrap();
        assert!(Batch::read(&store, ".new-x").unwrap_err().message.contains("it is the batch "));
    }
}
