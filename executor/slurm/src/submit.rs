//! Submits what no live job is making already, as arrays, in few calls.

use std::collections::HashMap;
use std::fs::File;
use std::time::Instant;

use super::batch::{self, Batch, BatchWork};
use super::slurm_cli::{self, SlurmError, SlurmErrorKind};
use super::submitted_task::{SubmittedTask, TaskSpec};
use super::watch::{WatchedBatch, Watcher};
use cwm_core::files::Tail;
use cwm_core::{Error, Key};

impl Watcher {
    /// Adopts what other runs submitted, and submits the rest. A lock of the store keeps two runs from submitting the same task;
    /// `sbatch` inherits it, so that it holds also if `sbatch` outlives this process.
    pub fn submit(&mut self) {
        match self.adopt_or_submit() {
            Err(failed) if failed.kind == SlurmErrorKind::Unreachable => self.begin_outage(&failed),
            Err(failed) => {
                let tasks = std::mem::take(&mut self.submissions.waiting);
                self.reject(tasks.into_values(), failed.error);
            }
            Ok(()) => self.poll_soon(),
        }
    }

    fn adopt_or_submit(&mut self) -> Result<(), SlurmError> {
        let lock = self.store.lock_batches().map_err(Error::from)?;
        self.adopt_live_tasks();
        if self.submissions.waiting.is_empty() {
            return Ok(());
        }
        let size = self.array_size()?;
        let mut waiting: Vec<TaskSpec> = std::mem::take(&mut self.submissions.waiting).into_values().collect();
        while let Some(first) = waiting.first() {
            let request = first.request.clone();
            let tasks = waiting.extract_if(.., |task| task.request == request).take(size).collect();
            self.submit_array(tasks, &lock);
        }
        Ok(())
    }

    /// Watches the tasks that other runs submitted for what is to be submitted here.
    fn adopt_live_tasks(&mut self) {
        let key = |task: &TaskSpec| (task.task.key, task.task.options.check);
        let cells: HashMap<(Key, bool), usize> =
            self.submissions.waiting.values().map(|task| (key(task), task.cell)).collect();
        for batch in batch::open(&self.store).into_iter().rev() {
            let mut adopted = Vec::new();
            let wanted = batch.open_tasks(|task| cells.contains_key(&(task.key, task.options.check)));
            for (index, task) in wanted {
                let cell = cells[&(task.key, task.options.check)];
                let fits = |spec: &mut TaskSpec| task.force || !spec.task.force;
                if let Some(spec) = self.submissions.waiting.extract_if(cell..=cell, |_, spec| fits(spec)).next() {
                    adopted.push((index, spec.1));
                }
            }
            if !adopted.is_empty() {
                self.watch_batch(batch.clone(), adopted, true);
            }
        }
    }

    fn watch_batch(&mut self, batch: Batch, tasks: Vec<(u32, TaskSpec)>, adopted: bool) {
        let task = |(index, spec)| SubmittedTask::new(spec, index, Tail::of(batch.messages_path(index)));
        let tasks = tasks.into_iter().map(task).collect();
        let mut watched = WatchedBatch { job: batch.job(), batch, tasks };
        self.report_submission(&watched, adopted);
        if adopted {
            // Their earlier messages are no sign of life.
            for task in &mut watched.tasks {
                task.forward_messages(&self.updates);
                task.is_confirmed = false;
            }
        }
        self.batches.push(watched);
    }

    fn submit_array(&mut self, tasks: Vec<TaskSpec>, lock: &File) {
        let cells = tasks.iter().map(|spec| spec.task.clone()).collect();
        let work = BatchWork::Cells(&tasks[0].request, cells);
        let batch = match Batch::create(&self.store, &self.settings, &self.command, work) {
            Ok(batch) => batch,
            Err(error) => return self.reject(tasks, error),
        };
        match batch.submit(lock) {
            Ok(()) => {
                self.end_outage();
                self.submissions.backoff.reset();
            }
            // It is unknown if Slurm took it: the queue is searched for its comment first.
            Err(failed) if failed.kind == SlurmErrorKind::Unreachable => self.begin_outage(&failed),
            Err(failed) => {
                batch.remove();
                return match failed.kind {
                    SlurmErrorKind::LimitReached => self.limit_reached(tasks, failed.error),
                    SlurmErrorKind::Unreachable | SlurmErrorKind::Other => self.reject(tasks, failed.error),
                };
            }
        }
        self.watch_batch(batch, (0..).zip(tasks).collect(), false);
    }

    /// The site allows no more jobs: submits fewer at a time, and later. It fails if this run has no jobs whose end it could
    /// wait for.
    fn limit_reached(&mut self, tasks: Vec<TaskSpec>, error: Error) {
        match tasks.len() {
            1 if self.batches.is_empty() => return self.reject(tasks, error),
            1 => self.submissions.next = Instant::now() + self.submissions.backoff.next_delay(),
            count => self.submissions.array_size = Some(count.div_ceil(2)),
        }
        self.wait_for_submission(tasks);
    }

    /// The largest number of tasks of an array.
    fn array_size(&mut self) -> Result<usize, SlurmError> {
        if let Some(size) = self.submissions.array_size {
            return Ok(size);
        }
        let config = slurm_cli::query("scontrol", &["show", "config"])?;
        let mut settings = config.lines().filter_map(|line| line.split_once('='));
        let limit = settings.find(|(name, _)| name.trim() == "MaxArraySize");
        // Slurm's own default.
        let limit = limit.and_then(|(_, value)| value.trim().parse::<usize>().ok()).unwrap_or(1001);
        if limit == 0 {
            return Err(Error::system("this Slurm has arrays of jobs switched off (MaxArraySize is 0)").into());
        }
        let size = self.settings.slurm.array_size.map_or(limit, |size| limit.min(size.get()));
        self.submissions.array_size = Some(size);
        Ok(size)
    }
}
