//! The small language: words for positions, questions about them, and answers, fewer than 256 in all, so that a small model
//! learns to read and write them.
//!
//! A prompt is the words of a position, then those of the question. An answer is the assistant's words, then the end
//! word. This crate must not depend on models or files.

mod answer;
mod conversation;
mod facts;
mod position;
mod question;
mod text;
mod vocabulary;
mod words;

pub use answer::answer_words;
pub use conversation::{Conversation, example_words, item_words};
pub use position::PositionForm;
pub use text::text;
pub use words::{COUNT, END, name};

#[cfg(test)]
mod tests;
