//! The jobs of a run, as the run sees them: what it hands over, what it is told, and the thread that watches in between.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cwm_contract::Label;

use super::flight::Ended;
use super::request::Request;
use super::settings::Settings;
use super::watch::Watcher;
use cwm_action::{Line, Terms};
use cwm_core::digest::Key;
use cwm_store::Store;

/// A cell to be submitted, whose action file is written.
#[derive(Clone, Debug)]
pub struct NewTask {
    /// Tags what is told of it.
    pub cell: usize,
    /// Its key.
    pub key: Key,
    /// Its name.
    pub label: Label,
    /// What it asks for.
    pub request: Request,
    /// On which terms it is done.
    pub terms: Terms,
    /// Whether it is done even if it is recorded.
    pub force: bool,
    /// How often it was submitted again because its job was lost.
    pub lost: u32,
}

/// What the thread tells the run.
pub enum Told {
    /// A line that a cell's job told.
    Line(usize, Line),
    /// A cell's job ended.
    Ended(usize, Ended),
    /// These cells are tasks of a job.
    Submitted {
        /// Its id.
        job: String,
        /// The cells.
        cells: Vec<usize>,
        /// What each asks for, in words.
        asks: String,
        /// Whether an earlier run, or another one, had submitted it.
        found: bool,
    },
    /// How a cell's job stands, in words.
    Stands(usize, String),
    /// How many jobs there are.
    Queue {
        /// That wait.
        pending: usize,
        /// That have a node.
        running: usize,
        /// Why those wait, with how many each.
        reasons: BTreeMap<String, usize>,
    },
    /// Something worth knowing that stops nothing.
    Warning(String),
    /// The thread ended in the middle of its work, and why.
    Broken(String),
}

/// The jobs of a run. When it is closed, nobody watches them any more, and they go on; if all have ended, what the queue still
/// lists of them goes.
pub struct Cluster {
    orders: Option<Sender<Vec<NewTask>>>,
    /// Cells that were handed over and have not ended.
    open: Arc<AtomicUsize>,
    /// Is closed when the thread has ended.
    ended: Receiver<()>,
    /// Whether nobody hears any more what the thread does.
    is_deaf: Arc<Mutex<bool>>,
}

/// How long the last look at the queue may take.
const LAST_LOOK: Duration = Duration::from_secs(10);

impl Cluster {
    /// Watches from now on for a run of this command.
    pub fn start(
        store: Store,
        settings: Settings,
        command: String,
        receive: impl Fn(Told) + Send + 'static,
    ) -> Cluster {
        let ((orders, inbox), (ends, ended)) = (channel(), channel());
        let open = Arc::new(AtomicUsize::new(0));
        let (counted, is_deaf) = (open.clone(), Arc::default());
        let hears = Arc::clone(&is_deaf);
        std::thread::spawn(move || {
            let _ends: Sender<()> = ends;
            let tell = |told: Told| {
                if matches!(told, Told::Ended(..)) {
                    counted.fetch_sub(1, Ordering::SeqCst);
                }
                receive(told);
            };
            let watched = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                Watcher::new(store, settings, command, &tell, hears).watch(&inbox);
            }));
            if watched.is_err() {
                tell(Told::Broken("what watches the jobs of Slurm ended: a mistake in cwm".to_owned()));
            }
        });
        Cluster { orders: Some(orders), open, ended, is_deaf }
    }

    /// Submits these cells, with others that come within the same few seconds.
    pub fn submit(&self, tasks: Vec<NewTask>) {
        self.open.fetch_add(tasks.len(), Ordering::SeqCst);
        // A thread that ended has told so.
        let _ = self.orders.as_ref().map(|orders| orders.send(tasks));
    }

    /// Ends the watching. What was told until then can be heard; after that nothing is told, and nothing is done that would have
    /// to be.
    pub fn close(&mut self) {
        self.orders = None;
        // Of a run that was stopped jobs go on, and whoever stopped it does not wait.
        if self.open.load(Ordering::SeqCst) == 0 {
            let _ = self.ended.recv_timeout(LAST_LOOK);
        }
        // What it is cancelling just now it tells before.
        *self.is_deaf.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.close();
    }
}
