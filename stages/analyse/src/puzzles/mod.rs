//! Puzzles: positions after a mistake, in which one move alone keeps what the mistake gave.
//!
//! - `find`: where a puzzle begins, and how it goes on. `themes`: what rules see of its solution. `row`: its row of CSV.

mod find;
mod row;
mod themes;

pub use find::{AnalysedPosition, find};
pub use row::HEADER;

#[cfg(test)]
mod tests;
