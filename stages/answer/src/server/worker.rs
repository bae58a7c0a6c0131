//! One connection: takes a question, and sends it until there is an answer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cwm_answers::FAILED;
use cwm_contract::{Cancellation, Failure};
use cwm_web::{Settings, pause};

use super::attempt::{Connection, located};
use super::models::with_key_hint;
use super::rate_limit::RateLimit;
use super::request::Requests;
use super::server_error::{ServerError, TransientError};
use super::spending::{self, Prices};
use crate::entry::Entry;
use crate::question::Question;

/// The longest wait that a server may require; after it, the attempt is made all the same.
const LONGEST_REQUIRED_WAIT: Duration = Duration::from_secs(3_600);

/// The state that all connections share.
pub struct SharedState {
    /// The questions to send, each with its number.
    pub questions: Vec<(usize, Question)>,
    /// The index of the first of them that no connection has taken.
    pub next: AtomicUsize,
    /// The maker of their bodies.
    pub requests: Requests,
    /// The connection to the server.
    pub connection: Arc<Connection>,
    /// The times at which they may be sent.
    pub rate_limit: RateLimit,
    /// True if a question without an answer is counted and does not fail the stage.
    pub counts_faults: bool,
    /// The prices of tokens.
    pub prices: Option<Prices>,
    /// Dollars after which no question is taken.
    pub budget: Option<f64>,
    /// Dollars that all answers cost so far.
    pub spent: Mutex<f64>,
    /// Attempts at each question, and the waits before them.
    pub settings: Settings,
    /// The variable of the key, for hints.
    pub key_variable: String,
    /// Set when no further request is to be sent. Answers that are under way still come.
    pub ending: Cancellation,
}

impl SharedState {
    /// Dollars that all answers cost so far.
    pub fn spent(&self) -> f64 {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_budget_spent(&self) -> bool {
        self.budget.is_some_and(|budget| self.spent() >= budget)
    }
}

/// A message of a connection.
pub enum Message {
    /// An answer, to the question of this number.
    Answer(usize, Box<Entry>),
    /// A question without an answer after all attempts: its number, its entry, and the reason.
    Unanswered(usize, Box<Entry>, Failure),
    /// A failure that ends the stage.
    Failed(Failure),
    /// A note for the user.
    Note(String),
}

/// Works until no question is left, the run ends, or the receiver is gone.
pub fn work(shared: &SharedState, sender: &SyncSender<Message>) {
    while !shared.ending.is_cancelled() && !shared.is_budget_spent() {
        let Some((index, question)) = shared.questions.get(shared.next.fetch_add(1, Ordering::Relaxed)) else { return };
        let Some(message) = answer(shared, *index, question, sender) else { return };
        if let Message::Answer(_, entry) | Message::Unanswered(_, entry, _) = &message {
            *shared.spent.lock().unwrap_or_else(PoisonError::into_inner) += entry.spent;
        }
        let is_end = match &message {
            Message::Unanswered(..) => !shared.counts_faults,
            message => matches!(message, Message::Failed(_)),
        };
        if is_end {
            shared.ending.cancel();
        }
        if sender.send(message).is_err() {
            return;
        }
    }
}

/// Sends one question until there is an answer; `None` if the stage ends before.
fn answer(shared: &SharedState, index: usize, question: &Question, sender: &SyncSender<Message>) -> Option<Message> {
    let body = shared.requests.body(&question.prompt);
    let mut entry = Entry::new(question);
    loop {
        shared.rate_limit.wait(&shared.ending).ok()?;
        entry.attempts += 1;
        let again = match shared.connection.attempt(&body) {
            Ok(reply) => {
                if reply.has_bad_usage {
                    let note =
                        format!("{}: a token count or cost of the server is none, and is left out", entry.task_id);
                    sender.send(Message::Note(note)).ok()?;
                }
                entry.response = reply.content;
                entry.reasoning = reply.reasoning;
                entry.finish = reply.finish;
                entry.usage = reply.usage;
                entry.served = reply.served;
                entry.spent += spending::of_answer(&entry.usage, shared.prices).unwrap_or_default();
                return Some(Message::Answer(index, Box::new(entry)));
            }
            Err(ServerError::TooLong(failure)) => {
                let message = format!("{}: {}", entry.task_id, failure.message);
                return Some(unanswered(index, entry, "too_long", Failure { message, ..failure }));
            }
            Err(ServerError::Key(failure)) => {
                return Some(Message::Failed(with_key_hint(&shared.connection, failure, &shared.key_variable)));
            }
            Err(ServerError::Fatal(failure)) => return Some(Message::Failed(located(&shared.connection, failure))),
            Err(ServerError::Transient(again)) => again,
        };
        entry.spent += spending::of_failed(&question.prompt.user, &again.usage, shared.prices);
        let message = shared.connection.key.redact(again.message.clone());
        if entry.attempts >= shared.settings.tries {
            let message = format!("{}: {message}; after {} attempts", entry.task_id, entry.attempts);
            return Some(unanswered(index, entry, again.fault, Failure::system(message)));
        }
        let wait = wait_after(&shared.settings, &entry, &again);
        let note = format!("{}: {message}; next attempt in {:.1} s", entry.task_id, wait.as_secs_f64());
        sender.send(Message::Note(note)).ok()?;
        if again.is_shared {
            shared.rate_limit.delay(wait);
        } else {
            pause(&shared.ending, wait).ok()?;
        }
    }
}

fn unanswered(index: usize, entry: Entry, fault: &str, failure: Failure) -> Message {
    let entry = Entry { finish: Some(FAILED.to_owned()), fault: Some(fault.to_owned()), ..entry };
    Message::Unanswered(index, Box::new(entry), failure)
}

/// The wait that the server requires, else twice the last one and up to half as much again, so that connections do not
/// come back all at once.
fn wait_after(settings: &Settings, entry: &Entry, again: &TransientError) -> Duration {
    if let Some(required) = again.retry_after {
        return required.min(LONGEST_REQUIRED_WAIT);
    }
    let doubled = settings.backoff(entry.attempts - 1, None);
    let digest = blake3::hash(format!("{} {}", entry.task_id, entry.attempts).as_bytes());
    doubled.mul_f64(1.0 + f64::from(digest.as_bytes()[0]) / 512.0)
}
