//! Players that need no server.

mod engine;
mod judgement;
mod random;
mod rules;
mod semantic;
mod tactics;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use cwm_answers::NOT_ASKED;
use cwm_contract::{Context, Failure};
use cwm_questions::Item;

use crate::config::Config;
use crate::entry::Entry;
use crate::journal::Journal;
use crate::question::Question;
use engine::Engine;

/// Who answers.
pub enum Player<'c> {
    /// Gives the key.
    Oracle,
    /// Draws.
    Random(u64),
    /// Computes what rules can.
    Rules,
    /// As `Rules`, with an engine's moves and evaluations.
    Engine(&'c Config),
}

impl<'c> Player<'c> {
    /// By the parameters.
    ///
    /// # Errors
    /// It is none of these.
    pub fn new(config: &'c Config) -> Result<Self, Failure> {
        match config.player.as_str() {
            "oracle" => Ok(Player::Oracle),
            "random" => Ok(Player::Random(config.seed)),
            "rules" => Ok(Player::Rules),
            "engine" => Ok(Player::Engine(config)),
            other => Err(Failure::internal(format!("`{other}` is no player of these"))),
        }
    }

    /// All that its answers depend on beside the item.
    ///
    /// # Errors
    /// The engine's program cannot be read.
    pub fn identity(&self) -> Result<String, Failure> {
        Ok(match self {
            Player::Oracle => "oracle".to_owned(),
            Player::Random(seed) => format!("random {seed}"),
            Player::Rules => "rules".to_owned(),
            Player::Engine(config) => match &config.engine {
                Some(program) => format!("engine {} {}", cwm_uci::digest(&program.0)?, config.nodes),
                None => format!("engine {}", config.depth),
            },
        })
    }
}

/// Answers the items without an answer, on all cores. An answer depends on the item, its number and the player alone.
///
/// # Errors
/// An engine fails, the disk refuses, or the stage was cancelled.
pub fn answer(
    context: &Context,
    player: &Player<'_>,
    items: &[Item],
    questions: &[Question],
    journal: &Journal,
) -> Result<(), Failure> {
    context.activity("answering");
    let open = journal.unanswered();
    let total = items.len() as u64;
    let (next, done, failed) = (AtomicUsize::new(0), AtomicU64::new(total - open.len() as u64), Mutex::new(None));
    let work = || {
        let mut engine = match player {
            Player::Engine(config) => Some(Engine::start(config, context)?),
            _ => None,
        };
        while let Some(&index) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
            context.check_cancelled()?;
            let (item, question) = (&items[index], &questions[index]);
            let text = match (player, &mut engine) {
                (Player::Oracle, _) => Some(item.correct_answer.clone()),
                (Player::Random(seed), _) => random::answer(item, *seed, index as u64)?,
                (_, Some(engine)) => engine.answer(item)?,
                (_, None) => rules::answer(item)?,
            };
            let entry = Entry { task_id: item.task_id.clone(), request: question.request, ..Entry::default() };
            journal.push(index, &with_text(entry, text))?;
            context.progress(done.fetch_add(1, Ordering::Relaxed) + 1, Some(total), "questions");
        }
        Ok(())
    };
    let workers = context.cores().min(open.len());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                if let Err(failure) = work() {
                    // The others finish their items.
                    next.store(open.len(), Ordering::Relaxed);
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
                }
            });
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// The answer in the terminal line; without one, the item was not asked.
fn with_text(entry: Entry, text: Option<String>) -> Entry {
    let finish = if text.is_some() { "stop" } else { NOT_ASKED };
    let response = text.map(|text| format!("FINAL ANSWER: {text}")).unwrap_or_default();
    Entry { response, finish: Some(finish.to_owned()), ..entry }
}
