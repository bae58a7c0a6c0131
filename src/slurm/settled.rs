//! Tasks that wait in the queue for nothing: their results are recorded. A controller that was killed and started again lists
//! tasks as waiting that have run meanwhile, and holds those that the node refuses to run twice ("launch failed requeued
//! held"); or somebody else made a result while its job waited. They would stay until somebody sees them. So they are
//! cancelled: each by itself and once, only while it waits, and never one that has no result.

use std::collections::HashSet;

use super::batch::Batch;
use super::cluster::Told;
use super::program::{self, Trouble};
use super::queue::{Phase, Queue, is_held};
use super::stuck;
use super::watch::Watcher;

/// A task, by its batch and its index.
type Task = (String, u32);

/// What is known to wait for nothing.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// Tasks of this run whose results are there.
    done: HashSet<Task>,
    /// Those that were cancelled.
    cancelled: HashSet<Task>,
    /// Whether what other runs left in the queue was looked through.
    is_swept: bool,
}

impl Settled {
    /// The result of this task is there.
    pub fn note(&mut self, batch: &str, index: u32) {
        self.done.insert((batch.to_owned(), index));
    }

    /// Whether there is any.
    pub fn is_empty(&self) -> bool {
        self.done.is_empty()
    }

    /// Those that wait in the queue: of this run, and, the first time, of others, if they have results.
    fn waiting(&mut self, queue: &Queue, has_result: impl Fn(&Task) -> bool) -> Vec<(Task, String)> {
        let others = !std::mem::replace(&mut self.is_swept, true);
        let mut found = Vec::new();
        for (batch, job, index) in queue.waiting() {
            let task = (batch.to_owned(), index);
            let is_done = self.done.contains(&task) || (others && has_result(&task));
            if is_done && !self.cancelled.contains(&task) {
                found.push((task, job.to_owned()));
            }
        }
        found
    }
}

impl Watcher<'_> {
    /// Tasks that are held, and whose results somebody else has recorded: nobody need release them.
    pub fn find_moot(&mut self, queue: &Queue) {
        let mut flights = std::mem::take(&mut self.flights);
        for flight in flights.iter_mut().filter(|flight| !flight.task.terms.check) {
            let Some(watched) = self.batches.get(&flight.batch) else { continue };
            let entry = watched.job.as_deref().and_then(|job| queue.task(job, flight.index));
            let is_stopped = entry.is_some_and(|entry| entry.phase() == Phase::Pending && is_held(&entry.reason));
            flight.is_moot = is_stopped && self.is_recorded(&flight.task.key, flight.task.force, &watched.batch, false);
        }
        self.flights = flights;
    }

    /// Cancels what waits in the queue though its result is there.
    pub fn cancel_settled(&mut self, queue: &Queue) {
        let flying: HashSet<Task> = self.flights.iter().map(|flight| (flight.batch.clone(), flight.index)).collect();
        let mut settled = std::mem::take(&mut self.settled);
        let mut found = settled.waiting(queue, |task| !flying.contains(task) && self.has_result(task));
        // A copy of a store has its batches, too; their jobs are the other's, who may wait for them.
        found.retain(|((batch, _), _)| self.is_of_this_store(batch));
        if !found.is_empty() {
            let cancelled = self.cancel(&found);
            settled.cancelled.extend(found.into_iter().filter(|_| cancelled).map(|(task, _)| task));
        }
        self.settled = settled;
    }

    /// Cancels those of these tasks that wait; whether that is over and done with.
    fn cancel(&self, tasks: &[(Task, String)]) -> bool {
        // Each by its full name and without any filter: with `--state=PENDING`, `scancel` ends the whole array of a task that
        // the controller has not split off. What has begun since the queue was asked had found the result anyway.
        let names: Vec<String> = tasks.iter().map(|((_, index), job)| format!("{job}_{index}")).collect();
        let ended = program::ask("scancel", &names);
        let shown = stuck::words(tasks.iter().map(|((_, index), job)| (job.as_str(), *index)));
        let (jobs, its, was) = if tasks.len() == 1 {
            ("job", "its result is", "it was")
        } else {
            ("jobs", "their results are", "they were")
        };
        let what = format!("{jobs} {shown} waited in the queue, and {its} recorded");
        let words = match ended {
            // At the next look.
            Err(Trouble::Unreachable(_)) => return false,
            Ok(_) => format!("{what}: {was} cancelled"),
            Err(trouble) => format!("{what}: `scancel {shown}` ends what is left of them ({trouble})"),
        };
        (self.tell)(Told::Warning(words));
        true
    }

    /// Whether the jobs of a batch work in this store, and not in one that this is a copy of.
    fn is_of_this_store(&self, batch: &str) -> bool {
        let store = format!(" --store {} ", crate::commands::quoted(&self.store.root().to_string_lossy()));
        Batch::read(&self.store, batch).is_ok_and(|batch| batch.script().contains(&store))
    }

    /// Whether a task of the store has its result. Whoever waits for it has that, too.
    fn has_result(&self, (batch, index): &Task) -> bool {
        // Another store's is not found.
        let Ok(batch) = Batch::read(&self.store, batch) else { return false };
        let task = batch.file.tasks.get(*index as usize);
        task.is_some_and(|task| !task.terms.check && self.is_recorded(&task.key, task.force, &batch, false))
    }

    /// Nothing is left to be done: a last look, if the run had jobs that are done.
    pub fn tidy(&mut self) {
        if !self.flights.is_empty() || !self.waiting.is_empty() || self.is_out() || self.settled.is_empty() {
            return;
        }
        if let Ok(queue) = Queue::ask() {
            self.cancel_settled(&queue);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(found: &[(Task, String)]) -> Vec<String> {
        let mut names: Vec<String> = found.iter().map(|((_, index), job)| format!("{job}_{index}")).collect();
        names.sort();
        names
    }

    #[test]
    fn only_what_waits_though_it_is_done_is_cancelled_and_once() {
        let queue = Queue::read(
            "1|0|COMPLETED|None|cn1|cwm:a\n1|1|PENDING|launch failed requeued held||cwm:a\n1|2|RUNNING|None|cn1|cwm:a\n\
             1|3|PENDING|Priority||cwm:a\n1|4|REQUEUE_HOLD|None||cwm:a\n2|1|PENDING|Priority||cwm:b\n\
             3|1|PENDING|Priority||somebody else's\n4|N/A|PENDING|Priority||cwm:run\n",
        );
        let mut settled = Settled::default();
        assert!(settled.is_empty());
        (0..3).chain([4]).for_each(|index| settled.note("a", index));
        // What is of another run is asked for at the first look alone.
        let asked = std::cell::RefCell::new(Vec::new());
        let left = |task: &Task| {
            asked.borrow_mut().push(task.clone());
            task.0 == "b"
        };
        let found = settled.waiting(&queue, left);
        assert_eq!(names(&found), ["1_1", "1_4", "2_1"]);
        asked.borrow_mut().sort();
        assert_eq!(asked.take(), [("a".to_owned(), 3), ("b".to_owned(), 1)]);
        assert_eq!(names(&settled.waiting(&queue, |_| panic!("once"))), ["1_1", "1_4"]);
        settled.cancelled.extend(found.into_iter().map(|(task, _)| task));
        assert!(settled.waiting(&queue, |_| true).is_empty());
        settled.note("a", 3);
        assert_eq!(names(&settled.waiting(&queue, |_| true)), ["1_3"]);
    }
}
