//! Prompts: an item's question with its two placeholders filled.

mod context;
mod own;
mod slots;
mod wording;

use cwm_contract::Failure;

use crate::form::AnswerType;
use crate::item::Item;

pub use wording::Wording;

/// Stands in a question where the context is inserted.
pub const CONTEXT: &str = "CONTEXT_PLACEHOLDER";

/// Stands in a question where the example of the answer's form is inserted.
pub const EXAMPLE: &str = "FORMAT_EXAMPLE_PLACEHOLDER";

/// The context: facts about the position that are inserted into a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PromptContext {
    /// Nothing.
    #[default]
    None,
    /// The pieces and their squares.
    Pieces,
    /// The pieces and their squares, and all legal moves, as in the release.
    PiecesMoves,
}

impl PromptContext {
    /// The context of this name, as parameters and descriptions of runs have it.
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "none" => Some(PromptContext::None),
            "pieces" => Some(PromptContext::Pieces),
            "pieces_moves" => Some(PromptContext::PiecesMoves),
            _ => None,
        }
    }
}

/// A variant of the prompts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    /// The facts about the position that are inserted.
    pub context: PromptContext,
    /// True for the second of the two examples of the answer's form, false for the first.
    pub second_example: bool,
}

/// The prompt of an item. Questions without a place for the context get none. That of a graded item is its question.
///
/// # Errors
///
/// The item lacks the example, or its input is no position although the context needs one.
pub fn prompt(item: &Item, variant: Variant) -> Result<String, Failure> {
    if item.answer_type == AnswerType::Graded {
        return Ok(item.question.clone());
    }
    let wrong = |what: String| Failure::input(format!("item {}: {what}", item.task_id));
    let example = usize::from(variant.second_example);
    let example = item.format_examples.get(example).ok_or_else(|| {
        wrong(format!("it has {} examples of the answer's form, and needs two", item.format_examples.len()))
    })?;
    let mut question = item.question.clone();
    if question.contains(CONTEXT) {
        let inserted = context::context(item, variant.context).map_err(wrong)?;
        question = question.replace(CONTEXT, &inserted);
    }
    Ok(question.replace(EXAMPLE, example))
}

#[cfg(test)]
mod tests;
