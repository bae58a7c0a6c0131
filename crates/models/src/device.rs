//! Where tensors live. The only place that knows which devices there are.
//!
//! The device is chosen at run time and is set explicitly on every tensor: Burn's default device is never used, since in
//! a build with CUDA it is a GPU even where there is none. It is no part of any result's key.

mod cuda;

use burn::tensor::Device;
use cwm_contract::{DeviceAbout, DeviceChoice};

use crate::ModelError;

/// A device that was looked at and can be used.
#[derive(Clone, Debug)]
pub struct Opened {
    /// Without automatic differentiation; [`crate::Pass::training`] turns that on.
    pub device: Device,
    /// What it is, in words: `cpu`, or `cuda:0` and the name of that GPU.
    pub name: String,
    /// Why it is the processor although a GPU was at hand.
    pub note: Option<String>,
}

/// The device that `choice` means for a process to which the accelerators `granted` were given; none given is as good as
/// all for a GPU by number.
///
/// # Errors
/// A GPU is asked for by number and cannot be used: what is missing, and what to do.
pub fn open(choice: DeviceChoice, granted: &[String]) -> Result<Opened, ModelError> {
    let processor = |note| Opened { device: cpu(), name: "cpu".to_owned(), note };
    match choice {
        DeviceChoice::Cpu => Ok(processor(None)),
        DeviceChoice::Auto if granted.is_empty() => Ok(processor(None)),
        DeviceChoice::Auto => {
            let without = |missing| processor(Some(format!("a GPU is at hand, but not used: {missing}")));
            Ok(cuda::open(0, 0).unwrap_or_else(without))
        }
        // What was granted is all that the process sees, and counted anew.
        DeviceChoice::Cuda(number) => cuda::open(if granted.is_empty() { number } else { 0 }, number)
            .map_err(|missing| ModelError::Device(format!("cannot use cuda:{number}: {missing}"))),
    }
}

/// A device by name.
///
/// # Errors
/// The name is no device's, or the device cannot be used.
pub fn named(name: &str) -> Result<Device, ModelError> {
    let choice: DeviceChoice = name.parse().map_err(ModelError::Device)?;
    Ok(open(choice, &[])?.device)
}

/// All devices of this machine, and what keeps others from being used.
pub fn list() -> Vec<DeviceAbout> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = if cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") };
    let mut devices = vec![DeviceAbout { name: "cpu".into(), about: cores, usable: true }];
    match cuda::list() {
        Ok(gpus) => devices.extend(gpus),
        Err(missing) => devices.push(DeviceAbout { name: "cuda".into(), about: missing, usable: false }),
    }
    devices
}

/// Does `work` on `device`; what CUDA's libraries panic about becomes an error in words.
///
/// # Errors
/// What `work` fails with, or a GPU's panic.
pub fn guarded<T, E: From<ModelError>>(device: &Device, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    if is_processor(device) {
        return work();
    }
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    done.unwrap_or_else(|panic| Err(ModelError::Device(cuda::in_words(panic.as_ref())).into()))
}

/// Whether this is the processor, with or without automatic differentiation.
pub fn is_processor(device: &Device) -> bool {
    *device == cpu()
}

/// The processor.
pub fn cpu() -> Device {
    Device::flex()
}

#[cfg(test)]
mod tests;
