//! Players that need no server.

mod engine;
mod graded;
mod label_predictions;
mod semantic;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use cwm_answers::NOT_ASKED;
use cwm_contract::{Context, Failure};
use cwm_journal::Journal;
use cwm_questions::truth::Keys;
use cwm_questions::{AnswerType, Category, Item, answer_at_random, answer_by_rules};

use crate::config::Config;
use crate::entry::Entry;
use crate::question::Question;
use engine::Engine;
use graded::AnswerPolicy;
use label_predictions::LabelPredictions;

/// A player that needs no server.
pub enum Player<'c> {
    /// Answers with the key.
    Oracle,
    /// Draws answers by chance with this seed.
    Random(u64),
    /// Computes what rules can: these keys, and guesses elsewhere.
    Rules(Keys),
    /// As `Rules`, with an engine's moves and evaluations.
    Engine(&'c Config),
    /// As `Rules`, on the boards that a world model believes in.
    WorldModel(LabelPredictions, Keys),
}

impl<'c> Player<'c> {
    /// The player of the parameters, for these items.
    ///
    /// # Errors
    /// The predictions cannot be read.
    pub fn new(context: &Context, config: &'c Config, items: &[Item]) -> Result<Self, Failure> {
        match config.player.as_str() {
            "oracle" => Ok(Player::Oracle),
            "random" => Ok(Player::Random(config.seed)),
            "rules" => Ok(Player::Rules(config.keys())),
            "engine" => Ok(Player::Engine(config)),
            "world_model" => {
                let predictions = LabelPredictions::read(context.input("predictions")?, items)?;
                Ok(Player::WorldModel(predictions, config.keys()))
            }
            other => Err(Failure::internal(format!("`{other}` is no player of these"))),
        }
    }

    /// All that its answers depend on beside the item; of `world_model` without the predictions, which are in the stage's key.
    ///
    /// # Errors
    /// The engine's program cannot be read.
    pub fn identity(&self) -> Result<String, Failure> {
        Ok(match self {
            Player::Oracle => "oracle".to_owned(),
            Player::Random(seed) => format!("random {seed}"),
            Player::Rules(keys) => format!("rules {keys:?}"),
            Player::WorldModel(_, keys) => format!("world_model {keys:?}"),
            Player::Engine(config) => {
                let engine = match &config.engine {
                    Some(program) => format!("{} {}", cwm_uci::digest(&program.0)?, config.nodes),
                    None => config.depth.to_string(),
                };
                let drawn = config.temperature.map(|temperature| format!(" {temperature} {}", config.seed));
                format!("engine {:?} {engine}{}", config.keys(), drawn.unwrap_or_default())
            }
        })
    }

    /// The rule by which it answers graded items; `None` if it does not answer them.
    fn policy(&self) -> Option<AnswerPolicy> {
        match self {
            Player::Oracle => Some(AnswerPolicy::Oracle),
            Player::Random(seed) => Some(AnswerPolicy::Random { seed: *seed }),
            Player::Engine(config) => {
                Some(AnswerPolicy::Weighted { temperature: config.temperature.unwrap_or_default(), seed: config.seed })
            }
            Player::Rules(_) | Player::WorldModel(..) => None,
        }
    }
}

/// Answers the questions without an answer, on all cores. An answer depends on the item, its number among those to the item, and
/// the player alone.
///
/// # Errors
/// An engine fails, an operation on the disk fails, or the stage was cancelled.
pub fn answer(
    context: &Context,
    player: &Player<'_>,
    items: &[Item],
    questions: &[Question],
    journal: &Journal<Entry>,
) -> Result<(), Failure> {
    context.activity("answering");
    let open = journal.missing();
    let total = questions.len() as u64;
    let (next, done, failed) = (AtomicUsize::new(0), AtomicU64::new(total - open.len() as u64), Mutex::new(None));
    let work = || {
        let mut engine = match player {
            Player::Engine(config) => Some(Engine::start(config, context)?),
            _ => None,
        };
        while let Some(&index) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
            context.check_cancelled()?;
            let question = &questions[index];
            let (item, sample) = (&items[question.item], question.sample.unwrap_or(0));
            let text = match (player, &mut engine) {
                _ if item.answer_type == AnswerType::Graded => {
                    player.policy().map(|policy| graded::answer(item, policy, sample)).transpose()?
                }
                (Player::Oracle, _) => Some(terminal_line(&item.correct_answer)),
                // Of a task that is not known, the key alone is.
                _ if item.task().is_none() => None,
                (Player::Random(seed), _) => Some(terminal_line(&answer_at_random(item, *seed, sample)?)),
                (Player::Rules(keys), _) => Some(terminal_line(&by_rules(item, *keys)?)),
                (Player::WorldModel(predictions, keys), _) => predictions.answer(item, *keys)?,
                (Player::Engine(_), Some(engine)) => Some(terminal_line(&engine.answer(item)?)),
                (Player::Engine(_), None) => return Err(Failure::internal("no engine was started")),
            };
            let entry = Entry::new(question);
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

/// The answer of rules, with a guess where no rule decides.
///
/// # Errors
/// The input is no position, or lacks what the task needs.
fn by_rules(item: &Item, keys: Keys) -> Result<String, Failure> {
    match item.task().map(|task| task.category()) {
        Some(Category::Semantic) => semantic::best_letter(item),
        _ => answer_by_rules(item, keys),
    }
}

/// An answer as prompts want it.
fn terminal_line(answer: &str) -> String {
    format!("FINAL ANSWER: {answer}")
}

/// The entry with its response; without one, it is marked as not asked.
fn with_text(entry: Entry, text: Option<String>) -> Entry {
    let finish = if text.is_some() { "stop" } else { NOT_ASKED };
    Entry { response: text.unwrap_or_default(), finish: Some(finish.to_owned()), ..entry }
}
