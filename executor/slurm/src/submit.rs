//! Submitting: what no living job is making already, in arrays, in few calls.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use super::batch::{self, Batch, BatchTask};
use super::binary;
use super::cluster::{NewTask, Told};
use super::events_file::EventsFile;
use super::flight::Flight;
use super::program::{self, Trouble};
use super::request::{Request, array, array_script};
use super::watch::{Watched, Watcher};
use cwm_core::digest::Key;
use cwm_core::error::Error;

/// How long nothing more is submitted when Slurm says that there are too many jobs.
const FULL: Duration = Duration::from_secs(60);

/// What to do about a refusal.
const REFUSED: &str = "look at [slurm] in cwm.toml and at `needs:` of the stage; `sinfo` shows what partitions offer";

impl Watcher<'_> {
    /// Takes over what other runs submitted, and submits the rest. Whoever submits holds a lock of the store, so that two
    /// runs never submit the same; it is handed on to `sbatch`, so that it also holds while that outlives this process.
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
        self.take_over();
        if self.waiting.is_empty() {
            return;
        }
        let prepared = self.array_size().and_then(|size| self.binary().map(|binary| (size, binary)));
        let (size, binary) = match prepared {
            Ok(prepared) => prepared,
            Err(Failed::Slurm(Trouble::Unreachable(words))) => return self.is_silent(&Trouble::Unreachable(words)),
            Err(failed) => {
                let (reason, hint) = failed.in_words();
                let tasks = std::mem::take(&mut self.waiting);
                return self.refuse(tasks, &reason, &hint);
            }
        };
        for (request, tasks) in grouped(std::mem::take(&mut self.waiting)) {
            for tasks in tasks.chunks(size) {
                self.submit_array(&request, tasks, &binary, &lock);
            }
        }
        self.look_soon();
    }

    /// The jobs of which another run says that they make what waits here.
    fn take_over(&mut self) {
        let wanted: HashSet<Key> = self.waiting.iter().map(|task| task.key).collect();
        let mut living: HashMap<(Key, bool), (String, u32, bool)> = HashMap::new();
        let mut batches: HashMap<String, Batch> = HashMap::new();
        for batch in batch::open(&self.store) {
            let ends = batch.ends();
            for (index, task) in (0..).zip(&batch.file.tasks) {
                if wanted.contains(&task.key) && !batch.is_settled(index, &ends) {
                    living.insert((task.key, task.terms.check), (batch.file.id.clone(), index, task.force));
                    batches.entry(batch.file.id.clone()).or_insert_with(|| batch.clone());
                }
            }
        }
        let mut found: HashMap<String, (Vec<usize>, String)> = HashMap::new();
        for task in std::mem::take(&mut self.waiting) {
            match living.get(&(task.key, task.terms.check)) {
                Some((id, index, force)) if *force || !task.force => {
                    let (cells, asks) = found.entry(id.clone()).or_default();
                    cells.push(task.cell);
                    *asks = task.request.in_words();
                    let events = EventsFile::at(batches[id].events(*index));
                    self.flights.push(Flight::new(task, id.clone(), *index, events, true));
                }
                _ => self.waiting.push(task),
            }
        }
        for (id, (cells, asks)) in found {
            let batch = batches.remove(&id).unwrap_or_else(|| unreachable!("it was found in this batch"));
            let job = batch.job();
            if let Some(job) = job.clone() {
                (self.tell)(Told::Submitted { job, cells, asks, found: true });
            }
            self.batches.entry(id).or_insert(Watched { batch, job, is_absent: false });
            self.look_soon();
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
        request: &Request,
        tasks: &[NewTask],
        binary: &cwm_core::digest::Digest,
        lock: &std::fs::File,
    ) {
        let of = |task: &NewTask| BatchTask {
            key: task.key,
            label: task.label.clone(),
            force: task.force,
            terms: task.terms.clone(),
        };
        let mut file = batch::new(*binary, tasks.iter().map(of).collect(), &self.command, None);
        file.away = self.settings.away.clone();
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
            self.flights.push(Flight::new(task.clone(), id.clone(), index, events, false));
        }
        let submitted = sbatch(&batch, lock);
        self.batches.insert(id.clone(), Watched { batch, job: None, is_absent: false });
        self.submitted(&id, submitted, false);
    }

    /// What came of `sbatch`.
    fn submitted(&mut self, id: &str, submitted: Result<(), Failed>, found: bool) {
        let Some(watched) = self.batches.get_mut(id) else { return };
        let failed = match submitted {
            Ok(()) => {
                watched.job = watched.batch.job();
                watched.is_absent = false;
                let job = watched.job.clone();
                self.answers();
                let flights: Vec<&Flight> = self.flights.iter().filter(|flight| flight.batch == id).collect();
                let asks = flights.first().map(|flight| flight.task.request.in_words()).unwrap_or_default();
                let cells = flights.iter().map(|flight| flight.task.cell).collect();
                if let Some(job) = job {
                    (self.tell)(Told::Submitted { job, cells, asks, found });
                }
                return;
            }
            Err(failed) => failed,
        };
        match failed {
            // Whether it was taken cannot be told: the queue is asked for its comment first.
            Failed::Slurm(Trouble::Unreachable(words)) => {
                watched.is_absent = false;
                self.is_silent(&Trouble::Unreachable(words));
            }
            Failed::Slurm(Trouble::Full(words)) => self.is_full(id, &words),
            failed => {
                let (reason, hint) = failed.in_words();
                let tasks = self.give_up(id, &reason);
                self.refuse(tasks, &reason, &hint);
            }
        }
    }

    /// There are too many jobs: fewer at a time, and later. If this run has none, waiting for them to end is in vain.
    fn is_full(&mut self, id: &str, words: &str) {
        let tasks = self.give_up(id, words);
        let size = self.array_size.unwrap_or(1);
        if tasks.len() > 1 {
            self.array_size = Some(size.min(tasks.len()).div_ceil(2));
            self.waiting.extend(tasks);
        } else if self.flights.is_empty() && self.waiting.is_empty() {
            let hint =
                "`max_jobs` under [slurm] in cwm.toml keeps a run below such a limit; `squeue --me` shows your jobs";
            self.refuse(tasks, words, hint);
        } else {
            self.waiting.extend(tasks);
            self.next_submission = Instant::now() + FULL;
        }
    }

    /// Lets go of a batch that Slurm did not take; its cells.
    fn give_up(&mut self, id: &str, how: &str) -> Vec<NewTask> {
        let Some(watched) = self.batches.remove(id) else { return Vec::new() };
        (0..watched.batch.file.tasks.len() as u32).for_each(|index| watched.batch.note_end(index, how));
        let (its, others) = std::mem::take(&mut self.flights).into_iter().partition(|flight| flight.batch == id);
        self.flights = others;
        let its: Vec<Flight> = its;
        its.into_iter().map(|flight| flight.task).collect()
    }

    /// How many tasks an array may have.
    fn array_size(&mut self) -> Result<usize, Failed> {
        if let Some(size) = self.array_size {
            return Ok(size);
        }
        let config = program::ask("scontrol", &["show", "config"]).map_err(Failed::Slurm)?;
        let limit =
            config.lines().find_map(|line| line.split_once('=').filter(|(name, _)| name.trim() == "MaxArraySize"));
        let limit = limit.and_then(|(_, value)| value.trim().parse::<usize>().ok());
        // Slurm's own default, where it does not say.
        let limit = limit.unwrap_or(1001);
        if limit == 0 {
            let words = "this Slurm has arrays of jobs switched off (MaxArraySize is 0)".to_owned();
            return Err(Failed::Slurm(Trouble::Refused(words)));
        }
        let size = self.settings.site.array_size.map_or(limit, |size| limit.min(size as usize));
        self.array_size = Some(size);
        Ok(size)
    }

    fn binary(&mut self) -> Result<cwm_core::digest::Digest, Failed> {
        if let Some(binary) = self.binary {
            return Ok(binary);
        }
        let kept = binary::keep(&self.store).map_err(Failed::Store)?;
        self.binary = Some(kept);
        Ok(kept)
    }
}

/// Why something was not submitted.
pub(super) enum Failed {
    /// Slurm.
    Slurm(Trouble),
    /// The store.
    Store(Error),
}

impl Failed {
    fn in_words(&self) -> (String, String) {
        match self {
            Failed::Slurm(Trouble::NotThere(program)) => (
                Trouble::NotThere(program).to_string(),
                "run on a node from which jobs are submitted, or with `--executor local`".to_owned(),
            ),
            Failed::Slurm(trouble) => (format!("Slurm does not take its job: {trouble}"), REFUSED.to_owned()),
            Failed::Store(error) => (error.message.clone(), error.hints.first().cloned().unwrap_or_default()),
        }
    }
}

/// Calls `sbatch` for a batch that is on the disk.
pub(super) fn sbatch(batch: &Batch, lock: &std::fs::File) -> Result<(), Failed> {
    let job = batch.job_file().map_err(Failed::Store)?;
    let held =
        lock.try_clone().map_err(|error| Failed::Store(Error::system(format!("cannot share a lock: {error}"))))?;
    program::submit(&batch.file.options, job, held).map_err(Failed::Slurm)
}

/// Cells that may share an array, in the order in which they came.
fn grouped(tasks: Vec<NewTask>) -> Vec<(Request, Vec<NewTask>)> {
    let mut groups: Vec<(Request, Vec<NewTask>)> = Vec::new();
    for task in tasks {
        match groups.iter_mut().find(|(request, _)| *request == task.request) {
            Some((_, group)) => group.push(task),
            None => groups.push((task.request.clone(), vec![task])),
        }
    }
    groups
}
