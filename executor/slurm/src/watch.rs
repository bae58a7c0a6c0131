//! The jobs of a run, watched: what they tell is read from their files, the queue is asked once for all, and rarely.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::batch::Batch;
use super::cluster::{NewTask, Told};
use super::flight::Flight;
use super::judge::Fault;
use super::program::Trouble;
use super::put_back::{self, PutBack};
use super::queue::{Phase, Queue, is_stuck};
use super::settings::Settings;
use super::settled::Settled;
use super::stuck::{self, Stuck};
use cwm_action::{FailedKind, log_end};
use cwm_core::digest::Digest;
use cwm_store::Store;
use cwm_store::outside::Files;

/// A batch that holds cells of this run.
pub(super) struct Watched {
    pub batch: Batch,
    /// The job's id, as soon as that is known.
    pub job: Option<String>,
    /// The queue was asked after `sbatch` had failed, and does not know it.
    pub is_absent: bool,
}

pub(super) struct Watcher<'t> {
    pub store: Store,
    pub settings: Settings,
    pub command: String,
    pub tell: &'t dyn Fn(Told),
    /// Whether nobody hears any more what is told; as long as it is locked, somebody does.
    pub is_deaf: Arc<Mutex<bool>>,
    pub files: Files,
    pub batches: HashMap<String, Watched>,
    pub flights: Vec<Flight>,
    pub waiting: Vec<NewTask>,
    /// The copy of this program in the store.
    pub binary: Option<Digest>,
    /// Tasks of an array at most.
    pub array_size: Option<usize>,
    /// When `sbatch` may be called next.
    pub next_submission: Instant,
    next_look: Instant,
    interval: Duration,
    /// Since when the controller has not answered.
    outage: Option<Instant>,
    counted: (usize, usize, BTreeMap<String, usize>),
    /// What waits in the queue for nothing.
    pub settled: Settled,
    /// Tasks of which it was told that they are stuck, and why they were.
    warned: HashSet<(String, u32, String)>,
}

/// How much rarer looks at the queue become while nothing changes.
const RAREST: u32 = 12;

impl<'t> Watcher<'t> {
    pub fn new(
        store: Store,
        settings: Settings,
        command: String,
        tell: &'t dyn Fn(Told),
        is_deaf: Arc<Mutex<bool>>,
    ) -> Self {
        let now = Instant::now();
        Watcher {
            files: Files::of_store(&store),
            interval: settings.poll,
            store,
            settings,
            command,
            tell,
            is_deaf,
            batches: HashMap::new(),
            flights: Vec::new(),
            waiting: Vec::new(),
            binary: None,
            array_size: None,
            next_submission: now,
            next_look: now,
            outage: None,
            counted: (0, 0, BTreeMap::new()),
            settled: Settled::default(),
            warned: HashSet::new(),
        }
    }

    pub fn watch(mut self, inbox: &Receiver<Vec<NewTask>>) {
        let shortest = Duration::from_secs(1).min(self.settings.poll);
        let mut pause = shortest;
        loop {
            let wait = if self.waiting.is_empty() { pause } else { shortest };
            match inbox.recv_timeout(wait) {
                Ok(tasks) => self.waiting.extend(tasks),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.tidy(),
            }
            while let Ok(tasks) = inbox.try_recv() {
                self.waiting.extend(tasks);
            }
            let now = Instant::now();
            if now >= self.next_submission && (!self.waiting.is_empty() || self.has_absent()) {
                self.submit();
                self.next_submission = Instant::now() + self.settings.poll;
            }
            let before = Instant::now();
            self.listen();
            let listened = before.elapsed();
            if !self.flights.is_empty() && Instant::now() >= self.next_look {
                self.look();
            }
            self.judge();
            // On a slow file system, at most a twentieth of the time is spent on looking.
            pause = shortest.max(listened * 20).min(Duration::from_secs(60));
        }
    }

    /// Has the queue looked at as soon as may be.
    pub fn look_soon(&mut self) {
        self.interval = self.settings.poll;
        self.next_look = Instant::now();
    }

    fn has_absent(&self) -> bool {
        self.batches.values().any(|watched| watched.is_absent)
    }

    fn listen(&mut self) {
        // One look at a batch's folder says who has told anything at all.
        let mut speaking: HashMap<&str, Vec<u32>> = HashMap::new();
        for (id, watched) in &self.batches {
            let names = self.store.files_in(&watched.batch.folder).unwrap_or_default();
            let indices = names.iter().filter_map(|(name, _)| name.strip_suffix(".events")?.parse().ok());
            let mut indices: Vec<u32> = indices.collect();
            indices.sort_unstable();
            speaking.insert(id, indices);
        }
        for flight in &mut self.flights {
            let speaks = speaking.get(flight.batch.as_str());
            if speaks.is_some_and(|indices| indices.binary_search(&flight.index).is_ok()) {
                for line in flight.listen() {
                    (self.tell)(Told::Line(flight.task.cell, line));
                }
            }
        }
    }

    /// One look at the queue, for all jobs.
    fn look(&mut self) {
        let queue = match Queue::ask() {
            Ok(queue) => queue,
            Err(trouble) => {
                self.is_silent(&trouble);
                self.next_look = Instant::now() + self.settings.poll * 2;
                return;
            }
        };
        self.answers();
        let now = Instant::now();
        let mut changed = false;
        let (mut stuck, mut put_back) = (Vec::new(), Vec::new());
        let found = self.find_jobs(&queue);
        self.find_moot(&queue);
        for flight in &mut self.flights {
            let watched = self.batches.get(&flight.batch);
            // Of a batch that is not submitted, the queue can know nothing.
            let Some(job) = watched.and_then(|watched| watched.job.as_deref()) else {
                if watched.is_some_and(|watched| !watched.is_absent) {
                    flight.look(&queue, None, now);
                }
                continue;
            };
            let was_back = flight.is_back;
            if flight.look(&queue, Some(job), now) {
                changed = true;
                let is_free = flight.entry.as_ref().is_some_and(|entry| !is_stuck(&entry.reason));
                if flight.is_back && !was_back && !flight.is_moot && is_free {
                    let said = watched.and_then(|watched| said_in(&watched.batch.out(flight.index)));
                    put_back.push(PutBack::new(job, flight.index, flight.task.label.clone(), said.as_deref()));
                }
                if let Some(entry) = &flight.entry {
                    let words = format!("job {} {}", flight.name(Some(job)), entry.in_words());
                    (self.tell)(Told::Stands(flight.task.cell, words));
                    if entry.phase() == Phase::Pending && is_stuck(&entry.reason) && !flight.is_moot {
                        let (job, index, reason) = (job.to_owned(), flight.index, entry.reason.clone());
                        if self.warned.insert((job.clone(), index, reason.clone())) {
                            stuck.push(Stuck { job, index, label: flight.task.label.clone(), reason });
                        }
                    }
                }
            }
        }
        found.into_iter().for_each(|(id, job)| self.tell_found(&id, job));
        let warnings = put_back::warnings(&put_back).into_iter().chain(stuck::warnings(&stuck));
        warnings.for_each(|words| (self.tell)(Told::Warning(words)));
        self.cancel_settled(&queue);
        self.count();
        let rarest = self.settings.poll * RAREST;
        self.interval = if changed { self.settings.poll } else { (self.interval * 3 / 2).min(rarest) };
        self.next_look = now + self.interval;
    }

    /// Batches whose ids nobody noted: by their comment, or known not to be there.
    fn find_jobs(&mut self, queue: &Queue) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for (id, watched) in &mut self.batches {
            if watched.job.is_some() {
                continue;
            }
            watched.job = watched.batch.job();
            if let (None, Some(job)) = (&watched.job, queue.job_of(id)) {
                // A later run finds it by its comment just as well.
                let _ = watched.batch.note_job(job);
                watched.job = Some(job.to_owned());
            }
            match &watched.job {
                Some(job) => found.push((id.clone(), job.clone())),
                None => {
                    watched.is_absent =
                        (0..watched.batch.file.tasks.len() as u32).all(|index| !watched.batch.events(index).exists())
                }
            }
        }
        found
    }

    fn tell_found(&self, id: &str, job: String) {
        let flights = || self.flights.iter().filter(|flight| flight.batch == id);
        let Some(asks) = flights().next().map(|flight| flight.task.request.in_words()) else { return };
        let cells = flights().map(|flight| flight.task.cell).collect();
        (self.tell)(Told::Submitted { job, cells, asks, found: true });
    }

    fn count(&mut self) {
        let (mut pending, mut running, mut reasons) = (0, 0, BTreeMap::new());
        for entry in self.flights.iter().filter_map(|flight| flight.entry.as_ref()) {
            match entry.phase() {
                Phase::Pending => {
                    pending += 1;
                    *reasons.entry(entry.reason.clone()).or_default() += 1;
                }
                Phase::Running => running += 1,
                Phase::Over(_) => {}
            }
        }
        let counted = (pending, running, reasons);
        if counted != self.counted {
            self.counted = counted.clone();
            let (pending, running, reasons) = counted;
            (self.tell)(Told::Queue { pending, running, reasons });
        }
    }

    /// Whether the controller is silent.
    pub fn is_out(&self) -> bool {
        self.outage.is_some()
    }

    /// The controller did not answer: jobs go on, and nothing is concluded.
    pub fn is_silent(&mut self, trouble: &Trouble) {
        if self.outage.is_none() {
            let words = "jobs go on, and it is asked again; nothing is taken for lost meanwhile";
            (self.tell)(Told::Warning(format!("Slurm does not answer ({trouble}): {words}")));
            self.outage = Some(Instant::now());
        }
    }

    /// The controller answered.
    pub fn answers(&mut self) {
        if let Some(since) = self.outage.take() {
            let time = cwm_core::text::duration(since.elapsed().as_secs_f64());
            (self.tell)(Told::Warning(format!("Slurm answers again, after {time}")));
        }
    }

    /// These cells could not be submitted.
    pub fn refuse(&self, tasks: impl IntoIterator<Item = NewTask>, reason: &str, hint: &str) {
        for task in tasks {
            let hint = (!hint.is_empty()).then(|| hint.to_owned());
            let fault = Fault { kind: FailedKind::System, reason: reason.to_owned(), hint };
            (self.tell)(Told::Ended(task.cell, Err(fault)));
        }
    }
}

/// The last of what a job and Slurm said; nothing if there is no such file.
pub(super) fn said_in(path: &std::path::Path) -> Option<String> {
    match log_end(path, 0, 4096) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        said => Some(said.unwrap_or_default()),
    }
}
