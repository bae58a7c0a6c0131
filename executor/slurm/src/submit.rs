//! Submits what no live job is making already, as arrays, in few calls.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use super::batch::{self, Batch};
use super::binary;
use super::events_file::EventsFile;
use super::request::{ResourceRequest, array, array_script};
use super::slurm_cli::{self, SlurmCliError};
use super::submitted_task::SubmittedTask;
use super::task::{JobUpdate, TaskSpec};
use super::watch::{WatchedBatch, Watcher};
use cwm_core::{Error, Key};

/// The hint about a refusal.
const REFUSED: &str = "look at [slurm] in cwm.toml and at `needs:` of the stage; `sinfo` shows what partitions offer";

impl Watcher<'_> {
    /// Adopts what other runs submitted, and submits the rest. A lock of the store keeps two runs from submitting the same task;
    /// `sbatch` inherits it, so that it holds also if `sbatch` outlives this process.
    pub fn submit(&mut self) {
        let lock = match self.store.lock_batches() {
            Ok(lock) => lock,
            Err(error) => {
                let error = Error::from(error);
                let hint = error.hints.first().cloned().unwrap_or_default();
                let tasks = std::mem::take(&mut self.waiting);
                return self.refuse(tasks, &error.message, &hint);
            }
        };
        self.submit_absent(&lock);
        self.adopt_live_tasks();
        if self.waiting.is_empty() {
            return;
        }
        let prepared = self.array_size().and_then(|size| self.binary().map(|binary| (size, binary)));
        let (size, binary) = match prepared {
            Ok(prepared) => prepared,
            Err(SubmitError::Slurm(SlurmCliError::Unreachable(words))) => {
                return self.note_outage(&SlurmCliError::Unreachable(words));
            }
            Err(failed) => {
                let (reason, hint) = failed.reason_and_hint();
                let tasks = std::mem::take(&mut self.waiting);
                return self.refuse(tasks, &reason, &hint);
            }
        };
        for (request, tasks) in grouped(std::mem::take(&mut self.waiting)) {
            for tasks in tasks.chunks(size) {
                self.submit_array(&request, tasks, &binary, &lock);
            }
        }
        self.poll_soon();
    }

    /// Watches the tasks that other runs submitted for what is to be submitted here.
    fn adopt_live_tasks(&mut self) {
        let wanted: HashSet<Key> = self.waiting.iter().map(|waiting| waiting.task.key).collect();
        let mut live: HashMap<(Key, bool), (String, u32, bool)> = HashMap::new();
        let mut batches: HashMap<String, Batch> = HashMap::new();
        for batch in batch::open(&self.store) {
            let ends = batch.ends();
            for (index, task) in (0..).zip(&batch.file.tasks) {
                if wanted.contains(&task.key) && !batch.has_ended(index, &ends) {
                    live.insert((task.key, task.terms.check), (batch.file.id.clone(), index, task.force));
                    batches.entry(batch.file.id.clone()).or_insert_with(|| batch.clone());
                }
            }
        }
        let mut adopted: HashMap<String, (Vec<usize>, String)> = HashMap::new();
        for task in std::mem::take(&mut self.waiting) {
            match live.get(&(task.task.key, task.task.terms.check)) {
                Some((id, index, force)) if *force || !task.task.force => {
                    let (cells, words) = adopted.entry(id.clone()).or_default();
                    cells.push(task.cell);
                    *words = task.request.to_string();
                    let events = EventsFile::at(batches[id].events(*index));
                    self.tasks.push(SubmittedTask::new(task, id.clone(), *index, events, true));
                }
                _ => self.waiting.push(task),
            }
        }
        for (id, (cells, request)) in adopted {
            let batch = batches.remove(&id).unwrap_or_else(|| unreachable!("it was found in this batch"));
            let job = batch.job();
            if let Some(job) = job.clone() {
                (self.send)(JobUpdate::Submitted { job, cells, request, adopted: true });
            }
            self.batches.entry(id).or_insert(WatchedBatch { batch, job, is_absent: false });
            self.poll_soon();
        }
    }

    /// Submits batches that are written and of which the queue knows nothing.
    fn submit_absent(&mut self, lock: &std::fs::File) {
        let absent = self.batches.iter().filter(|(_, watched)| watched.is_absent);
        let ids: Vec<String> = absent.map(|(id, _)| id.clone()).collect();
        for id in ids {
            let watched = &self.batches[&id];
            let submitted = match watched.batch.job() {
                Some(_) => Ok(()),
                None => sbatch(&watched.batch, lock),
            };
            self.submitted(&id, submitted, true);
        }
    }

    fn submit_array(
        &mut self,
        request: &ResourceRequest,
        tasks: &[TaskSpec],
        binary: &cwm_core::Digest,
        lock: &std::fs::File,
    ) {
        let in_batch = tasks.iter().map(|spec| spec.task.clone()).collect();
        let mut file = batch::new(*binary, in_batch, &self.command, None);
        file.remote_store = self.settings.remote_store.clone();
        let folder = batch::folder(&self.store).join(&file.id);
        let root = self.store.root();
        file.options = array(&self.settings, request, &file.id, tasks.len(), &folder, root);
        let program = binary::path(&self.store, binary);
        let script = array_script(&self.settings, request, &file.id, &folder, root, &program);
        let batch = match Batch::write(&self.store, file, &script) {
            Ok(batch) => batch,
            Err(error) => return self.refuse(tasks.iter().cloned(), &error.message, ""),
        };
        let id = batch.file.id.clone();
        for (index, task) in (0..).zip(tasks) {
            let events = EventsFile::at(batch.events(index));
            self.tasks.push(SubmittedTask::new(task.clone(), id.clone(), index, events, false));
        }
        let submitted = sbatch(&batch, lock);
        self.batches.insert(id.clone(), WatchedBatch { batch, job: None, is_absent: false });
        self.submitted(&id, submitted, false);
    }

    /// Takes note of what `sbatch` answered.
    fn submitted(&mut self, id: &str, submitted: Result<(), SubmitError>, adopted: bool) {
        let Some(watched) = self.batches.get_mut(id) else { return };
        let failed = match submitted {
            Ok(()) => {
                watched.job = watched.batch.job();
                watched.is_absent = false;
                let job = watched.job.clone();
                self.end_outage();
                self.limit_backoff.reset();
                let tasks: Vec<&SubmittedTask> =
                    self.tasks.iter().filter(|submitted_task| submitted_task.batch == id).collect();
                let request = tasks.first().map(|task| task.spec.request.to_string()).unwrap_or_default();
                let cells = tasks.iter().map(|submitted_task| submitted_task.spec.cell).collect();
                if let Some(job) = job {
                    (self.send)(JobUpdate::Submitted { job, cells, request, adopted });
                }
                return;
            }
            Err(failed) => failed,
        };
        match failed {
            // Nobody knows whether Slurm took it: the queue is searched for its comment first.
            SubmitError::Slurm(SlurmCliError::Unreachable(words)) => {
                watched.is_absent = false;
                self.note_outage(&SlurmCliError::Unreachable(words));
            }
            SubmitError::Slurm(SlurmCliError::LimitReached(words)) => self.limit_reached(id, &words),
            failed => {
                let (reason, hint) = failed.reason_and_hint();
                let tasks = self.drop_batch(id, &reason);
                self.refuse(tasks, &reason, &hint);
            }
        }
    }

    /// The site allows no more jobs: submits fewer at a time, and later. It fails if this run has no jobs whose end it could
    /// wait for.
    fn limit_reached(&mut self, id: &str, words: &str) {
        let tasks = self.drop_batch(id, words);
        let size = self.array_size.unwrap_or(1);
        if tasks.len() > 1 {
            self.array_size = Some(size.min(tasks.len()).div_ceil(2));
            self.waiting.extend(tasks);
        } else if self.tasks.is_empty() && self.waiting.is_empty() {
            let hint =
                "`max_jobs` under [slurm] in cwm.toml keeps a run below such a limit; `squeue --me` shows your jobs";
            self.refuse(tasks, words, hint);
        } else {
            self.waiting.extend(tasks);
            self.next_submission = Instant::now() + self.limit_backoff.pause();
        }
    }

    /// Drops a batch that Slurm refused, and returns its tasks.
    fn drop_batch(&mut self, id: &str, how: &str) -> Vec<TaskSpec> {
        let Some(watched) = self.batches.remove(id) else { return Vec::new() };
        (0..watched.batch.file.tasks.len() as u32).for_each(|index| watched.batch.note_end(index, how));
        let (its, others) =
            std::mem::take(&mut self.tasks).into_iter().partition(|submitted_task| submitted_task.batch == id);
        self.tasks = others;
        let its: Vec<SubmittedTask> = its;
        its.into_iter().map(|task| task.spec).collect()
    }

    /// The largest number of tasks of an array.
    fn array_size(&mut self) -> Result<usize, SubmitError> {
        if let Some(size) = self.array_size {
            return Ok(size);
        }
        let config = slurm_cli::query("scontrol", &["show", "config"]).map_err(SubmitError::Slurm)?;
        let limit =
            config.lines().find_map(|line| line.split_once('=').filter(|(name, _)| name.trim() == "MaxArraySize"));
        let limit = limit.and_then(|(_, value)| value.trim().parse::<usize>().ok());
        // Slurm's own default.
        let limit = limit.unwrap_or(1001);
        if limit == 0 {
            let words = "this Slurm has arrays of jobs switched off (MaxArraySize is 0)".to_owned();
            return Err(SubmitError::Slurm(SlurmCliError::Refused(words)));
        }
        let size = self.settings.site.array_size.map_or(limit, |size| limit.min(size.get()));
        self.array_size = Some(size);
        Ok(size)
    }

    fn binary(&mut self) -> Result<cwm_core::Digest, SubmitError> {
        if let Some(binary) = self.binary {
            return Ok(binary);
        }
        let kept = binary::keep(&self.store).map_err(SubmitError::Store)?;
        self.binary = Some(kept);
        Ok(kept)
    }
}

/// Why a batch was not submitted.
pub(super) enum SubmitError {
    /// Slurm refused it or did not answer.
    Slurm(SlurmCliError),
    /// The store could not be read or written.
    Store(Error),
}

impl SubmitError {
    fn reason_and_hint(&self) -> (String, String) {
        match self {
            SubmitError::Slurm(SlurmCliError::NotInstalled(program)) => (
                SlurmCliError::NotInstalled(program).to_string(),
                "run on a node from which jobs are submitted, or with `--executor local`".to_owned(),
            ),
            SubmitError::Slurm(error) => (format!("Slurm does not take its job: {error}"), REFUSED.to_owned()),
            SubmitError::Store(error) => (error.message.clone(), error.hints.first().cloned().unwrap_or_default()),
        }
    }
}

/// Calls `sbatch` for a batch that is on the disk.
pub(super) fn sbatch(batch: &Batch, lock: &std::fs::File) -> Result<(), SubmitError> {
    let job = batch.job_file().map_err(SubmitError::Store)?;
    let held =
        lock.try_clone().map_err(|error| SubmitError::Store(Error::system(format!("cannot share a lock: {error}"))))?;
    slurm_cli::submit(&batch.file.options, job, held).map_err(SubmitError::Slurm)
}

/// Cells that may share an array, in the order in which they came.
fn grouped(tasks: Vec<TaskSpec>) -> Vec<(ResourceRequest, Vec<TaskSpec>)> {
    let mut groups: Vec<(ResourceRequest, Vec<TaskSpec>)> = Vec::new();
    for task in tasks {
        match groups.iter_mut().find(|(request, _)| *request == task.request) {
            Some((_, group)) => group.push(task),
            None => groups.push((task.request.clone(), vec![task])),
        }
    }
    groups
}
