//! What people do with models by hand.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use crate::{Description, DeviceAbout, Failure, ModelHints, TrackRequest, Tracked};

/// Works on models outside of pipelines. The executor meets it here, since it must not know what a model is. No stage
/// uses it, and it is in no fingerprint.
pub trait Workbench: Send + Sync {
    /// Holds what this program computes against what was recorded of the authors' code, file by file: `tell` is given
    /// each comparison as soon as it is made. A file that cannot be compared does not keep the others from it.
    ///
    /// # Errors
    /// The request itself is wrong: no such family or device, or nothing among its paths that could be compared.
    fn parity(&self, request: &ParityRequest, tell: &mut dyn FnMut(Comparison)) -> Result<(), Failure>;

    /// Reads the model in a file of another program and writes it as a checkpoint into the folder `target`, which is
    /// there and empty. Nothing that the file holds is executed.
    ///
    /// # Errors
    /// The file cannot be read or is damaged, holds no model that is known, or several; or the disk refuses.
    fn adopt(&self, file: &Path, hints: &ModelHints, target: &Path) -> Result<Description, Failure>;

    /// Follows the game that `text` tells, as moves or as PGN, with a model: `tell` is given each position as soon as
    /// the line is read that leads to it, the initial one first; what it fails with ends the work.
    ///
    /// # Errors
    /// The model or the text cannot be read, or a move is not legal; what came before it was told.
    fn track(
        &self,
        request: &TrackRequest,
        text: &mut dyn BufRead,
        tell: &mut dyn FnMut(Tracked) -> Result<(), Failure>,
    ) -> Result<(), Failure>;

    /// The devices that models can be computed on here, and what keeps others from being used.
    fn devices(&self) -> Vec<DeviceAbout>;
}

/// What is to be compared, and what is known of it beyond what its files say.
#[derive(Clone, Debug, Default)]
pub struct ParityRequest {
    /// Files and folders of files.
    pub paths: Vec<PathBuf>,
    /// The family of all fixtures, in place of the one that their manifest, names and shapes tell.
    pub family: Option<String>,
    /// Options of the family by name, in place of what manifest and shapes tell.
    pub options: BTreeMap<String, String>,
    /// Where to compute; the processor if empty.
    pub device: String,
}

/// One file, compared.
#[derive(Debug)]
pub struct Comparison {
    /// The file's name without its ending.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// What of ours it was held against, in words.
    pub subject: Option<String>,
    /// All quantities that were compared, at least one; or why nothing was.
    pub result: Result<Vec<Quantity>, Failure>,
    /// What such a file may hold, but this one, or what goes with it, does not, so that it was not compared; and why.
    pub left_out: Vec<String>,
    /// What had to be assumed, and what is not understood.
    pub notes: Vec<String>,
}

/// Numbers of one kind and their largest difference: a tensor, a loss, the rates of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// `output.pieces`, `grad_norm.layers.0.norm1.weight`, …
    pub name: String,
    /// How many numbers were compared.
    pub compared: u64,
    /// The one that is furthest from what it should be, measured by its tolerance.
    pub worst: Difference,
    /// The one whose relative difference is largest.
    pub largest: Difference,
}

/// A number beside the one that it should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Which of the quantity's numbers, `[0, 12, 45, 3]`; empty where it is the only one.
    pub place: String,
    /// Ours.
    pub found: f64,
    /// What it should be.
    pub expected: f64,
    /// How far apart they are, relative to the magnitude that the tolerance is relative to. Infinite if either is no
    /// number.
    pub relative: f64,
    /// How far apart they are in units of what is allowed: above 1 is too far.
    pub of_tolerance: f64,
}

impl Difference {
    /// Whether it is more than is allowed.
    pub fn is_beyond(&self) -> bool {
        // Not a number is never within.
        self.of_tolerance.is_nan() || self.of_tolerance > 1.0
    }
}
