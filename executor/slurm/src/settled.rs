//! Tasks that wait in the queue for nothing: their results are recorded. A controller that was killed and started again lists
//! tasks as waiting that have run meanwhile, and holds those that the node refuses to run twice ("launch failed requeued
//! held"); or somebody else made a result while its job waited. They would stay until somebody sees them. So they are
//! cancelled: each by itself and once, only while it waits, and never one that has no result.

use std::collections::HashSet;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

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
    /// With which cell looking for results that others made goes on.
    next: usize,
}

/// How long one look at the queue looks for results of what waits: thousands may, and their folders may be far away.
const LOOKING: Duration = Duration::from_millis(250);

/// All of them with their numbers, beginning with the `first`.
fn in_turn<T>(all: &mut [T], first: usize) -> impl Iterator<Item = (usize, &mut T)> {
    let middle = first.min(all.len());
    let (before, from) = all.split_at_mut(middle);
    (middle..).zip(from).chain((0..).zip(before))
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
    /// Tasks that wait, and whose results are recorded: somebody else made them. Of those that are held nothing else would come;
    /// the others might wait for hours, to find that there is nothing to do.
    pub fn find_moot(&mut self, queue: &Queue) {
        let began = Instant::now();
        let mut flights = std::mem::take(&mut self.flights);
        let (first, mut is_late) = (self.settled.next, false);
        for (at, flight) in in_turn(&mut flights, first).filter(|(_, flight)| !flight.task.terms.check) {
            flight.is_moot = false;
            let Some(watched) = self.batches.get(&flight.batch) else { continue };
            let entry = watched.job.as_deref().and_then(|job| queue.task(&flight.batch, job, flight.index));
            let Some(entry) = entry.filter(|entry| entry.phase() == Phase::Pending) else { continue };
            if !is_late && began.elapsed() > LOOKING {
                (is_late, self.settled.next) = (true, at);
            }
            if is_late && !is_held(&entry.reason) {
                continue;
            }
            // Whoever submitted it may want it made anew, though this run does not.
            let task = watched.batch.file.tasks.get(flight.index as usize);
            let force = flight.task.force || task.is_some_and(|task| task.force);
            flight.is_moot = self.is_recorded(&flight.task.key, force, &watched.batch, false);
        }
        self.flights = flights;
    }

    /// Cancels what waits in the queue though its result is there.
    pub fn cancel_settled(&mut self, queue: &Queue) {
        let flying: HashSet<Task> = self.flights.iter().map(|flight| (flight.batch.clone(), flight.index)).collect();
        let mut settled = std::mem::take(&mut self.settled);
        let mut found = settled.waiting(queue, |task| !flying.contains(task) && self.has_result(task));
        // A copy of a store has its batches, too; their jobs are the other's, who may wait for them.
        let is_ours =
            |batch: &str| Batch::read(&self.store, batch).is_ok_and(|batch| batch.is_of_this_store() == Some(true));
        found.retain(|((batch, _), _)| is_ours(batch));
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
        // Nothing is cancelled that cannot be told any more, and the run does not end before it was.
        let is_deaf = self.is_deaf.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_deaf {
            return false;
        }
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
        drop(is_deaf);
        true
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
