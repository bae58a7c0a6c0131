//! Sends all questions that have no answer, over many connections at once.

use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cwm_contract::{Cancellation, Context, Failure};
use cwm_journal::Journal;
use cwm_web::{Settings, agent};

use super::attempt::{Connection, located};
use super::key::ServerKey;
use super::models;
use super::rate_limit::RateLimit;
use super::request::Requests;
use super::spending::{Prices, check_budget, check_cost};
use super::worker::{Message, SharedState, work};
use crate::config::Config;
use crate::entry::Entry;
use crate::question::Question;

/// The least time between two notes on attempts; the others are in the log.
const NOTE_INTERVAL: Duration = Duration::from_secs(5);

/// The most bytes of an answer for each token, and as many more for whatever else comes.
const BYTES_A_TOKEN: u64 = 32;
const MORE_BYTES: u64 = 1 << 20;

/// Sends the questions without an answer in the journal, which keeps each answer as it comes, and each question that has
/// none after all attempts. Its entries so far cost `spent` dollars.
///
/// # Errors
/// The server refuses, a question has no answer after all attempts, the budget is spent, an operation on the disk fails, or
/// the stage was cancelled.
pub fn send_questions(
    context: &Context,
    config: &Config,
    settings: &Settings,
    requests: Requests,
    questions: &[Question],
    (journal, spent): (&Journal<Entry>, f64),
) -> Result<(), Failure> {
    let open: Vec<(usize, Question)> =
        journal.missing().into_iter().map(|index| (index, questions[index].clone())).collect();
    if open.is_empty() {
        return Ok(());
    }
    let mut kept = (questions.len() - open.len()) as u64;
    let mut done = kept;
    check_budget(config, spent, open.len() as u64).map_err(|failure| with_hint(failure, kept))?;
    let (total, connections) = (questions.len() as u64, (config.connections as usize).min(open.len()));
    let shared = Arc::new(share(config, settings, requests, open, spent)?);
    context.activity("looking at the server");
    let model = config.model.as_deref().unwrap_or_default();
    models::check(context, &shared.connection, model, &config.key_variable)?;
    context.activity("asking");
    let ending = CancelOnDrop(shared.ending.clone());
    let (sender, messages) = sync_channel(connections);
    for _ in 0..connections {
        let (shared, sender) = (shared.clone(), sender.clone());
        // They end with their receiver, also where a server keeps them waiting.
        std::thread::Builder::new().spawn(move || work(&shared, &sender))?;
    }
    drop(sender);
    let mut failure = None;
    let mut noted: Option<Instant> = None;
    let mut note = |message: String| {
        if noted.is_some_and(|at| at.elapsed() < NOTE_INTERVAL) {
            return context.log(message);
        }
        noted = Some(Instant::now());
        context.note(message);
    };
    loop {
        if let Err(cancelled) = context.check_cancelled() {
            keep(&messages, journal)?;
            return Err(cancelled);
        }
        match messages.recv_timeout(Duration::from_millis(100)) {
            Ok(Message::Answer(index, entry)) => {
                journal.push(index, &entry)?;
                (done, kept) = (done + 1, kept + 1);
                context.progress(done, Some(total), "questions");
                if let Err(unknown) = check_cost(config, &entry) {
                    failure.get_or_insert(unknown);
                    ending.0.cancel();
                }
            }
            Ok(Message::Unanswered(index, entry, found)) => {
                journal.push(index, &entry)?;
                done += 1;
                if shared.counts_faults {
                    note(found.message);
                    context.progress(done, Some(total), "questions");
                } else {
                    let found = found.hint("`on_error: count` leaves such questions unanswered");
                    failure.get_or_insert(located(&shared.connection, found));
                }
            }
            Ok(Message::Failed(found)) => {
                failure.get_or_insert(found);
            }
            Ok(Message::Note(message)) => note(message),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let failure = failure.or_else(|| check_budget(config, shared.spent(), total - done).err());
    match failure {
        Some(failure) => Err(with_hint(failure, kept)),
        None => Ok(()),
    }
}

/// Keeps the answers that have come: they are paid for.
fn keep(messages: &Receiver<Message>, journal: &Journal<Entry>) -> Result<(), Failure> {
    for message in messages.try_iter() {
        if let Message::Answer(index, entry) | Message::Unanswered(index, entry, _) = message {
            journal.push(index, &entry)?;
        }
    }
    Ok(())
}

fn share(
    config: &Config,
    settings: &Settings,
    requests: Requests,
    questions: Vec<(usize, Question)>,
    spent: f64,
) -> Result<SharedState, Failure> {
    let timeout = Duration::from_secs(config.timeout);
    let settings = Settings {
        response: timeout,
        read: timeout,
        connections: config.connections as usize,
        tries: config.attempts as u32,
        // A request that is redirected would lose its body or its key.
        redirects: 0,
        ..settings.clone()
    };
    let url = config.url.trim_end_matches('/').to_owned();
    let connection = Arc::new(Connection {
        agent: agent(&settings, &url)?,
        url,
        key: ServerKey::of_environment(&config.key_variable)?,
        longest: usize::try_from(config.max_tokens * BYTES_A_TOKEN + MORE_BYTES).unwrap_or(usize::MAX),
        timeout,
    });
    Ok(SharedState {
        questions,
        next: AtomicUsize::new(0),
        requests,
        connection,
        rate_limit: RateLimit::new(config.requests_per_minute),
        counts_faults: config.on_error == "count",
        prices: Prices::of_parameter(&config.prices),
        budget: config.budget,
        spent: Mutex::new(spent),
        settings,
        key_variable: config.key_variable.clone(),
        ending: Cancellation::default(),
    })
}

/// Ends all connections when dropped.
struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The failure with a hint at what is kept.
fn with_hint(failure: Failure, kept: u64) -> Failure {
    if kept == 0 {
        return failure;
    }
    let kept = format!("the {kept} answers so far are kept: a further run asks for the others alone");
    let hint = failure.hint.as_ref().map_or(kept.clone(), |hint| format!("{hint}; {kept}"));
    failure.hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_come_before_a_cancellation_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path().join("answers.jsonl"), 3, |_| None).unwrap();
        let (sender, messages) = sync_channel(3);
        sender.send(Message::Answer(2, Box::default())).unwrap();
        sender.send(Message::Note("note".to_owned())).unwrap();
        sender.send(Message::Answer(0, Box::default())).unwrap();
        keep(&messages, &journal).unwrap();
        assert_eq!(journal.missing(), [1]);
    }
}
