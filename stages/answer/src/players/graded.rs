//! Answers to graded items: the best one, one by chance, or one as good as a player of some strength finds.

use cwm_contract::Failure;
use cwm_questions::Item;
use cwm_reasoning::{RandomChoices, ReasoningTask, Verifier};

/// The rule by which an item is answered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnswerPolicy {
    /// An answer whose reward is 1: the best move, the right candidate, the whole list.
    Oracle,
    /// Each move that can be right with equal probability; of a list each with probability one half, and at least one.
    Random {
        /// Seed of the draws.
        seed: u64,
    },
    /// Each move with a weight of exp(v / temperature) by its win probability v (1 - v where the worst move is wanted); a list
    /// whole.
    Weighted {
        /// The temperature; with 0, the first of the moves with the greatest weight is answered.
        temperature: f64,
        /// Seed of the draws.
        seed: u64,
    },
}

/// The text of the answer with this number to a graded item; the item, the way and the number determine it.
///
/// # Errors
/// The item is none of the four tasks, or lacks what its task needs.
pub fn answer(item: &Item, policy: AnswerPolicy, sample: u64) -> Result<String, Failure> {
    let verifier = Verifier::new(item)?;
    let choices = verifier.choices();
    let draws = |seed: u64| RandomChoices::new(&format!("answer {}", item.task_id), seed.into(), sample);
    if verifier.task().wants_a_list() {
        let chosen = match policy {
            AnswerPolicy::Oracle | AnswerPolicy::Weighted { .. } => choices,
            AnswerPolicy::Random { seed } => some_of(&choices, &mut draws(seed)),
        };
        let list: Vec<String> = chosen.iter().map(|uci| format!("'{uci}'")).collect();
        return Ok(text(&format!("[{}]", list.join(", "))));
    }
    let chosen = match policy {
        AnswerPolicy::Oracle => match (verifier.task(), verifier.values()) {
            // The values decide: an item from elsewhere may have no key.
            (ReasoningTask::PredictMove, Some(values)) => values.best().0,
            _ => item.correct_answer.as_str(),
        },
        AnswerPolicy::Random { seed } => draws(seed).one_of(&choices).copied().unwrap_or_default(),
        AnswerPolicy::Weighted { temperature, seed } => {
            let goodness = goodness(item, &verifier, &choices)?;
            choices[weighted(&goodness, temperature, &mut draws(seed))]
        }
    };
    Ok(text(chosen))
}

/// An answer without thinking, as the system message wants it.
fn text(answer: &str) -> String {
    format!("<think>\n\n</think>\n<answer>{answer}</answer>")
}

/// Each of the moves with probability one half; if that is none, one of them.
fn some_of<'a>(moves: &[&'a str], draws: &mut RandomChoices) -> Vec<&'a str> {
    let chosen: Vec<&str> = moves.iter().copied().filter(|_| draws.chance(0.5)).collect();
    if chosen.is_empty() { draws.one_of(moves).copied().into_iter().collect() } else { chosen }
}

/// The value of each choice as an answer, from 0 to 1.
fn goodness(item: &Item, verifier: &Verifier, choices: &[&str]) -> Result<Vec<f64>, Failure> {
    let values = verifier.values().ok_or_else(|| {
        Failure::input(format!("{}: its metadata lack `values`, by which an engine answers", item.task_id))
    })?;
    let of = |uci: &&str| values.iter().find(|(other, _)| other == uci).map_or(0., |(_, win)| win);
    let wins = choices.iter().map(of);
    let wants_worst = verifier.task() == ReasoningTask::WorstMove;
    Ok(wins.map(|win| if wants_worst { 1. - win } else { win }).collect())
}

/// The index of one of these, drawn with weights exp(goodness / temperature); with the temperature 0 the first of the greatest.
fn weighted(goodness: &[f64], temperature: f64, draws: &mut RandomChoices) -> usize {
    let best = goodness.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if temperature <= 0. {
        return goodness.iter().position(|good| *good >= best).unwrap_or_default();
    }
    // The greatest weight is 1, so that none is beyond the numbers.
    let weights: Vec<f64> = goodness.iter().map(|good| ((good - best) / temperature).exp()).collect();
    draws.weighted(&weights).unwrap_or_default()
}
