//! What people see of an artifact.

use std::io::Write;
use std::path::Path;

use serde_json::Value as Json;

use crate::{Failure, Format};

/// Looks into artifacts for people: what `cwm show` tells of one, and the other forms in which `cwm export` hands it
/// out. The executor meets it here, since it must not know what files hold. No stage reads what an inspector writes.
pub trait Inspector: Send + Sync {
    /// What is in the artifact of format `format` at `path`; `None` where nothing is known of such artifacts.
    ///
    /// # Errors
    /// It cannot be read, or is not what its format says.
    fn describe(&self, format: &Format, path: &Path, detail: Detail) -> Result<Option<Description>, Failure>;

    /// Formats of artifacts further up that belong to the story of one of `format`: the counts of what was left out on
    /// the way to a dataset.
    fn background(&self, format: &Format) -> Vec<Format>;

    /// The form in which an artifact of `format` can be handed out as `wanted` asks.
    ///
    /// # Errors
    /// There is none, and what can be done instead.
    fn form(&self, format: &Format, wanted: &Expansion) -> Result<Form, Failure>;

    /// Writes the artifact of format `format` at `path` in the form that [`Inspector::form`] named, to `target`. Memory
    /// stays constant however large it is.
    ///
    /// # Errors
    /// There is no such form, the artifact cannot be read, or the target cannot be written.
    fn expand(&self, format: &Format, path: &Path, wanted: &Expansion, target: Target<'_>) -> Result<(), Failure>;

    /// Whether artifacts of `format` are lines that [`Inspector::points`] reads. While a stage writes one it grows in
    /// [`Context::kept`](crate::Context::kept), under the name of the output and its extension: `curves.jsonl`.
    fn has_points(&self, format: &Format) -> bool;

    /// The numbers in one line of an artifact of `format`.
    ///
    /// # Errors
    /// It is no such line.
    fn points(&self, format: &Format, line: &str) -> Result<Vec<Point>, Failure>;
}

/// One number of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The curve, such as `validation/loss`.
    pub curve: String,
    /// Where on it, such as the number of steps done.
    pub step: u64,
    /// The number; it may be infinite or NaN.
    pub value: f64,
}

/// How much a description tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// How many of its items (games, for one) are shown by themselves.
    pub examples: usize,
    /// Cores that may be kept busy with it, at least 1.
    pub cores: usize,
}

/// What is in an artifact, in two forms with the same content.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// For a terminal, without indentation.
    pub lines: Vec<String>,
    /// For programs: a JSON object.
    pub facts: Json,
}

/// What is to be written of an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// Whether each position comes with its labels.
    pub labels: bool,
    /// At most so many items, from the first.
    pub limit: Option<u64>,
    /// Cores that may be kept busy with it, at least 1. What is written does not depend on it.
    pub cores: usize,
}

/// A form in which artifacts are handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Its documented name (`docs/formats.md`).
    pub name: &'static str,
    /// Its version.
    pub version: u32,
}

/// Where an expansion goes.
pub enum Target<'a> {
    /// Files in this folder, which is there and empty.
    Folder(&'a Path),
    /// One stream.
    Stream(&'a mut (dyn Write + Send)),
}
