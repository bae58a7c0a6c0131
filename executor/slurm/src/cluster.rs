//! The jobs of a run, as the run sees them: it submits tasks, and a thread watches them and sends updates.

use std::sync::mpsc::{Receiver, Sender, channel};

use super::settings::Settings;
use super::task::{JobUpdate, TaskSpec};
use super::watch::Watcher;
use cwm_store::Store;

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
