//! `cwm push` and `cwm pull`: results move to and from remotes, with the events of a run.

pub mod pull;
pub mod push;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use crate::adapters::{remote_message, run_event};
use crate::cli::{OutputStyle, TransferArguments};
use crate::events::progress_sink;
use crate::workspace::Workspace;
use cwm_core::{ExitCode, Key, Result, plural};
use cwm_engine::{Direction, EventSink, EventSinks, RunEvent};
use cwm_remote::{RemoteError, TransferEvent, TransferRequest, TransferService};

/// Requests that are pending at a time. The service carries out fewer; the bundles of the others are in memory.
const MAX_PENDING: usize = 64;

/// The pipeline of a push or a pull, the cells on the command line, the remotes, and the display of progress.
type TransferSession = (Workspace, Vec<usize>, TransferService, EventSinks);

/// Opens the pipeline and the remotes of a push or a pull.
///
/// # Errors
/// The pipeline, the store or the command line is wrong.
fn open(store: Option<&Path>, arguments: TransferArguments, to_write: bool) -> Result<TransferSession> {
    let TransferArguments { mut pipeline, mut words, remote, verbose } = arguments;
    pipeline.take_from(&mut words)?;
    let workspace = Workspace::open(store, &pipeline)?;
    let chosen = workspace.plan.select_all(&words)?;
    let service = TransferService::open(&workspace.config.remotes, remote.as_deref(), &workspace.store, to_write)?;
    let sinks = EventSinks(vec![progress_sink(OutputStyle::Auto, verbose, workspace.labels())]);
    Ok((workspace, chosen, service, sinks))
}

/// The requests of a push or a pull, and their outcome so far.
struct Transfer<'a> {
    workspace: &'a Workspace,
    service: &'a TransferService,
    direction: Direction,
    sinks: &'a mut EventSinks,
    sender: Sender<(usize, Key, TransferEvent)>,
    inbox: Receiver<(usize, Key, TransferEvent)>,
    pending: usize,
    start: Instant,
    totals: Totals,
    /// Warnings about remotes, each printed once.
    warnings: BTreeSet<String>,
    /// Remotes that did not answer, or refused, with a description of the problem.
    unavailable: BTreeMap<String, &'static str>,
}

/// The results and objects that were transferred, and those that were not.
#[derive(Default)]
struct Totals {
    results: usize,
    objects: u64,
    bytes: u64,
    /// The problems of remotes.
    errors: Vec<String>,
    /// The objects that were not transferred, with the reason.
    missing: Vec<String>,
}

impl<'a> Transfer<'a> {
    fn new(
        workspace: &'a Workspace,
        service: &'a TransferService,
        direction: Direction,
        sinks: &'a mut EventSinks,
    ) -> Self {
        let (sender, inbox) = channel();
        Transfer {
            workspace,
            service,
            direction,
            sinks,
            sender,
            inbox,
            pending: 0,
            start: Instant::now(),
            totals: Totals::default(),
            warnings: BTreeSet::new(),
            unavailable: BTreeMap::new(),
        }
    }

    /// Starts a request about `key` for the cell `index`, once fewer requests are pending than may be.
    fn start(&mut self, index: usize, key: Key, request: TransferRequest) {
        while self.pending >= MAX_PENDING {
            self.receive();
        }
        self.pending += 1;
        let sender = self.sender.clone();
        self.service.start(request, move |event| {
            // The receiver is gone once the command has failed.
            let _ = sender.send((index, key, event));
        });
    }

    /// Waits until no request is pending.
    fn wait(&mut self) {
        while self.pending > 0 {
            self.receive();
        }
    }

    /// Receives one event, if there is one in half a second.
    fn receive(&mut self) {
        match self.inbox.recv_timeout(Duration::from_millis(500)) {
            Ok((index, key, event)) => {
                self.pending -= usize::from(event.is_final());
                self.handle(index, key, event);
            }
            Err(_) => self.sinks.tick(),
        }
    }

    fn handle(&mut self, index: usize, key: Key, event: TransferEvent) {
        let label = &self.workspace.plan.cells[index].label;
        if let TransferEvent::RecordsFetched { new, errors } = event {
            // A key without a result here has none but the new ones.
            let results = self.workspace.store.actions(&key).unwrap_or_default();
            if new > 0 && results.len() > new {
                let message = format!(
                    "{} of it found on the remotes, beside the one in the store ({}); `cwm store ls --all {label}` lists them",
                    plural(new as u64, "other result", "other results"),
                    results[0].origin()
                );
                self.sinks.event(&RunEvent::Note { label: label.clone(), message });
            }
            return errors.into_iter().for_each(|error| self.warn(error));
        }
        let Some(event) = run_event(label, key, self.direction, &event) else { return };
        if let RunEvent::Transferred { objects, bytes, missing, .. } = &event {
            self.totals.results += usize::from(missing.is_empty());
            self.totals.objects += objects;
            self.totals.bytes += bytes;
            self.totals.missing.extend(missing.iter().map(|line| format!("{label}: {line}")));
        }
        self.sinks.event(&event);
    }

    /// Warns about a remote, once of each error.
    fn warn(&mut self, failed: (String, RemoteError)) {
        let message = remote_message(&failed);
        let (remote, error) = failed;
        if error.is_permanent() {
            self.unavailable.insert(remote, "refused");
        } else if !error.is_conclusive() {
            self.unavailable.insert(remote, "was not reached");
        }
        if self.warnings.insert(message.clone()) {
            // A remote that does not exist may be one of many that have the rest.
            if error != RemoteError::NotFound {
                self.totals.errors.push(message.clone());
            }
            self.sinks.warn(message);
        }
    }

    /// Describes the remotes if none of them answered.
    fn unavailable(&self) -> Option<String> {
        let problem = |name: &&str| Some(format!("the remote `{name}` {}", self.unavailable.get(*name)?));
        Some(self.service.names().iter().map(problem).collect::<Option<Vec<_>>>()?.join(", "))
    }

    /// Waits for all requests and emits the summary.
    fn end(mut self) -> ExitCode {
        self.wait();
        let Totals { results, objects, bytes, errors, missing } = self.totals;
        let is_complete = errors.is_empty() && missing.is_empty();
        self.sinks.event(&RunEvent::TransferSummary {
            direction: self.direction,
            remotes: self.service.names().into_iter().map(str::to_owned).collect(),
            results,
            objects,
            bytes,
            seconds: self.start.elapsed().as_secs_f64(),
            errors,
            missing,
        });
        if is_complete { ExitCode::OK } else { ExitCode::REMOTE }
    }
}
