//! Truths against the published keys and against golden data of an independent program (python-chess).

mod invariants;
mod notes;
mod positions;
mod predicted;
mod published;
mod scripted;

use std::collections::BTreeSet;

/// The entries of a list.
fn entries(list: &str) -> BTreeSet<&str> {
    list.split(", ").filter(|entry| !entry.is_empty()).collect()
}
