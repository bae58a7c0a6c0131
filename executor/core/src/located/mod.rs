//! A tree of values as they were written in a file, each with its place.

mod node;
mod problems;

pub use node::{Content, DURATION, Node, SpannedStr};
pub use problems::Problems;
