//! What `push` and `pull` share: results go to and come from remotes, told as events.

mod locked_results;
pub mod pull;
pub mod push;

use std::collections::{BTreeSet, HashMap};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use cwm_contract::Label;

use crate::cli::Output;
use crate::commands::progress::progress_sink;
use crate::workspace::Workspace;
use cwm_core::{Error, Key};
use cwm_engine::{Direction, EventSink, EventSinks, RunEvent};
use cwm_pipeline::plan::Plan;
use cwm_remote::{TransferEvent, TransferRequest, TransferService};

/// Jobs that are under way at a time: enough for all that a remote is asked at once.
const AT_ONCE: usize = 64;

/// A number of jobs on their way, and what came of them.
struct Transfer<'a> {
    service: &'a TransferService,
    direction: Direction,
    sinks: &'a mut EventSinks,
    sender: Sender<(usize, TransferEvent)>,
    inbox: Receiver<(usize, TransferEvent)>,
    /// What the jobs of each cell are about.
    keys: HashMap<usize, Key>,
    /// Jobs that have begun, and those of them that have ended.
    begun: usize,
    ended: usize,
    began: Instant,
    results: usize,
    objects: u64,
    bytes: u64,
    /// What is wrong with remotes; what did not move of results.
    faults: Vec<String>,
    missing: Vec<String>,
}

impl<'a> Transfer<'a> {
    fn new(service: &'a TransferService, direction: Direction, sinks: &'a mut EventSinks) -> Self {
        let (sender, inbox) = channel();
        let (begun, ended, results, objects, bytes) = (0, 0, 0, 0, 0);
        let (began, keys) = (Instant::now(), HashMap::new());
        let (faults, missing) = (Vec::new(), Vec::new());
        Transfer {
            service,
            direction,
            sinks,
            sender,
            inbox,
            keys,
            begun,
            ended,
            began,
            results,
            objects,
            bytes,
            faults,
            missing,
        }
    }

    /// Begins a job of the cell `index`, about `key`.
    fn start(&mut self, index: usize, key: Key, request: TransferRequest) {
        self.keys.insert(index, key);
        let sender = std::sync::Mutex::new(self.sender.clone());
        self.begun += 1;
        self.service.start(request, move |event| {
            // Whoever has ended listens no more.
            let _ = sender.lock().unwrap_or_else(std::sync::PoisonError::into_inner).send((index, event));
        });
    }

    /// Tells how it goes until fewer jobs are under way than may be.
    fn make_room(&mut self, plan: &Plan) {
        while self.begun - self.ended >= AT_ONCE
            && let Some((index, event)) = self.next()
        {
            self.report(plan, index, event);
        }
    }

    /// Tells how it goes until all jobs have ended.
    fn wait(&mut self, plan: &Plan) {
        while let Some((index, event)) = self.next() {
            self.report(plan, index, event);
        }
    }

    /// What is told next; nothing once all jobs have ended.
    fn next(&mut self) -> Option<(usize, TransferEvent)> {
        while self.ended < self.begun {
            match self.inbox.recv_timeout(std::time::Duration::from_millis(500)) {
                Ok((index, event)) => {
                    self.ended +=
                        usize::from(!matches!(event, TransferEvent::Started { .. } | TransferEvent::Progress { .. }));
                    return Some((index, event));
                }
                Err(_) => self.sinks.tick(),
            }
        }
        None
    }

    /// What is told in the same way, whichever way files move.
    fn report(&mut self, plan: &Plan, index: usize, event: TransferEvent) {
        let Some(key) = self.keys.get(&index).copied() else { return };
        let (label, direction) = (plan.cells[index].label.clone(), self.direction);
        match event {
            TransferEvent::Started { objects, bytes } => {
                self.sinks.event(&RunEvent::Transferring { label, key, direction, objects, bytes });
            }
            TransferEvent::Progress { done, total } => {
                let (total, unit) = (Some(total), "bytes".to_owned());
                self.sinks.event(&RunEvent::Progress { label, done, total, unit });
            }
            TransferEvent::ContentFetched { objects, bytes, seconds, missing } => {
                let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
                self.moved(label, key, objects, bytes, seconds, missing);
            }
            TransferEvent::Uploaded { outcome: Ok(stats), seconds } => {
                let stats = stats.unwrap_or_default();
                self.moved(label, key, stats.objects, stats.bytes, seconds, Vec::new());
            }
            TransferEvent::Uploaded { outcome: Err(error), seconds } => {
                let remote = self.service.names().first().copied().unwrap_or_default().to_owned();
                self.moved(label, key, 0, 0, seconds, vec![format!("the remote `{remote}` {error}")]);
            }
            TransferEvent::Initialized(Some(message)) => self.sinks.event(&RunEvent::Warning { message }),
            TransferEvent::Initialized(None) | TransferEvent::RecordsFetched { .. } | TransferEvent::Status(_) => {}
        }
    }

    fn moved(&mut self, label: Label, key: Key, objects: u64, bytes: u64, seconds: f64, missing: Vec<String>) {
        self.results += usize::from(missing.is_empty());
        self.objects += objects;
        self.bytes += bytes;
        self.missing.extend(missing.iter().map(|line| format!("{label}: {line}")));
        let direction = self.direction;
        self.sinks.event(&RunEvent::Transferred { label, key, direction, objects, bytes, seconds, missing });
    }

    /// Tells the end; whether all went well.
    fn end(self) -> bool {
        let is_whole = self.faults.is_empty() && self.missing.is_empty();
        self.sinks.event(&RunEvent::TransferSummary {
            direction: self.direction,
            remotes: self.service.names().into_iter().map(str::to_owned).collect(),
            results: self.results,
            objects: self.objects,
            bytes: self.bytes,
            seconds: self.began.elapsed().as_secs_f64(),
            faults: self.faults,
            missing: self.missing,
        });
        is_whole
    }
}

/// The cells that words name; all, without any.
fn chosen(workspace: &Workspace, words: &[String]) -> Result<BTreeSet<usize>, Error> {
    let mut cells = BTreeSet::new();
    for word in words {
        cells.extend(workspace.plan.select(word)?);
    }
    if words.is_empty() {
        cells.extend(0..workspace.plan.cells.len());
    }
    Ok(cells)
}

/// Returns the sinks that show the progress of a transfer.
fn sinks(verbose: bool) -> EventSinks {
    EventSinks(vec![progress_sink(Output::Auto, verbose)])
}
