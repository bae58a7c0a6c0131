//! Tools for models outside of pipelines.

use std::io::BufRead;
use std::path::Path;

use crate::{
    Comparison, Description, DeviceInfo, Failure, ModelHints, ParityRequest, TrackReport, TrackRequest, UciRequest,
};

/// Works on models outside of pipelines. The executor uses this trait, since it must not depend on what a model is. No stage
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
    /// The file cannot be read or is damaged, holds no model that is known, or several; or an operation on the disk
    /// fails.
    fn import_model(&self, file: &Path, hints: &ModelHints, target: &Path) -> Result<Description, Failure>;

    /// Follows the game in `text`, moves or PGN, with a model: `report` receives the prediction of each position as soon as
    /// the line is read that leads to it, the initial one first, and at the end a summary. A failure of `report` ends the work.
    ///
    /// # Errors
    /// The model or the text cannot be read, or a move is not legal; the positions before it, and a summary of them, were
    /// reported.
    fn track(
        &self,
        request: &TrackRequest,
        text: &mut dyn BufRead,
        report: &mut dyn FnMut(TrackReport) -> Result<(), Failure>,
    ) -> Result<(), Failure>;

    /// Plays chess with a model that chooses moves, as an engine that speaks UCI: answers the commands of `input` until `quit` or
    /// its end; `report` receives each line of the answers. A failure of `report` ends the work.
    ///
    /// # Errors
    /// The model cannot be read or chooses no moves, or there is no such device.
    fn play_uci(
        &self,
        request: &UciRequest,
        input: &mut dyn BufRead,
        report: &mut dyn FnMut(&str) -> Result<(), Failure>,
    ) -> Result<(), Failure>;

    /// Returns the devices that models can be computed on here, and those that cannot be used, with the reason.
    fn devices(&self) -> Vec<DeviceInfo>;
}
