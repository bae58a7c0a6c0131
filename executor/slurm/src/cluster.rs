//! The jobs of a run, as the run sees them: what it submits, what it is told, and the thread that watches in between.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};

use cwm_contract::Label;

use super::request::ResourceRequest;
use super::settings::Settings;
use super::submitted_task::TaskEnd;
use super::watch::Watcher;
use cwm_action::{AttemptOptions, Line};
use cwm_core::digest::Key;
use cwm_store::Store;

/// A cell to submit, whose action file is written.
#[derive(Clone, Debug)]
pub struct TaskSpec {
    /// The index of the cell; updates of the task carry it.
    pub cell: usize,
    /// Its key.
    pub key: Key,
    /// Its name.
    pub label: Label,
    /// The resources that it requests.
    pub request: ResourceRequest,
    /// The options of the attempt.
    pub terms: AttemptOptions,
    /// Whether it runs even if its result is recorded.
    pub force: bool,
    /// How often it was submitted again because its job was lost.
    pub resubmissions: u32,
}

/// What the watching thread sends to the run.
pub enum JobUpdate {
    /// The job of a cell wrote this message.
    Message(usize, Line),
    /// The job of a cell ended.
    Ended(usize, TaskEnd),
    /// These cells are tasks of a job.
    Submitted {
        /// The job's id.
        job: String,
        /// The cells.
        cells: Vec<usize>,
        /// What each of them requests, in words.
        request: String,
        /// Whether another run, or an earlier one, submitted it.
        adopted: bool,
    },
    /// The queue says something else of a cell's job than before: this, in words.
    StateChanged(usize, String),
    /// The number of jobs of this run in the queue.
    Queue {
        /// Jobs that wait.
        pending: usize,
        /// Jobs that have a node.
        running: usize,
        /// The reasons for which jobs wait, with the number of jobs of each.
        reasons: BTreeMap<String, usize>,
    },
    /// Something worth knowing that stops nothing.
    Warning(String),
    /// The watching thread ended, for this reason, while there were jobs.
    WatcherFailed(String),
}

/// The jobs of a run. When it is closed nobody watches them any more, and they go on.
pub struct Cluster {
    orders: Option<Sender<Vec<TaskSpec>>>,
}

impl Cluster {
    /// Starts watching for a run of this command. Updates go to `receive`.
    pub fn start(
        store: Store,
        settings: Settings,
        command: String,
        receive: impl Fn(JobUpdate) + Send + 'static,
    ) -> Cluster {
        let (orders, inbox): (_, Receiver<Vec<TaskSpec>>) = channel();
        std::thread::spawn(move || {
            let watched = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                Watcher::new(store, settings, command, &receive).watch(&inbox);
            }));
            if watched.is_err() {
                receive(JobUpdate::WatcherFailed(
                    "the thread that watches Slurm's jobs panicked: a bug in cwm".to_owned(),
                ));
            }
        });
        Cluster { orders: Some(orders) }
    }

    /// Submits these cells, together with others that come within the same few seconds.
    pub fn submit(&self, tasks: Vec<TaskSpec>) {
        // If the thread has ended, it has sent the reason.
        let _ = self.orders.as_ref().map(|orders| orders.send(tasks));
    }

    /// Stops watching. Updates that were sent before can still be received.
    pub fn close(&mut self) {
        self.orders = None;
    }
}
