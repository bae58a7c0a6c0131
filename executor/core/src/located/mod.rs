//! A tree of values as they were written in a file, each with its place.

mod duration;
mod node;
mod problems;

pub use duration::{DURATION, duration};
pub use node::{Content, Node, SpannedStr};
pub use problems::Problems;
