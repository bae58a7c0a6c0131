//! One connection: takes a question, and asks until there is an answer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cwm_contract::{Cancellation, Failure};
use cwm_web::{Settings, pause};

use super::attempt::{Connection, located};
use super::fault::{Again, Fault};
use super::gate::Gate;
use super::models::with_key_hint;
use super::request::Requests;
use super::spending::{self, Prices};
use crate::entry::Entry;
use crate::question::Question;

/// The longest wait that a server may require; after it, the attempt is made all the same.
const LONGEST_REQUIRED_WAIT: Duration = Duration::from_secs(3_600);

/// What all connections share.
pub struct Shared {
    /// The questions to ask.
    pub questions: Vec<(usize, Question)>,
    /// The first of them that nobody has taken.
    pub next: AtomicUsize,
    /// How they are sent.
    pub requests: Requests,
    /// Where they are sent.
    pub connection: Arc<Connection>,
    /// When they are sent.
    pub gate: Gate,
    /// Attempts at each.
    pub attempts: u32,
    /// True if a question without an answer is counted and does not fail the stage.
    pub counts_faults: bool,
    /// What tokens cost.
    pub prices: Option<Prices>,
    /// Dollars after which no question is taken.
    pub budget: Option<f64>,
    /// Dollars that all answers cost so far.
    pub spent: Mutex<f64>,
    /// Waits before attempts.
    pub settings: Settings,
    /// The variable of the key, for hints.
    pub key_variable: String,
    /// Set when no further request is to be sent. Answers that are under way still come.
    pub ending: Cancellation,
}

impl Shared {
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
    /// A question that gets no answer, which is counted.
    Unanswered(usize, Box<Entry>, String),
    /// A failure that ends the stage.
    Failed(Failure),
    /// Something that a person may want to know.
    Note(String),
}

/// Works until no question is left, or nobody listens any more.
pub fn work(shared: &Shared, sender: &SyncSender<Message>) {
    while !shared.ending.is_cancelled() && !shared.is_budget_spent() {
        let Some((index, question)) = shared.questions.get(shared.next.fetch_add(1, Ordering::Relaxed)) else { return };
        let Some(message) = answer(shared, *index, question, sender) else { return };
        match &message {
            Message::Answer(_, entry) | Message::Unanswered(_, entry, _) => {
                *shared.spent.lock().unwrap_or_else(PoisonError::into_inner) += entry.spent;
            }
            Message::Failed(_) => shared.ending.cancel(),
            Message::Note(_) => {}
        }
        if sender.send(message).is_err() {
            return;
        }
    }
}

/// Asks one question; `None` if the stage ends before there is an answer.
fn answer(shared: &Shared, index: usize, question: &Question, sender: &SyncSender<Message>) -> Option<Message> {
    let body = shared.requests.body(&question.prompt);
    let mut entry = Entry { task_id: question.task_id.clone(), request: question.request, ..Entry::default() };
    loop {
        shared.gate.pass(&shared.ending).ok()?;
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
            Err(Fault::TooLong(failure)) if shared.counts_faults => {
                return Some(unanswered(index, entry, "too_long", failure.message));
            }
            Err(Fault::TooLong(failure)) => {
                let message = format!("{}: {}", entry.task_id, failure.message);
                let failure = Failure { message, ..failure }.hint("`on_error: count` leaves such questions unanswered");
                return Some(Message::Failed(located(&shared.connection, failure)));
            }
            Err(Fault::Fatal(failure)) => {
                let failure = located(&shared.connection, failure);
                return Some(Message::Failed(with_key_hint(&shared.connection, failure, &shared.key_variable)));
            }
            Err(Fault::Again(again)) => again,
        };
        entry.spent += spending::of_broken(&question.prompt, again.tokens, shared.prices);
        let words = shared.connection.key.redact(again.words.clone());
        if entry.attempts >= shared.attempts {
            let sentence = format!("{}: {words}; after {} attempts", entry.task_id, entry.attempts);
            if shared.counts_faults {
                return Some(unanswered(index, entry, again.fault, sentence));
            }
            let failure = Failure::system(sentence).hint("`on_error: count` leaves such questions unanswered");
            return Some(Message::Failed(located(&shared.connection, failure)));
        }
        let wait = wait_after(&shared.settings, &entry, &again);
        let note = format!("{}: {words}; next attempt in {:.1} s", entry.task_id, wait.as_secs_f64());
        sender.send(Message::Note(note)).ok()?;
        if again.is_shared {
            shared.gate.close(wait);
        } else {
            pause(&shared.ending, wait).ok()?;
        }
    }
}

fn unanswered(index: usize, entry: Entry, fault: &str, words: String) -> Message {
    let entry = Entry { finish: Some("failed".to_owned()), fault: Some(fault.to_owned()), ..entry };
    Message::Unanswered(index, Box::new(entry), words)
}

/// What the server requires, else twice as long as last time and up to half as much again, so that connections do not come back
/// all at once.
fn wait_after(settings: &Settings, entry: &Entry, again: &Again) -> Duration {
    if let Some(required) = again.after {
        return required.min(LONGEST_REQUIRED_WAIT);
    }
    let doubled = settings.backoff(entry.attempts - 1, None);
    let digest = blake3::hash(format!("{} {}", entry.task_id, entry.attempts).as_bytes());
    doubled.mul_f64(1.0 + f64::from(digest.as_bytes()[0]) / 512.0)
}
