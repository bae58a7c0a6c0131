//! GPUs of any maker, through Vulkan or Metal.

use cwm_contract::DeviceInfo;

use super::OpenDevice;

/// The GPU that people call `wgpu:NUMBER`, once it has computed something.
///
/// # Errors
/// Something is missing; the message says what to do.
pub fn open(number: u32) -> Result<OpenDevice, String> {
    here::open(number)
}

/// All GPUs that Vulkan or Metal shows to this process.
///
/// # Errors
/// Something is missing; the message says what to do.
pub fn list() -> Result<Vec<DeviceInfo>, String> {
    here::list()
}

#[cfg(not(feature = "wgpu"))]
mod here {
    use super::{DeviceInfo, OpenDevice};

    const NONE: &str =
        "this build of cwm has no Vulkan or Metal; build it with `cargo build --release --features wgpu`";

    pub fn open(_number: u32) -> Result<OpenDevice, String> {
        Err(NONE.to_owned())
    }

    pub fn list() -> Result<Vec<DeviceInfo>, String> {
        Err(NONE.to_owned())
    }
}

#[cfg(feature = "wgpu")]
mod here {
    use std::panic::catch_unwind;

    use burn::tensor::{Device, DeviceType};

    use super::super::panic::{compute, message};
    use super::{DeviceInfo, OpenDevice};

    pub fn open(number: u32) -> Result<OpenDevice, String> {
        let gpus = gpus()?;
        let count = gpus.len();
        let found = gpus.into_iter().nth(number as usize);
        let device =
            found.ok_or_else(|| format!("Vulkan or Metal shows {count} of them; `cwm model devices` lists them"))?;
        compute(&device)?;
        Ok(OpenDevice { name: format!("wgpu:{number}, {}", name(&device)), device, note: None })
    }

    pub fn list() -> Result<Vec<DeviceInfo>, String> {
        let about = |(index, device): (usize, Device)| DeviceInfo {
            name: format!("wgpu:{index}"),
            description: name(&device),
            usable: true,
        };
        Ok(gpus()?.into_iter().enumerate().map(about).collect())
    }

    /// Returns the GPUs in the order in which the drivers show them.
    fn gpus() -> Result<Vec<Device>, String> {
        let found = catch_unwind(|| Device::enumerate(DeviceType::Wgpu).into_iter().collect::<Vec<_>>());
        let found = found.map_err(|panic| message(panic.as_ref()))?;
        if found.is_empty() {
            return Err(
                "no driver of Vulkan or Metal lists a GPU; install the driver of its maker, or Mesa's for AMD and Intel (Debian: \
                 `mesa-vulkan-drivers`); `vulkaninfo --summary` lists what Vulkan finds"
                    .to_owned(),
            );
        }
        Ok(found)
    }

    fn name(device: &Device) -> String {
        device.identity().map_or_else(|| "a GPU without a name".to_owned(), |identity| identity.name)
    }
}
