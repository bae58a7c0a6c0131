//! Players that need no model: their answers to an item.

use cwm_contract::Failure;
use cwm_game::StreamRng;
use cwm_random::Random;
use serde_json::Value;

use crate::truth::{self, Keys, Position, rules};
use crate::{Form, Item, Task};

/// The answer of rules: Structural tasks and Motifs exactly; mate in one, else the best exchange; material on the grid. Empty where
/// no rule decides (Semantic).
///
/// # Errors
///
/// The item's task is not known, or its input is no position.
pub fn answer_by_rules(item: &Item, keys: Keys) -> Result<String, Failure> {
    let fault = |wrong| truth::fault(item, wrong);
    let answer = match item.task() {
        Some(Task::Rating(_) | Task::Theme(_)) => rules::best_move(&item.input).map_err(fault)?,
        Some(Task::Judgement(_)) => {
            let material = rules::material(&item.input).map_err(fault)?;
            truth::nearest(&truth::grid(item).map_err(fault)?, material).map(|option| option.to_string())
        }
        Some(Task::Semantic(_)) => None,
        _ => truth::key(item, keys)?,
    };
    Ok(answer.unwrap_or_default())
}

/// The answer by chance with the number `sample`, the same for equal `seed` and `task_id`: a legal move, an option, a
/// letter; empty for all other forms.
///
/// # Errors
///
/// The item's task is not known, or its input is no position.
pub fn answer_at_random(item: &Item, seed: u64, sample: u64) -> Result<String, Failure> {
    let fault = |wrong| truth::fault(item, wrong);
    let task = item.task().ok_or_else(|| truth::unknown_task(item))?;
    let choices = match task.form() {
        Form::Move => {
            let position = Position::of_fen(&item.input).map_err(fault)?;
            let moves = truth::answer_in_position(Task::LegalMoveAll, &position, None, Keys::Sound).unwrap_or_default();
            moves.split(", ").map(str::to_owned).collect()
        }
        Form::Centipawns => truth::grid(item).map_err(fault)?.iter().map(i64::to_string).collect(),
        Form::Letter => {
            let options = item.metadata.get("options").and_then(Value::as_array).map_or(4, Vec::len);
            (b'A'..=b'Z').take(options).map(|letter| char::from(letter).to_string()).collect()
        }
        _ => vec![String::new()],
    };
    let mut draws = StreamRng::new(&format!("questions answer {}", item.task_id), &seed.to_string(), sample);
    let at = draws.below(choices.len().max(1) as u32) as usize;
    Ok(choices.into_iter().nth(at).unwrap_or_default())
}
