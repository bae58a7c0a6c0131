//! The predictions of a few games beside the truth: for people, who look at boards where tables have sums.
//!
//! `wrong_labels` compares a position's 75 labels with the predicted ones, `writer` has the file.

mod writer;
mod wrong_labels;

pub use writer::BoardsWriter;
pub use wrong_labels::{WrongLabels, find_wrong_labels, wrong_labels};
