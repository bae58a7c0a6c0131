//! A cell that a job is making, as far as this run has heard of it.

use std::time::{Duration, Instant};

use super::cluster::NewTask;
use super::events_file::EventsFile;
use super::judge::{Evidence, Fault, Verdict};
use super::queue::{Entry, Phase, Queue};
use cwm_action::Line;

/// A cell that a job is making.
pub struct Flight {
    /// What was asked for, to be asked for again if need be.
    pub task: NewTask,
    /// The batch, by its id, and the index in it.
    pub batch: String,
    /// The index in the batch.
    pub index: u32,
    /// What it tells.
    events: EventsFile,
    /// How it told its end, and when that was heard.
    told: Option<(Line, Instant)>,
    /// Whether it ever told anything.
    begun: bool,
    /// Whether its start was passed on.
    is_started: bool,
    /// What the queue last said of it.
    pub entry: Option<Entry>,
    /// When the queue first called it over, or did not know it, and when it last did. Only answers count: while the controller
    /// is silent, nothing grows older.
    gone: Option<(Instant, Instant)>,
    /// Whether another run submitted it, and nothing has shown yet that it still lives.
    pub is_found: bool,
    has_listened: bool,
    /// Whether it waits in the queue while its result is recorded: somebody else made it, or it ran before.
    pub is_moot: bool,
    /// Whether it waits again though it had begun, and the queue has not shown it running since.
    pub is_back: bool,
    /// Whether the queue last knew its job, and not this task of it.
    is_struck: bool,
}

impl Flight {
    /// The task of this index in a batch, of which nothing was heard yet.
    pub fn new(task: NewTask, batch: String, index: u32, events: EventsFile, is_found: bool) -> Self {
        Flight {
            task,
            batch,
            index,
            events,
            told: None,
            begun: false,
            is_started: false,
            entry: None,
            gone: None,
            is_found,
            has_listened: false,
            is_moot: false,
            is_back: false,
            is_struck: false,
        }
    }

    /// What it told since the last call, as far as it is to be passed on.
    pub fn listen(&mut self) -> Vec<Line> {
        let lines = self.events.read();
        // What a job that was found had told before is no sign of life.
        self.is_found &= lines.is_empty() || !self.has_listened;
        self.has_listened = true;
        let mut passed_on = Vec::new();
        for line in lines {
            self.begun = true;
            match &line {
                // Again, after its node failed or it made room for others: the same attempt, as far as the run counts.
                Line::Started => {
                    self.told = None;
                    if std::mem::replace(&mut self.is_started, true) {
                        continue;
                    }
                }
                Line::Failed { .. } | Line::AlreadyRecorded => {
                    self.told = Some((line, Instant::now()));
                    continue;
                }
                Line::Recorded(_) | Line::Checked(_) => self.told = Some((line.clone(), Instant::now())),
                Line::Waiting { .. } | Line::Event(_) => {}
            }
            passed_on.push(line);
        }
        passed_on
    }

    /// What it told before it was over, as the queue says, and was not heard yet.
    pub fn last_words(&mut self) -> Vec<Line> {
        if self.gone.is_some() && self.told.is_none() { self.listen() } else { Vec::new() }
    }

    /// Takes in what the queue says of it; whether that is something else than before.
    pub fn look(&mut self, queue: &Queue, job: Option<&str>, now: Instant) -> bool {
        let entry = job.and_then(|job| queue.task(&self.batch, job, self.index)).cloned();
        match entry.as_ref().map(Entry::phase) {
            Some(Phase::Pending | Phase::Running) => {
                self.gone = None;
                self.is_found = false;
            }
            Some(Phase::Over(_)) | None => self.gone = Some((self.gone.map_or(now, |(first, _)| first), now)),
        }
        self.is_back = match entry.as_ref().map(Entry::phase) {
            Some(Phase::Pending) => self.begun || self.is_back || self.is_up(),
            _ => false,
        };
        self.is_struck = job.is_some_and(|job| queue.lacks_just(&self.batch, job, self.index));
        let changed = entry != self.entry;
        self.entry = entry;
        changed
    }

    fn is_up(&self) -> bool {
        self.entry.as_ref().is_some_and(|entry| entry.phase() == Phase::Running)
    }

    /// What follows from all that is known.
    pub fn judge(
        &self,
        job: Option<&str>,
        patience: Duration,
        recorded: impl FnOnce(bool) -> bool,
        said: impl FnOnce() -> Option<String>,
    ) -> Verdict {
        if self.is_moot {
            return Verdict::Succeeded;
        }
        let evidence = Evidence {
            job: &self.name(job),
            told: self.told.as_ref().map(|(line, _)| line),
            begun: self.begun,
            is_struck: self.is_struck,
            entry: self.entry.as_ref(),
            gone: self.gone.map(|(first, last)| last - first),
            told_ago: self.told.as_ref().map_or(Duration::ZERO, |(_, at)| at.elapsed()),
            patience,
            check: self.task.terms.check,
            asked: &self.task.request.in_words(),
        };
        evidence.judge(|| recorded(self.told.is_some()), said)
    }

    /// `17_3`.
    pub fn name(&self, job: Option<&str>) -> String {
        format!("{}_{}", job.unwrap_or("?"), self.index)
    }
}

/// How a cell ended as a job.
pub type Ended = Result<(), Fault>;
