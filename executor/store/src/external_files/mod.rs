//! Files from outside: PGN that a user has, scripts that a command depends on. Referenced in place, never copied.
//!
//! This module knows paths and digests; it knows no plan and no stage. The digest of a file that did not change is
//! not computed again: it is cached by path and [`Stat`](cwm_core::Stat) in one file, whose loss costs only time.

mod digest_cache;
#[cfg(test)]
mod tests;

pub use digest_cache::{DigestCache, FileFingerprint};
