//! Items as prompts of the model, with the verifiers that judge its answers.

use std::collections::HashMap;

use cwm_contract::{Context, Failure};
use cwm_models::Network;
use cwm_questions::{Item, UnknownTasks, read_item_files};
use cwm_reasoning::Verifier;
use cwm_speech::{PositionForm, item_words};

/// Shared boards that an error names.
const NAMED: usize = 10;
/// Fields of a FEN that make a position; the others count moves.
const POSITION_FIELDS: usize = 4;

/// An item that answers are sampled to.
#[derive(Debug)]
pub struct Question {
    /// The item's id.
    pub task_id: String,
    /// The words of its prompt.
    pub prompt: Vec<u16>,
    /// Judges answers to it.
    pub verifier: Verifier,
    /// Its position, without counts of moves.
    board: String,
}

impl Question {
    /// An item for a model that reads positions in this form.
    ///
    /// # Errors
    /// It is not graded, or the small language lacks words for it.
    pub fn new(item: &Item, form: PositionForm) -> Result<Self, Failure> {
        let verifier = Verifier::new(item)?;
        let wrong = |error: String| Failure::input(format!("{}: {error}", item.task_id));
        let prompt = item_words(item, form).map_err(wrong)?;
        let board = item.input.split_whitespace().take(POSITION_FIELDS).collect::<Vec<_>>().join(" ");
        Ok(Question { task_id: item.task_id.clone(), prompt, verifier, board })
    }
}

/// Reads the items of the input `name`, to which answers of up to `max_tokens` words will be sampled by the model
/// `network`, which reads positions in this form.
///
/// # Errors
/// There is none, one is not graded, the small language lacks words for it, or the model is too short for its answer.
pub fn read(
    context: &Context,
    name: &str,
    (network, form): (&Network, PositionForm),
    max_tokens: usize,
) -> Result<Vec<Question>, Failure> {
    let files = context.group(name).iter().map(|input| (input.label.to_string(), input.path.as_path()));
    let items = read_item_files(files, UnknownTasks::Keep)?;
    if items.is_empty() {
        return Err(Failure::input(format!("input `{name}` holds no items")));
    }
    let questions: Vec<Question> =
        items.iter().map(|item| Question::new(item, form)).collect::<Result<_, Failure>>()?;
    for Question { task_id, prompt, .. } in &questions {
        // The last word of an answer is not read.
        network.check_length(prompt.len() + max_tokens - 1).map_err(|error| {
            Failure::input(format!("{task_id}: {error}: its prompt has {} words", prompt.len()))
                .hint("give `max_tokens` a smaller number, or train the model with more `positions`")
        })?;
    }
    Ok(questions)
}

/// Checks that no position of the validation is one that is trained on.
///
/// # Errors
/// Some are; the first ten are named.
pub fn check_apart(train: &[Question], validation: &[Question]) -> Result<(), Failure> {
    let by_board: HashMap<&str, &str> =
        train.iter().rev().map(|one| (one.board.as_str(), one.task_id.as_str())).collect();
    let shared: Vec<String> = validation
        .iter()
        .filter_map(|one| Some(format!("{} and {} ({})", by_board.get(one.board.as_str())?, one.task_id, one.board)))
        .collect();
    if shared.is_empty() {
        return Ok(());
    }
    let named = shared[..shared.len().min(NAMED)].join("; ");
    let message = format!("{} items of `validation` have a board of `items`: {named}", shared.len());
    Err(Failure::input(message)
        .hint("make the two from positions that are apart, such as with `apart_from` of `analyse`"))
}
