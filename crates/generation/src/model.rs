//! The model that answers.

use cwm_models::parameters::Weights;
use cwm_models::{Device, DeviceWeights, Network};

/// A network with its weights, ready to answer.
#[derive(Debug)]
pub struct Model<'m> {
    pub(crate) network: &'m Network,
    /// For models that read word by word: these compute on the CPU.
    pub(crate) weights: &'m Weights,
    pub(crate) device_weights: DeviceWeights<'m>,
}

impl<'m> Model<'m> {
    /// The network with these weights; whole passes compute on `device`.
    pub fn new(network: &'m Network, weights: &'m Weights, device: &Device) -> Self {
        Model { network, weights, device_weights: DeviceWeights::new(weights, device) }
    }
}
