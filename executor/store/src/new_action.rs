//! What came of an action, before it is in the store.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cwm_contract::{FetchResult, Format, Label};

use super::record::{ActionRecord, OutputRecord, OutputShape, RunInfo};
use crate::external_files::FileFingerprint;
use cwm_core::{Components, Digest};

/// A finished action, before it is in the store.
#[derive(Clone, Debug)]
pub struct NewAction {
    /// The pipeline's file name without extension.
    pub pipeline: String,
    /// The cell that made it.
    pub label: Label,
    /// What its key is made of.
    pub components: Components,
    /// What came out, by output name.
    pub outputs: BTreeMap<String, NewOutput>,
    /// Why it ran, in words, one cause a line.
    pub cause: Vec<String>,
    /// Figures that the stage told.
    pub metrics: BTreeMap<String, f64>,
    /// What came from the network.
    pub fetched: Vec<FetchResult>,
    /// What the stage's probe gave, by name.
    pub probe: BTreeMap<String, Digest>,
    /// The stage's log, a file in its work folder; it is moved into the store.
    pub log: Option<PathBuf>,
    /// When, where, by whom, and what it cost.
    pub circumstances: RunInfo,
}

/// One output of a finished action.
#[derive(Clone, Debug)]
pub struct NewOutput {
    /// What it holds.
    pub format: Format,
    /// A file or a folder.
    pub shape: OutputShape,
    /// Where it comes from.
    pub content: Content,
}

/// Where an output comes from.
#[derive(Clone, Debug)]
pub enum Content {
    /// A file or folder in the store's file system, usually in the work folder. It is moved into the store.
    Made(PathBuf),
    /// A file from outside, referenced in place.
    Outside(FileFingerprint),
    /// An output of another action, passed on: it is in the store, and nothing is copied.
    Stored(OutputRecord),
}

/// What came of recording.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The record that stands for these outputs: the new one, or the equal one that was there.
    pub record: ActionRecord,
    /// Whether it was written just now.
    pub new: bool,
}
