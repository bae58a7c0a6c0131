//! Descriptions and exports of artifacts.

use std::io::Write;
use std::path::Path;

use serde_json::Value as Json;

use crate::{Failure, Format};

/// Describes artifacts for `cwm show` and exports them in other formats for `cwm export`. The executor uses this trait,
/// since it must not depend on the content of files. No stage reads the output of an inspector.
pub trait Inspector: Send + Sync {
    /// Describes the artifact of format `format` at `path`; `None` if the format is unknown here.
    ///
    /// # Errors
    /// It cannot be read, or is not what its format says.
    fn describe(&self, format: &Format, path: &Path, options: DescribeOptions) -> Result<Option<Description>, Failure>;

    /// Returns the formats of upstream artifacts that explain one of `format`: for a dataset the counts of dropped games.
    fn related_formats(&self, format: &Format) -> Vec<Format>;

    /// Returns the format in which an artifact of `format` is exported with these options.
    ///
    /// # Errors
    /// There is none; the hint names an alternative.
    fn export_format(&self, format: &Format, options: &ExportOptions) -> Result<ExportFormat, Failure>;

    /// Writes the artifact of format `format` at `path` to `target`, in the format of [`Inspector::export_format`]. Memory
    /// stays constant however large it is.
    ///
    /// # Errors
    /// There is no such format, the artifact cannot be read, or the target cannot be written.
    fn export_as(
        &self,
        format: &Format,
        path: &Path,
        options: &ExportOptions,
        target: ExportTarget<'_>,
    ) -> Result<(), Failure>;

    /// Returns true if artifacts of `format` are lines that [`Inspector::points`] reads. While a stage writes one, it grows
    /// in [`Context::checkpoint_dir`](crate::Context::checkpoint_dir), under the output's name and extension: `curves.jsonl`.
    fn has_points(&self, format: &Format) -> bool;

    /// Reads the points in one line of an artifact of `format`.
    ///
    /// # Errors
    /// It is no such line.
    fn points(&self, format: &Format, line: &str) -> Result<Vec<CurvePoint>, Failure>;
}

/// One point of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePoint {
    /// The curve, such as `validation/loss`.
    pub curve: String,
    /// The position on the curve, such as the number of steps done.
    pub step: u64,
    /// The number; it may be infinite or NaN.
    pub value: f64,
}

/// Options of a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescribeOptions {
    /// Number of items (games, for one) that are shown by themselves.
    pub examples: usize,
    /// Cores that may be used, at least 1.
    pub cores: usize,
}

/// A description of an artifact, in two forms with the same content.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The lines for a terminal, without indentation.
    pub lines: Vec<String>,
    /// The facts for programs: a JSON object.
    pub facts: Json,
}

/// Options of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportOptions {
    /// True if the labels of each position are added.
    pub labels: bool,
    /// The most items that are shown, from the first.
    pub limit: Option<u64>,
    /// Cores that may be used, at least 1. The output does not depend on it.
    pub cores: usize,
}

/// A format in which artifacts are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportFormat {
    /// Its documented name (`docs/formats.md`).
    pub name: &'static str,
    /// Its version.
    pub version: u32,
}

/// The destination of an export.
pub enum ExportTarget<'a> {
    /// Files in this folder, which is there and empty.
    Folder(&'a Path),
    /// One stream.
    Stream(&'a mut (dyn Write + Send)),
}
