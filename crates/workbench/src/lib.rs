//! What people do with models by hand: hold them against what the authors' code computed, take them over from other
//! programs, and follow games with them.
//!
//! The executor meets it through a trait of the contract (`cwm parity`, `cwm import`, `cwm track`); no stage uses it, so that it is in no stage's
//! fingerprint. It must not know of pipelines or the store.

mod adopt;
pub mod parity;
mod track;

use std::io::BufRead;
use std::path::Path;

use cwm_contract::{
    Comparison, Description, DeviceAbout, Failure, ModelHints, ParityRequest, TrackRequest, Tracked, Workbench,
};

/// The workbench of this program's models.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bench;

impl Workbench for Bench {
    fn parity(&self, request: &ParityRequest, tell: &mut dyn FnMut(Comparison)) -> Result<(), Failure> {
        parity::parity(request, tell)
    }

    fn adopt(&self, file: &Path, hints: &ModelHints, target: &Path) -> Result<Description, Failure> {
        adopt::write(file, hints, target)
    }

    fn track(
        &self,
        request: &TrackRequest,
        text: &mut dyn BufRead,
        tell: &mut dyn FnMut(Tracked) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        track::track(request, text, tell)
    }

    fn devices(&self) -> Vec<DeviceAbout> {
        cwm_models::device::list()
    }
}
