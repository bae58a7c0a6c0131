//! Runs one action in the store of a node: pulls its inputs, runs it, pushes the result, and registers it with the home store.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use cwm_contract::Cancellation;

use super::RemoteStoreConfig;
use super::blocking_transfers::BlockingTransfers;
use super::node_store::NodeStore;
use super::staged_files::{self, StagedFiles};
use cwm_action::source_key;
use cwm_action::{
    ActionFailure, ActionFailureKind, ActionFile, ActionMessage, ActionOutcome, AttemptOptions, MessageWriter,
    already_recorded, has_checkpoint, lock_action, perform as perform_here,
};
use cwm_core::{Backoff, Digest, Error, Key, Registry};
use cwm_remote::{RemoteError, RemoteStatus, ResultBundle, TransferEvent, TransferRequest};
use cwm_store::external_files::DigestCache;
use cwm_store::{ActionRecord, Machine, Store, WorkFolder, check_record};

/// A log that is longer stays with the remote.
const LARGEST_LOG: u64 = 16 << 20;

/// The time for which the push of a finished result is tried, as a multiple of the remote's `timeout`.
const UPLOAD_TIMEOUT_FACTOR: u32 = 10;

/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Does the action `key` of the home store at `root` in a store of this node.
///
/// # Errors
/// The action failed, or a store cannot be used.
pub fn perform(
    registry: &Registry,
    root: &Path,
    key: &Key,
    terms: &AttemptOptions,
    messages: &MessageWriter,
    cancellation: &Cancellation,
    config: &RemoteStoreConfig,
) -> Result<ActionOutcome, ActionFailure> {
    let home = Store::at(root)?.assume_initialized();
    let files = DigestCache::of_store(&home);
    let home_work = home.work(key);
    let _lock = lock_action(&home, key, terms, messages, cancellation)?;
    let recorded = home.available(key, None, &files)?.is_some();
    let action = match ActionFile::read(&home_work, key) {
        Ok(action) => action,
        // An earlier start of this job was done, and took the folder away.
        Err(_) if home.preferred_record(key, None)?.is_some() => return Ok(already_recorded(&home_work)),
        Err(error) => return Err(error.into()),
    };
    if recorded && !action.force {
        return Ok(already_recorded(&home_work));
    }
    // What precedes the work is part of the attempt: a remote that cannot be reached now may answer the next attempt.
    messages.send(&ActionMessage::Start);
    home_work.prepare(terms.attempt)?;
    messages.log_to(&home_work.log())?;
    let node = NodeStore::open(config.scratch.as_deref(), &home)?;
    let own = &node.store;
    // Keeps `gc` from a persistent store: no root names what is pulled.
    let _shared = own.lock_shared(|_| {})?;
    let isolated = IsolatedAction {
        registry,
        home: &home,
        home_work: &home_work,
        action,
        own,
        is_persistent: node.is_persistent,
        transfers: BlockingTransfers { config, store: own, messages, cancellation },
        files: DigestCache::of_store(own),
    };
    isolated.run(terms)
}

/// An action, its home store, and the store of this node in which it runs.
struct IsolatedAction<'a> {
    registry: &'a Registry,
    home: &'a Store,
    home_work: &'a WorkFolder,
    action: ActionFile,
    own: &'a Store,
    /// True if the next job on this node finds the own store.
    is_persistent: bool,
    transfers: BlockingTransfers<'a>,
    files: DigestCache,
}

impl IsolatedAction<'_> {
    fn run(&self, terms: &AttemptOptions) -> Result<ActionOutcome, ActionFailure> {
        // An action that is known by its URL alone fetches anew.
        if !self.action.force
            && !source_key::has_unpinned_url(&self.action.components)
            && let Some(outcome) = self.reuse_existing()?
        {
            return Ok(outcome);
        }
        let BlockingTransfers { messages, cancellation, .. } = self.transfers;
        let wanted = staged_files::content(&self.action);
        for output in wanted.values() {
            self.own.quarantine_changed(output, &self.files)?;
        }
        match self.transfers.run_cancellable("pulling", TransferRequest::FetchContent(wanted))? {
            None => return Err(ActionFailure::cancelled()),
            Some(TransferEvent::ContentFetched { missing, .. }) if !missing.is_empty() => {
                let reached = missing.iter().all(|object| object.all_remotes_answered);
                let words: Vec<String> = missing.iter().take(5).map(ToString::to_string).collect();
                let more = missing.len().saturating_sub(words.len());
                let more = if more > 0 { format!("; and {more} more") } else { String::new() };
                let message = format!("what it reads could not be pulled: {}{more}", words.join("; "));
                let hint = match reached {
                    false => "`retry:` of the stage tries it again; so does `cwm run`",
                    true => {
                        "`cwm push --force` of what made it, where its files are, mends the remote; or `cwm run --force`"
                    }
                };
                return Err(ActionFailure::new(ActionFailureKind::System, message).hint(hint));
            }
            Some(_) => {}
        }
        // The result may refer to these files until it is pushed.
        let staged = StagedFiles::of(self.own, &self.action)?;
        let work = self.own.work(&self.action.key);
        let action = ActionFile::read(self.home_work, &self.action.key)?;
        work.write_action(&staged.with_staged_paths(self.registry, action)?)?;
        let log = self.home_work.log();
        let outcome =
            perform_here(self.registry, self.own.root(), &self.action.key, terms, messages, cancellation, Some(&log));
        // Recording the log has redirected the output.
        messages.log_to(&log)?;
        match &outcome {
            Ok(ActionOutcome::NewResult(outputs)) => self.publish_result(Some(outputs))?,
            Ok(ActionOutcome::CacheHit) => self.publish_result(None)?,
            Ok(ActionOutcome::Comparison(_)) => {
                return Err(Error::internal("a job that does not read the run's store cannot check").into());
            }
            Err(_) if self.is_persistent && has_checkpoint(&work)? => self.home_work.mark_checkpoints_elsewhere()?,
            Err(_) => {}
        }
        outcome.map_err(|failure| ActionFailure {
            message: staged.with_original_paths(&failure.message),
            hint: failure.hint.map(|hint| staged.with_original_paths(&hint)),
            ..failure
        })
    }

    /// Uses a result that an earlier attempt left in the own store, which only has to be pushed, or that a remote has.
    fn reuse_existing(&self) -> Result<Option<ActionOutcome>, ActionFailure> {
        let key = self.action.key;
        if self.transfers.run_cancellable("looking", TransferRequest::FetchRecords(vec![key]))?.is_none() {
            return Err(ActionFailure::cancelled());
        }
        for record in self.own.candidates(&key, None)? {
            for output in record.outputs.values() {
                self.own.quarantine_changed(output, &self.files)?;
            }
            if self.own.missing(&record, &self.files)?.is_empty() {
                self.publish_result(Some(&record.output_digests()))?;
                return Ok(Some(ActionOutcome::CacheHit));
            }
            let is_whole = match self
                .transfers
                .run_cancellable("looking", TransferRequest::Stat(key, Some(record.output_digests())))?
            {
                Some(TransferEvent::Status(found)) => {
                    found.iter().any(|(_, found)| *found == Ok(RemoteStatus::Complete))
                }
                Some(_) => false,
                None => return Err(ActionFailure::cancelled()),
            };
            if is_whole {
                self.register_with_home_store(&record)?;
                return Ok(Some(already_recorded(self.home_work)));
            }
        }
        Ok(None)
    }

    /// Pushes the result in the own store, with these outputs if there are several, and registers it with the home store.
    fn publish_result(&self, outputs: Option<&BTreeMap<String, Digest>>) -> Result<(), ActionFailure> {
        let gone = || Error::internal("what was just recorded is not there");
        let requested = self.own.preferred_record(&self.action.key, outputs)?.ok_or_else(gone)?;
        let record = match source_key::has_unpinned_url(&requested.components) {
            false => requested.clone(),
            true => {
                let settled = source_key::with_checksums(&requested.components, &requested.fetched).ok_or_else(gone)?;
                self.own.preferred_record(&settled.key(), Some(&requested.output_digests()))?.ok_or_else(gone)?
            }
        };
        self.push(&record)?;
        self.register_with_home_store(&record)?;
        if requested.key != record.key {
            let bytes = self.own.shared_record(&requested)?;
            let _shared = self.home.lock_shared(|_| {})?;
            self.home.import_latest(&requested.key, &requested, bytes, self.transfers.config.push_remote())?;
        }
        if let Err(error) = self.home_work.remove() {
            let _ = writeln!(std::io::stderr(), "the work folder stays: {error}");
        }
        Ok(())
    }

    /// Pushes a result. The work is done, so that a remote that cannot be reached is tried again for long.
    fn push(&self, record: &ActionRecord) -> Result<(), ActionFailure> {
        let to = self.transfers.config.remotes.first();
        let timeout = to.map_or(Duration::ZERO, |remote| remote.timeout * UPLOAD_TIMEOUT_FACTOR);
        let (began, mut backoff) = (Instant::now(), Backoff::new(Duration::from_secs(1), LONGEST_PAUSE));
        loop {
            let bundle = ResultBundle::of(self.own, &self.files, record, true)?;
            if !bundle.has_files {
                let error = Error::store("files of its result are gone before they were pushed");
                return Err(error.hint("is something else deleting from the store of the node?").into());
            }
            let request = TransferRequest::Upload { bundle: Box::new(bundle), force: self.action.force };
            let error = match self.transfers.run_to_completion("pushing", request)? {
                TransferEvent::Uploaded { outcome: Err(error), .. } => error,
                _ => return Ok(()),
            };
            let is_stopped = self.transfers.cancellation.is_cancelled();
            if !error.is_transient() || began.elapsed() >= timeout || is_stopped {
                return Err(self.not_pushed(&error, is_stopped));
            }
            let _ = writeln!(
                std::io::stderr(),
                "not pushed yet: the remote `{}` {}",
                self.transfers.config.push_remote(),
                error
            );
            let until = Instant::now() + backoff.pause();
            while Instant::now() < until && !self.transfers.cancellation.is_cancelled() {
                sleep(Duration::from_millis(100));
            }
        }
    }

    fn not_pushed(&self, error: &RemoteError, is_stopped: bool) -> ActionFailure {
        let to = self.transfers.config.push_remote();
        let message = format!("its result is made, and could not be pushed: the remote `{to}` {}", error);
        let hint = match self.is_persistent {
            true => {
                let (host, folder) = (Machine::here().host, self.own.root().display().to_string());
                format!("it stays in {folder} on {host}: an attempt that finds it there only pushes it")
            }
            false => {
                "it goes with the job; with `scratch` under [slurm] in cwm.toml the next attempt would find it".into()
            }
        };
        let kind = if is_stopped { ActionFailureKind::Cancelled } else { ActionFailureKind::System };
        ActionFailure::new(kind, message).hint(hint)
    }

    /// Puts the record, whose files are with a remote, and the log into the home store.
    fn register_with_home_store(&self, record: &ActionRecord) -> Result<(), Error> {
        let bytes = self.own.shared_record(record)?;
        let checked = check_record(&record.key, &bytes)
            .map_err(|what| Error::internal(format!("the record of {} {what}", record.label)))?;
        let _shared = self.home.lock_shared(|_| {})?;
        if let Some(log) = record.log
            && self.own.object_size(&log)?.is_some_and(|size| size <= LARGEST_LOG)
        {
            self.home.import_file(&log, &self.own.object_path(&log))?;
        }
        let remote = self.transfers.config.push_remote();
        self.home.import_records(&record.key, vec![(checked, bytes)], remote)?;
        self.home.mark_remote_only(record, &DigestCache::of_store(self.home), remote)?;
        Ok(())
    }
}
