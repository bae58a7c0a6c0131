//! Reads the answer in a model's text.
//!
//! - `tags`: the text within the last answer tags.
//! - `literal`: Python's literals.
//! - `release`: the published rule. `lenient`: ours, which finds what a person would.

mod lenient;
mod literal;
mod release;
mod tags;

pub(crate) use literal::{Literal, literal};
pub(crate) use tags::{before_last_answer, last_answer};

/// The rule by which the answer is found in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReadingRule {
    /// The rule of the published programs.
    #[default]
    Release,
    /// Every move of the last answer counts, however it is written; without an answer, every move after the thinking.
    Lenient,
}

impl ReadingRule {
    /// Both.
    pub const ALL: [ReadingRule; 2] = [ReadingRule::Release, ReadingRule::Lenient];

    /// The name in pipelines.
    pub fn name(self) -> &'static str {
        match self {
            ReadingRule::Release => "release",
            ReadingRule::Lenient => "lenient",
        }
    }

    /// The rule of this name.
    pub fn of_name(name: &str) -> Option<ReadingRule> {
        ReadingRule::ALL.into_iter().find(|reading| reading.name() == name)
    }
}

/// The answer that was read; its texts need not be moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadAnswer {
    /// One move, where one is wanted.
    Move(String),
    /// A list, where one is wanted; a move may be there twice.
    Moves(Vec<String>),
}

/// The most characters of a move, and the most moves of a list.
const LONGEST: usize = 100;

/// The answer in a text; none if it cannot be read.
pub(crate) fn read(text: &str, wants_a_list: bool, reading: ReadingRule) -> Option<ReadAnswer> {
    match (reading, wants_a_list) {
        (ReadingRule::Release, false) => release::one_move(text).map(ReadAnswer::Move),
        (ReadingRule::Release, true) => release::moves(text).map(ReadAnswer::Moves),
        (ReadingRule::Lenient, false) => lenient::one_move(text).map(ReadAnswer::Move),
        (ReadingRule::Lenient, true) => lenient::moves(text).map(ReadAnswer::Moves),
    }
}

#[cfg(test)]
mod tests;
