//! Items and examples as words.

use cwm_questions::{Item, Metadata};

use crate::answer::answer_words;
use crate::position::position;
use crate::question::question_words;
use crate::{END, PositionForm};

/// An example as words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// The position, and the question.
    pub prompt: Vec<u16>,
    /// The training target: the assistant's words, and the end word.
    pub answer: Vec<u16>,
}

/// The prompt of a graded item.
///
/// # Errors
/// The small language lacks words for it; the error is a phrase about the item.
pub fn item_words(item: &Item, form: PositionForm) -> Result<Vec<u16>, String> {
    prompt(&item.task_type, &item.input, &item.metadata, &item.question, form)
}

/// An example from its metadata `known`, the user's message, and the assistant's. `known` has the `fen` and, in `task`
/// or else in `builder`, the name of the question; `candidates`, `square` or `plies` as the task needs them.
///
/// # Errors
/// The small language lacks words for it; the error is a phrase about the example.
pub fn example_words(known: &Metadata, user: &str, target: &str, form: PositionForm) -> Result<Conversation, String> {
    let fen = known.text("fen").ok_or("its `meta` has no `fen`")?;
    let name = known.text("task").or_else(|| known.text("builder")).ok_or("its `meta` has no `builder`")?;
    let prompt = prompt(name, fen, known, user, form)?;
    let mut answer = answer_words(target)?;
    answer.push(END);
    Ok(Conversation { prompt, answer })
}

fn prompt(name: &str, fen: &str, known: &Metadata, user: &str, form: PositionForm) -> Result<Vec<u16>, String> {
    let position = position(fen)?;
    let mut words = form.words(&position);
    words.extend(question_words(name, known, &position, user)?);
    Ok(words)
}
