//! What people do with models by hand: hold them against what the authors' code computed.
//!
//! The executor meets it through a trait of the contract (`cwm parity`); no stage uses it, so that it is in no stage's
//! fingerprint. It must not know of pipelines or the store.

pub mod parity;

use cwm_contract::{Comparison, Failure, ParityRequest, Workbench};

/// The workbench of this program's models.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bench;

impl Workbench for Bench {
    fn parity(&self, request: &ParityRequest, tell: &mut dyn FnMut(Comparison)) -> Result<(), Failure> {
        parity::parity(request, tell)
    }
}
