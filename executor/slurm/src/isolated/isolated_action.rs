//! Runs one action in the store of a node: pulls its inputs, runs it, pushes the result, and registers it with the home store.

use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use cwm_contract::{Event, amount};

use super::RemoteStoreConfig;
use super::node_store::NodeStore;
use super::staged_files::{self, StagedFiles};
use cwm_action::{
    ActionFailure, ActionFailureKind, ActionFile, ActionMessage, ActionOutcome, ExecProcess, has_checkpoint,
    is_cancelled_within, log_to, source_key,
};
use cwm_core::{Backoff, Error, OutputDigests, list_some, plural};
use cwm_remote::{FetchStats, RemoteStatus, ResultBundle, TransferEvent, TransferRequest, TransferService};
use cwm_store::{ActionRecord, DigestCache, Store, WorkFolder, host_name};

/// The pause between two checks for a request to stop.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The number of inputs that a message lists.
const MAX_LISTED: usize = 5;

/// A log that is longer stays with the remote.
const LARGEST_LOG: u64 = 16 << 20;

/// The time for which the push of a finished result is tried, as a multiple of the remote's `timeout`.
const UPLOAD_TIMEOUT_FACTOR: u32 = 10;

/// The longest pause between two tries.
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// Performs an action of the home store at `root` in a store of this node.
///
/// # Errors
/// The action failed, or a store cannot be used.
pub fn perform(
    process: &ExecProcess<'_>,
    root: &Path,
    config: &RemoteStoreConfig,
) -> Result<ActionOutcome, ActionFailure> {
    let home = Store::at(root)?;
    let Some((_lock, action)) = process.begin(&home, &DigestCache::of_store(&home))? else {
        return Ok(ActionOutcome::CacheHit);
    };
    // Pulling is part of the attempt: a remote that cannot be reached now may answer the next attempt.
    process.messages.send(&ActionMessage::Start);
    let home_work = home.work_folder(process.key);
    process.prepare(&home_work, &home_work.log())?;
    let node = NodeStore::open(config.scratch.as_deref(), &home)?;
    // Keeps `gc` from a persistent store: no root names what is pulled.
    let _shared = node.store.lock_shared(|_| {})?;
    let digests = DigestCache::of_store(&node.store);
    IsolatedAction { process, config, home: &home, home_work: &home_work, action, node: &node, digests }.run()
}

/// An action, its home store, and the store of this node in which it runs.
struct IsolatedAction<'a> {
    process: &'a ExecProcess<'a>,
    config: &'a RemoteStoreConfig,
    home: &'a Store,
    home_work: &'a WorkFolder,
    action: ActionFile,
    node: &'a NodeStore,
    digests: DigestCache,
}

impl IsolatedAction<'_> {
    fn run(&self) -> Result<ActionOutcome, ActionFailure> {
        let (ExecProcess { registry, key, .. }, own) = (*self.process, &self.node.store);
        // An action that is known by its URL alone fetches anew.
        if !self.action.force
            && !source_key::has_unpinned_url(&self.action.components)
            && let Some(outcome) = self.reuse_existing()?
        {
            return Ok(outcome);
        }
        self.pull_inputs()?;
        // The result may refer to these files until it is pushed.
        let staged = StagedFiles::of(own, &self.action)?;
        let work = own.work_folder(key);
        let action = ActionFile::read(self.home_work)?;
        work.write_action(&staged.with_staged_paths(registry, action)?)?;
        let log = self.home_work.log();
        let outcome = self.process.perform(own.root(), Some(&log));
        // Recording the log has redirected the output.
        log_to(&log)?;
        match &outcome {
            Ok(ActionOutcome::NewResult(outputs)) => self.publish_result(Some(outputs))?,
            Ok(ActionOutcome::CacheHit) => self.publish_result(None)?,
            Err(_) if self.node.is_persistent && has_checkpoint(&work)? => self.home_work.mark_remote_checkpoints()?,
            // A check is refused before it becomes a job.
            Ok(ActionOutcome::Comparison(_)) | Err(_) => {}
        }
        outcome.map_err(|failure| ActionFailure {
            message: staged.with_original_paths(&failure.message),
            hint: failure.hint.map(|hint| staged.with_original_paths(&hint)),
            ..failure
        })
    }

    fn pull_inputs(&self) -> Result<(), ActionFailure> {
        let wanted = staged_files::content(&self.action);
        for output in wanted.values() {
            self.node.store.quarantine_changed(output, &self.digests)?;
        }
        let event = self.transfer("pulling", TransferRequest::FetchContent(wanted), true)?;
        let TransferEvent::ContentFetched(FetchStats { missing, .. }) = event else {
            return Ok(());
        };
        if missing.is_empty() {
            return Ok(());
        }
        let hint = "`retry:` of the stage and `cwm run` try it again; if the remote's copy is missing or damaged, repair it with \
                    `cwm push --force` from a store that has it, or compute it again with `cwm run --force`";
        let message = format!("its inputs could not be fetched: {}", list_some(&missing, MAX_LISTED));
        Err(ActionFailure::new(ActionFailureKind::System, message).hint(hint))
    }

    /// Uses a result that an earlier attempt left in the own store, which only has to be pushed, or that a remote has.
    fn reuse_existing(&self) -> Result<Option<ActionOutcome>, ActionFailure> {
        let (key, own) = (self.action.key, &self.node.store);
        self.transfer("looking", TransferRequest::FetchRecords(vec![key]), true)?;
        for record in own.candidates(&key, None)? {
            for output in record.outputs.values() {
                own.quarantine_changed(output, &self.digests)?;
            }
            if own.missing(&record, &self.digests)?.is_empty() {
                self.publish_result(Some(&record.output_digests()))?;
                return Ok(Some(ActionOutcome::CacheHit));
            }
            let request = TransferRequest::Stat(key, Some(record.output_digests()));
            if let TransferEvent::Status(found) = self.transfer("looking", request, true)?
                && found.iter().any(|(_, found)| *found == Ok(RemoteStatus::Complete))
            {
                self.register_with_home_store(&record)?;
                cwm_action::remove(self.home_work);
                return Ok(Some(ActionOutcome::CacheHit));
            }
        }
        Ok(None)
    }

    /// Pushes the result in the own store, with these outputs if there are several, and registers it with the home store.
    fn publish_result(&self, outputs: Option<&OutputDigests>) -> Result<(), ActionFailure> {
        let (own, home) = (&self.node.store, self.home);
        let gone = || Error::internal("the result that was just recorded is missing");
        let requested = own.preferred_record(&self.action.key, outputs)?.ok_or_else(gone)?;
        if source_key::has_unpinned_url(&requested.components) {
            let pinned = source_key::with_checksums(&requested.components, &requested.fetched).ok_or_else(gone)?;
            let record = own.preferred_record(&pinned.key(), Some(&requested.output_digests()))?.ok_or_else(gone)?;
            self.push(&record)?;
            self.register_with_home_store(&record)?;
            let bytes = own.shared_record(&requested)?;
            let _shared = home.lock_shared(|_| {})?;
            home.import_latest(&requested.key, &requested, bytes, self.config.push_remote())?;
        } else {
            self.push(&requested)?;
            self.register_with_home_store(&requested)?;
        }
        cwm_action::remove(self.home_work);
        Ok(())
    }

    /// Pushes a result. The work is done, so that a remote that cannot be reached is tried again for long.
    fn push(&self, record: &ActionRecord) -> Result<(), ActionFailure> {
        let cancellation = self.process.cancellation;
        let timeout = self.config.remotes.first().map_or(Duration::ZERO, |to| to.timeout * UPLOAD_TIMEOUT_FACTOR);
        let (began, mut backoff) = (Instant::now(), Backoff::new(Duration::from_secs(1), MAX_BACKOFF));
        loop {
            let bundle = ResultBundle::of(&self.node.store, &self.digests, record, true)?;
            if !bundle.has_files {
                let error = Error::store("files of its result are gone before they were pushed");
                return Err(error.hint("is something else deleting from the store of the node?").into());
            }
            let request = TransferRequest::Upload { bundle: Box::new(bundle), force: self.action.force };
            // A finished result is not given up when the job is stopped.
            let TransferEvent::Uploaded(Err((remote, error))) = self.transfer("pushing", request, false)? else {
                return Ok(());
            };
            let is_stopped = cancellation.is_cancelled();
            if !error.is_transient() || began.elapsed() >= timeout || is_stopped {
                let kind = if is_stopped { ActionFailureKind::Cancelled } else { ActionFailureKind::System };
                let message = format!("its result is computed, and could not be pushed: the remote `{remote}` {error}");
                let (host, folder) = (host_name(), self.node.store.root().display());
                let hint = match self.node.is_persistent {
                    true => format!("it stays in {folder} on {host}: an attempt that finds it there only pushes it"),
                    false => {
                        "it is deleted with the job; a `scratch` under [slurm] in cwm.toml would keep it".to_owned()
                    }
                };
                return Err(ActionFailure::new(kind, message).hint(hint));
            }
            let _ = writeln!(std::io::stderr(), "not pushed yet: the remote `{remote}` {error}");
            is_cancelled_within(cancellation, backoff.next_delay());
        }
    }

    /// Makes a transfer, and waits for its final event. Progress is reported; a request to stop is heeded if `may_cancel`.
    fn transfer(
        &self,
        doing: &str,
        request: TransferRequest,
        may_cancel: bool,
    ) -> Result<TransferEvent, ActionFailure> {
        let ExecProcess { messages, cancellation, .. } = self.process;
        let service = TransferService::open(&self.config.remotes, None, &self.node.store, false)?;
        let (sender, inbox) = channel();
        service.start(request, move |event| {
            // Nobody receives after a cancellation.
            let _ = sender.send(event);
        });
        loop {
            match inbox.recv_timeout(CHECK_INTERVAL) {
                Ok(TransferEvent::Started { objects: 0, .. }) | Err(RecvTimeoutError::Timeout) => {}
                Ok(TransferEvent::Started { objects, bytes }) => {
                    let (files, bytes) = (plural(objects, "file", "files"), amount::format_bytes(bytes));
                    messages.send(&ActionMessage::Event(Event::Activity(format!("{doing} {files}, {bytes}"))));
                }
                Ok(TransferEvent::Progress { done, total }) => {
                    let progress = Event::Progress { done, total: Some(total), unit: "bytes".to_owned() };
                    messages.send(&ActionMessage::Event(progress));
                }
                Ok(TransferEvent::Initialized(message)) => {
                    let _ = writeln!(std::io::stderr(), "{message}");
                }
                Ok(event) => return Ok(event),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::internal("a transfer ended without its final event").into());
                }
            }
            if may_cancel && cancellation.is_cancelled() {
                return Err(ActionFailure::cancelled());
            }
        }
    }

    /// Puts the record, whose files are with a remote, and the log into the home store.
    fn register_with_home_store(&self, record: &ActionRecord) -> Result<(), Error> {
        let bytes = self.node.store.shared_record(record)?;
        let _shared = self.home.lock_shared(|_| {})?;
        if let Some(log) = record.log
            && self.node.store.object_size(&log)?.is_some_and(|size| size <= LARGEST_LOG)
        {
            let path = self.node.store.object_path(&log);
            self.home.ingest(&path, &mut self.node.store.read_checked(&log)?.as_slice())?;
        }
        let remote = self.config.push_remote();
        self.home.import_records(&record.key, vec![(record.clone(), bytes)], remote)?;
        self.home.mark_remote_only(record, &DigestCache::of_store(self.home), remote)?;
        Ok(())
    }
}
