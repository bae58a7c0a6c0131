//! Draws an answer: a legal move, an option, a letter. Where the answer is a list or a text, it is empty: nothing is right by chance.

use cwm_contract::Failure;
use cwm_game::GameStream;
use cwm_questions::{Form, Item};
use cwm_random::Random;

use super::judgement::options;
use super::semantic;
use super::tactics::{legal_moves, position};

/// The answer to the item of this number.
///
/// # Errors
/// The input is no position.
pub fn answer(item: &Item, seed: u64, number: u64) -> Result<Option<String>, Failure> {
    let Some(task) = item.task() else { return Ok(None) };
    let choices: Vec<String> = match task.form() {
        Form::Move => legal_moves(&position(item)?),
        Form::Centipawns => options(item).iter().map(i64::to_string).collect(),
        Form::Letter => semantic::options(item)?.into_iter().map(|(letter, _)| letter).collect(),
        _ => Vec::new(),
    };
    let mut stream = GameStream::new("answer", &seed.to_string(), number);
    Ok(Some(match choices.len() {
        0 => String::new(),
        some => choices[stream.below(some as u32) as usize].clone(),
    }))
}
