//! The format `findings`: numbers measured inside models, one JSON object a line.
//!
//! `docs/formats.md` has the names and values of each kind. This crate must not depend on how a number is measured, or what
//! a report makes of it.

mod file;
mod finding;
mod numbers;
#[cfg(test)]
mod tests;

pub use file::{read, write};
pub use finding::{Finding, Kind};
