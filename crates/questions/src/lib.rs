//! The fifty tasks that test a model's understanding of chess (ChessQA).
//!
//! Items, their true answers, prompts and verdicts; readers of the rows that they are made of; players that need no model. This
//! crate must not depend on files of answers, servers, or what is computed from verdicts.

pub mod build;
mod category;
mod comment;
mod form;
mod group;
mod item;
mod json_lines;
mod judge;
mod metadata;
pub mod prompt;
mod reading;
mod scripted;
mod task;
pub mod truth;
mod verdict;

pub use category::Category;
pub use comment::{Comment, Phase, read_comments};
pub use form::{AnswerType, Form};
pub use group::{Band, Distractors, Level, Theme};
pub use item::{Item, UnknownTasks, boards_of_files, read_item_files, read_items};
pub use json_lines::{read_lines, write_line};
pub use judge::{Judge, Judgement, MoveFault};
pub use metadata::Metadata;
pub use reading::{extract, is_space, strip};
pub use scripted::{answer_at_random, answer_by_rules};
pub use task::Task;
pub use verdict::{Length, PublishedVerdict, verdict};

#[cfg(test)]
mod golden;
#[cfg(test)]
mod judged;
