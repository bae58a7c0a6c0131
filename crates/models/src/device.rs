//! Opens devices. The only place that depends on which devices there are.
//!
//! The device is chosen at run time and is set explicitly on every tensor: Burn's default device is never used, since
//! in a build for GPUs it is one even where there is none. It is no part of any result's key.

mod cuda;
mod panic;
mod wgpu;

use burn::tensor::{DType, Device};
use cwm_contract::{Context, DeviceChoice, DeviceInfo, Failure, Resources};

use crate::worker_pool::WorkerPool;
use crate::{ModelError, Precision};

/// A device that was looked at and can be used.
#[derive(Clone, Debug)]
pub struct OpenDevice {
    /// The device without automatic differentiation; [`crate::ForwardPass::training`] turns that on.
    pub device: Device,
    /// The name for people: `cpu`, or `cuda:0` or `wgpu:0` and the name of that GPU.
    pub name: String,
    /// The reason why it is the CPU although a GPU is available or was requested.
    pub note: Option<String>,
}

/// The device that a process with these resources computes on; none granted is as good as all for a GPU by number.
///
/// # Errors
/// A GPU is requested by number and cannot be used: what is missing, and what to do.
pub fn open(resources: &Resources) -> Result<OpenDevice, ModelError> {
    let processor =
        |note: Option<&str>| OpenDevice { device: cpu(), name: "cpu".to_owned(), note: note.map(str::to_owned) };
    // What was granted is all that the process sees, and counted anew there; people know it by the machine's number.
    let granted = resources.devices.first().map(|name| match name.parse() {
        Ok(DeviceChoice::Cuda(number)) => number,
        _ => 0,
    });
    match (resources.device, granted) {
        (DeviceChoice::Cpu, _) => Ok(processor(None)),
        (DeviceChoice::Auto, None) if resources.accelerator_unavailable => Ok(processor(Some(NO_GPU))),
        (DeviceChoice::Auto, None) => Ok(processor(None)),
        (DeviceChoice::Auto, Some(number)) => Ok(cuda::open(0, number)
            .unwrap_or_else(|missing| processor(Some(&format!("a GPU is at hand, but not used: {missing}"))))),
        (DeviceChoice::Cuda(number), granted) => cuda::open(if granted.is_none() { number } else { 0 }, number)
            .map_err(|missing| ModelError::Device(format!("cannot use cuda:{number}: {missing}"))),
        (DeviceChoice::Wgpu(number), _) => {
            wgpu::open(number).map_err(|missing| ModelError::Device(format!("cannot use wgpu:{number}: {missing}")))
        }
    }
}

/// The message for a computation that needs a GPU where there is none.
const NO_GPU: &str =
    "requests a GPU, and there is none: computes on the CPU (`cwm model devices` lists what is missing)";

/// A device by name.
///
/// # Errors
/// The name is no device's, or the device cannot be used.
pub fn named(name: &str) -> Result<Device, ModelError> {
    let choice: DeviceChoice = name.parse().map_err(ModelError::Device)?;
    Ok(open(&Resources { device: choice, ..Resources::default() })?.device)
}

/// Refuses a precision that a device cannot compute in.
///
/// # Errors
/// The GPU has no numbers of 16 bits with the exponents of f32, as those that run WGSL; what to do.
pub fn check_precision(device: &Device, precision: Precision) -> Result<(), ModelError> {
    if is_cpu(device) || precision != Precision::Bf16 || device.supports_dtype(DType::BF16) {
        return Ok(());
    }
    let message = "this GPU cannot compute in `bf16`; set `precision` to `fp32` or `tf32`, or choose another device";
    Err(ModelError::Device(message.to_owned()))
}

/// All devices of this machine, and what keeps others from being used.
pub fn list() -> Vec<DeviceInfo> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = if cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") };
    let mut devices = vec![DeviceInfo { name: "cpu".into(), description: cores, usable: true }];
    for (kind, found) in [("cuda", cuda::list()), ("wgpu", wgpu::list())] {
        match found {
            Ok(gpus) => devices.extend(gpus),
            Err(missing) => devices.push(DeviceInfo { name: kind.into(), description: missing, usable: false }),
        }
    }
    devices
}

/// Does a stage's `work` on the device that its context grants, which is reported.
///
/// # Errors
/// That device cannot be used; or as [`catch_panics`].
pub fn run(context: &Context, work: impl FnOnce(&Device) -> Result<(), Failure>) -> Result<(), Failure> {
    let OpenDevice { device, name, note } = open(context.resources())?;
    context.report_device(name);
    note.into_iter().for_each(|note| context.note(note));
    catch_panics(&device, || work(&device))
}

/// The threads of a stage that computes on `device`: one for each core that it has. A GPU has one queue of work, which more
/// threads would not fill faster.
///
/// # Errors
/// As [`WorkerPool::new`].
pub fn workers(context: &Context, device: &Device) -> Result<WorkerPool, ModelError> {
    WorkerPool::new(if is_cpu(device) { context.cores() } else { 1 })
}

/// Does `work` on `device`; a panic of a GPU's libraries becomes an error.
///
/// # Errors
/// The error of `work`, or a GPU's panic.
pub fn catch_panics<T, E: From<ModelError>>(device: &Device, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    if is_cpu(device) {
        return work();
    }
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    done.unwrap_or_else(|panic| Err(ModelError::Device(panic::message(panic.as_ref())).into()))
}

/// Returns true if this is the CPU, with or without automatic differentiation.
pub fn is_cpu(device: &Device) -> bool {
    *device == cpu()
}

/// The CPU.
pub fn cpu() -> Device {
    Device::flex()
}

#[cfg(test)]
mod tests;
