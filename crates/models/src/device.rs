//! Where tensors live. The only place that knows which devices there are.
//!
//! The device is chosen at run time and is set explicitly on every tensor: Burn's default device is never used. It is
//! no part of any result's key.

use burn::tensor::Device;

use crate::ModelError;

/// A device by name, without automatic differentiation; [`crate::Pass::training`] turns that on.
///
/// # Errors
/// This build has no such device.
pub fn named(name: &str) -> Result<Device, ModelError> {
    match name {
        "cpu" => Ok(cpu()),
        other => Err(ModelError::Device(format!("this build of cwm has no device `{other}`, only `cpu`"))),
    }
}

/// The processor.
pub fn cpu() -> Device {
    Device::flex()
}
