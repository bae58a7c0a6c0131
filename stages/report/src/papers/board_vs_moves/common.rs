//! The constants and names that all parts of the chapter share.

/// Resamples of each interval, and the seed of their draws.
pub(crate) const RESAMPLES: u64 = 1_000;
pub(crate) const SEED: u64 = 0;

/// A name of a table, figure or section, with the word of this paper before it.
pub(crate) fn id(name: &str) -> String {
    format!("board-vs-moves-{name}")
}
