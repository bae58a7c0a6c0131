//! One action, away: found, or done and brought home.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use cwm_contract::{Cancellation, Failure};

use super::Away;
use super::courier::Courier;
use super::ground::Ground;
use super::mirror::{self, Mirror};
use cwm_action::brought;
use cwm_action::streams::Lines;
use cwm_action::{
    ActionFile, FailedKind, Line, Outcome, Terms, already_recorded, goes_on, locked, perform as perform_here, stopped,
};
use cwm_core::digest::{Digest, Key};
use cwm_core::error::Error;
use cwm_core::registry::Registry;
use cwm_remote::{Fault, Job, Parcel, Presence, Told};
use cwm_store::outside::Files;
use cwm_store::{ActionRecord, Machine, Store, WorkFolder, check_record};

/// A log that is longer stays with the remote.
const LARGEST_LOG: u64 = 16 << 20;

/// How many times the `timeout` of the remote a finished result waits for it.
const PATIENCE: u32 = 10;

/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A failure, or nothing if it went well.
type Went = Result<(), (FailedKind, Failure)>;

/// Does the action `key`, which the store at `root` asks for, in a store of this node.
///
/// # Errors
/// A store cannot be used.
pub fn perform(
    registry: &Registry,
    root: &Path,
    key: &Key,
    terms: &Terms,
    lines: &Lines,
    cancellation: &Cancellation,
    away: &Away,
) -> Result<Outcome, Error> {
    let home = Store::at(root)?.seen_whole();
    let files = Files::of_store(&home);
    let asked = home.work(key);
    let Some(_lock) = locked(&home, key, terms, lines, cancellation)? else { return Ok(stopped()) };
    let recorded = home.available(key, None, &files)?.is_some();
    let action = match ActionFile::read(&asked, key) {
        Ok(action) => action,
        // An earlier start of this job was done, and took the folder away.
        Err(_) if home.recorded(key, None)?.is_some() => return Ok(already_recorded(&asked)),
        Err(error) => return Err(error),
    };
    if recorded && !action.force {
        return Ok(already_recorded(&asked));
    }
    // What comes before the work is part of the attempt: a remote that is not reached may be the next time.
    lines.send(&Line::Started);
    if terms.attempt > 1 {
        asked.prepare_again()?
    } else {
        asked.prepare()?
    }
    lines.log_to(&asked.log())?;
    let ground = Ground::open(away.scratch.as_deref(), &home)?;
    let own = &ground.store;
    // Against a `gc` of a store that stays: what is pulled is named by nothing.
    let _shared = own.lock_shared(|_| {})?;
    let courier = Courier { away, store: own, lines, cancellation };
    let errand = Errand {
        registry,
        home: &home,
        asked: &asked,
        action,
        own,
        stays: ground.stays,
        courier,
        files: Files::of_store(own),
    };
    errand.run(terms)
}

struct Errand<'a> {
    registry: &'a Registry,
    home: &'a Store,
    asked: &'a WorkFolder,
    action: ActionFile,
    own: &'a Store,
    /// Whether the own store is there for the next job.
    stays: bool,
    courier: Courier<'a>,
    files: Files,
}

impl Errand<'_> {
    fn run(&self, terms: &Terms) -> Result<Outcome, Error> {
        // Of what is known by its URL only nobody wants what some job fetched once.
        if !self.action.force
            && !brought::is_open(&self.action.components)
            && let Some(outcome) = self.found()?
        {
            return Ok(outcome);
        }
        let Courier { lines, cancellation, .. } = self.courier;
        let wanted = mirror::content(&self.action);
        for output in wanted.values() {
            self.own.set_changed_aside(output, &self.files)?;
        }
        match self.courier.ask("pulling", Job::Content(wanted))? {
            None => return Ok(stopped()),
            Some(Told::Files(_, _, _, lacks)) if !lacks.is_empty() => {
                let reached = lacks.iter().all(|lack| lack.reached);
                let words: Vec<String> = lacks.iter().take(5).map(ToString::to_string).collect();
                let more = lacks.len().saturating_sub(words.len());
                let more = if more > 0 { format!("; and {more} more") } else { String::new() };
                let message = format!("what it reads could not be pulled: {}{more}", words.join("; "));
                let hint = match reached {
                    false => "`retry:` of the stage tries it again; so does `cwm run`",
                    true => {
                        "`cwm push --force` of what made it, where its files are, mends the remote; or `cwm run --force`"
                    }
                };
                return Ok(Outcome::Failed(FailedKind::System, Failure::system(message).hint(hint)));
            }
            Some(_) => {}
        }
        // It holds what the result may refer to until that is pushed.
        let mirror = Mirror::of(self.own, &self.action)?;
        let work = self.own.work(&self.action.key);
        let action = ActionFile::read(self.asked, &self.action.key)?;
        work.write_action(&mirror.relocated(self.registry, action)?)?;
        let log = self.asked.log();
        let outcome =
            perform_here(self.registry, self.own.root(), &self.action.key, terms, lines, cancellation, Some(&log))?;
        // It was led elsewhere before the log was recorded.
        lines.log_to(&log)?;
        Ok(match outcome {
            Outcome::Recorded(outputs) => match self.bring(Some(&outputs))? {
                Ok(()) => Outcome::Recorded(outputs),
                Err((kind, failure)) => Outcome::Failed(kind, failure),
            },
            Outcome::AlreadyRecorded => match self.bring(None)? {
                Ok(()) => Outcome::AlreadyRecorded,
                Err((kind, failure)) => Outcome::Failed(kind, failure),
            },
            Outcome::Failed(kind, mut failure) => {
                failure.message = mirror.as_known(&failure.message);
                failure.hint = failure.hint.map(|hint| mirror.as_known(&hint));
                if self.stays && goes_on(&work)? {
                    self.asked.note_kept_elsewhere()?;
                }
                Outcome::Failed(kind, failure)
            }
            Outcome::Checked(_) => {
                return Err(Error::internal("a job that does not read the run's store cannot check"));
            }
        })
    }

    /// What an earlier start of this job, or somebody else, has made: in the own store, where it only has to be pushed, or
    /// with a remote.
    fn found(&self) -> Result<Option<Outcome>, Error> {
        let key = self.action.key;
        // Whatever cannot be asked now may be asked for content in a moment.
        if self.courier.ask("looking", Job::Records(vec![key]))?.is_none() {
            return Ok(Some(stopped()));
        }
        for record in self.own.candidates(&key, None)? {
            for output in record.outputs.values() {
                self.own.set_changed_aside(output, &self.files)?;
            }
            if self.own.missing(&record, &self.files)?.is_empty() {
                return Ok(Some(match self.bring(Some(&record.output_digests()))? {
                    Ok(()) => Outcome::AlreadyRecorded,
                    Err((kind, failure)) => Outcome::Failed(kind, failure),
                }));
            }
            let is_whole = match self.courier.ask("looking", Job::Look(key, Some(record.output_digests())))? {
                Some(Told::Looked(found)) => found.iter().any(|(_, found)| *found == Ok(Presence::Whole)),
                Some(_) => false,
                None => return Ok(Some(stopped())),
            };
            if is_whole {
                self.deliver(&record)?;
                return Ok(Some(already_recorded(self.asked)));
            }
        }
        Ok(None)
    }

    /// Pushes the result that the own store has, with these outputs if there are several, and has its record go home.
    fn bring(&self, outputs: Option<&BTreeMap<String, Digest>>) -> Result<Went, Error> {
        let gone = || Error::internal("what was just recorded is not there");
        let asked_for = self.own.recorded(&self.action.key, outputs)?.ok_or_else(gone)?;
        let record = match brought::is_open(&asked_for.components) {
            false => asked_for.clone(),
            true => {
                let settled = brought::settled(&asked_for.components, &asked_for.fetched).ok_or_else(gone)?;
                self.own.recorded(&settled.key(), Some(&asked_for.output_digests()))?.ok_or_else(gone)?
            }
        };
        if let Err(failed) = self.push(&record)? {
            return Ok(Err(failed));
        }
        self.deliver(&record)?;
        if asked_for.key != record.key {
            let bytes = self.own.shared_record(&asked_for)?;
            let _shared = self.home.lock_shared(|_| {})?;
            self.home.adopt_last(&asked_for.key, &asked_for, bytes, self.courier.away.to())?;
        }
        if let Err(error) = self.asked.remove() {
            let _ = writeln!(std::io::stderr(), "the work folder stays: {error}");
        }
        Ok(Ok(()))
    }

    /// Pushes a result; a remote that cannot be reached is waited for, since the work is done.
    fn push(&self, record: &ActionRecord) -> Result<Went, Error> {
        let to = self.courier.away.remotes.first();
        let patience = to.map_or(Duration::ZERO, |remote| remote.timeout * PATIENCE);
        let (began, mut pause) = (Instant::now(), Duration::from_secs(1));
        loop {
            let parcel = Parcel::of(self.own, &self.files, record, true)?;
            if !parcel.has_files {
                return Err(Error::store("files of its result are gone before they were pushed")
                    .hint("is something else deleting from the store of the node?"));
            }
            let job = Job::Push(Box::new(parcel), self.action.force);
            let fault = match self.courier.insist("pushing", job)? {
                Told::Pushed(Err(fault), _) => fault,
                _ => return Ok(Ok(())),
            };
            let is_stopped = self.courier.cancellation.is_cancelled();
            if !fault.may_pass() || began.elapsed() >= patience || is_stopped {
                return Ok(Err(self.not_pushed(&fault, is_stopped)));
            }
            let _ = writeln!(
                std::io::stderr(),
                "not pushed yet: the remote `{}` {}",
                self.courier.away.to(),
                fault.words()
            );
            let until = Instant::now() + pause;
            while Instant::now() < until && !self.courier.cancellation.is_cancelled() {
                sleep(Duration::from_millis(100));
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn not_pushed(&self, fault: &Fault, is_stopped: bool) -> (FailedKind, Failure) {
        let to = self.courier.away.to();
        let message = format!("its result is made, and could not be pushed: the remote `{to}` {}", fault.words());
        let hint = match self.stays {
            true => {
                let (host, folder) = (Machine::here().host, self.own.root().display().to_string());
                format!("it stays in {folder} on {host}: an attempt that finds it there only pushes it")
            }
            false => {
                "it goes with the job; with `scratch` under [slurm] in cwm.toml the next attempt would find it".into()
            }
        };
        let kind = if is_stopped { FailedKind::Cancelled } else { FailedKind::System };
        (kind, Failure::system(message).hint(hint))
    }

    /// Has a record go home whose files are with a remote; its log goes along, which people read there.
    fn deliver(&self, record: &ActionRecord) -> Result<(), Error> {
        let bytes = self.own.shared_record(record)?;
        let checked = check_record(&record.key, &bytes)
            .map_err(|what| Error::internal(format!("the record of {} {what}", record.label)))?;
        let _shared = self.home.lock_shared(|_| {})?;
        if let Some(log) = record.log
            && self.own.object_size(&log)?.is_some_and(|size| size <= LARGEST_LOG)
        {
            self.home.copy_in(&log, &self.own.object_path(&log))?;
        }
        let remote = self.courier.away.to();
        self.home.adopt(&record.key, vec![(checked, bytes)], remote)?;
        self.home.has_departed(record, &Files::of_store(self.home), remote)?;
        Ok(())
    }
}
