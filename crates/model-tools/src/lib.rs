//! Tools for models outside of pipelines: compare them with the authors' code, import them from other
//! programs, follow games with them, and play chess with them.
//!
//! The executor meets it through a trait of the contract (`cwm model parity`, `cwm model import`, `cwm model track`, `cwm uci`);
//! no stage uses it, so that it is in no stage's fingerprint. It must not depend on pipelines or the store.

mod import;
pub mod parity;
mod track;
mod uci;

use std::io::BufRead;
use std::path::Path;

use cwm_contract::{
    Comparison, Description, DeviceInfo, Failure, ModelHints, ModelTools, ParityRequest, TrackReport, TrackRequest,
    UciRequest,
};

/// Implements `ModelTools` for the models of `cwm-models`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChessModelTools;

impl ModelTools for ChessModelTools {
    fn parity(&self, request: &ParityRequest, report: &mut dyn FnMut(Comparison)) -> Result<(), Failure> {
        parity::parity(request, report)
    }

    fn import_model(&self, file: &Path, hints: &ModelHints, target: &Path) -> Result<Description, Failure> {
        import::write(file, hints, target)
    }

    fn track(
        &self,
        request: &TrackRequest,
        text: &mut dyn BufRead,
        report: &mut dyn FnMut(TrackReport) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        track::report(request, text, report)
    }

    fn play_uci(
        &self,
        request: &UciRequest,
        input: &mut dyn BufRead,
        report: &mut dyn FnMut(&str) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        uci::serve(request, input, report)
    }

    fn devices(&self) -> Vec<DeviceInfo> {
        cwm_models::device::list()
    }
}
