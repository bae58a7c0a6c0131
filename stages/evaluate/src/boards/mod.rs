//! What a model believes of a few games, beside the truth: for people, who look at boards where tables have sums.
//!
//! `belief` compares a position's 75 labels with what is believed of them, `writer` has the file.

mod belief;
mod writer;

pub use belief::{Wrong, believe, wrong};
pub use writer::BoardsWriter;
