//! Tools for models outside of pipelines.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use crate::{Description, DeviceInfo, Failure, ModelHints, PositionPrediction, TrackRequest};

/// Works on models outside of pipelines. The executor uses this trait, since it must not know what a model is. No stage
/// uses it, and it is in no fingerprint.
pub trait ModelTools: Send + Sync {
    /// Compares the numbers that this program computes with those recorded of the authors' code, file by file: `report`
    /// receives each comparison as soon as it is made. A file that cannot be compared does not stop the others.
    ///
    /// # Errors
    /// The request itself is wrong: no such family or device, or nothing among its paths that could be compared.
    fn parity(&self, request: &ParityRequest, report: &mut dyn FnMut(Comparison)) -> Result<(), Failure>;

    /// Reads the model in a file of another program and writes it as a checkpoint into the empty folder `target`. Nothing
    /// that the file holds is executed.
    ///
    /// # Errors
    /// The file cannot be read or is damaged, holds no model that is known, or several; or the disk refuses.
    fn import_model(&self, file: &Path, hints: &ModelHints, target: &Path) -> Result<Description, Failure>;

    /// Follows the game in `text`, moves or PGN, with a model: `report` receives the prediction of each position as soon as
    /// the line is read that leads to it, the initial one first. A failure of `report` ends the work.
    ///
    /// # Errors
    /// The model or the text cannot be read, or a move is not legal; the positions before it were reported.
    fn track(
        &self,
        request: &TrackRequest,
        text: &mut dyn BufRead,
        report: &mut dyn FnMut(PositionPrediction) -> Result<(), Failure>,
    ) -> Result<(), Failure>;

    /// Returns the devices that models can be computed on here, and those that cannot be used, with the reason.
    fn devices(&self) -> Vec<DeviceInfo>;
}

/// A request to compare fixtures, with facts about them that their files do not say.
#[derive(Clone, Debug, Default)]
pub struct ParityRequest {
    /// Files and folders of files.
    pub paths: Vec<PathBuf>,
    /// The family of all fixtures, in place of the one found from their manifest, names and shapes.
    pub family: Option<String>,
    /// Options of the family by name, in place of those found from manifest and shapes.
    pub options: BTreeMap<String, String>,
    /// The device to compute on; the processor if empty.
    pub device: String,
}

/// The comparison of one file.
#[derive(Debug)]
pub struct Comparison {
    /// The file's name without its ending.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// Description of the model that the file was compared with.
    pub subject: Option<String>,
    /// All quantities that were compared, at least one; or the failure.
    pub result: Result<Vec<Quantity>, Failure>,
    /// Parts that such a file may hold and this one lacks, so that they were not compared; each with the reason.
    pub left_out: Vec<String>,
    /// Assumptions, and parts of the file that are not understood.
    pub notes: Vec<String>,
}

/// Numbers of one kind and their largest difference: a tensor, a loss, the rates of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// `output.pieces`, `grad_norm.layers.0.norm1.weight`, …
    pub name: String,
    /// Number of values that were compared.
    pub compared: u64,
    /// The value with the largest difference in units of its tolerance.
    pub worst: Difference,
    /// The value with the largest relative difference.
    pub largest: Difference,
}

/// A value and the one that it should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The index of the value in its quantity, `[0, 12, 45, 3]`; empty if it is the only one.
    pub place: String,
    /// Our value.
    pub found: f64,
    /// The value that it should have.
    pub expected: f64,
    /// The difference relative to the magnitude that the tolerance is relative to. Infinite if either is no
    /// number.
    pub relative: f64,
    /// The difference in units of the tolerance: above 1 is too far.
    pub of_tolerance: f64,
}

impl Difference {
    /// Returns true if the difference exceeds the tolerance.
    pub fn exceeds_tolerance(&self) -> bool {
        // NaN is never within the tolerance.
        self.of_tolerance.is_nan() || self.of_tolerance > 1.0
    }
}
