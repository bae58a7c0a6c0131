//! GPUs of NVIDIA: what must be there, looked for in the order in which it is needed, with a message.
//!
//! Nothing of CUDA is linked: the driver and NVRTC are loaded at run time, and their absence would be a panic deep in a
//! library. So everything is tried here first.

use cwm_contract::DeviceInfo;

use super::OpenDevice;

/// The GPU that the driver counts as `ordinal`, which people call `number`, once it has computed something.
///
/// # Errors
/// Something is missing; the message says what to do.
pub fn open(ordinal: u32, number: u32) -> Result<OpenDevice, String> {
    here::open(ordinal, number)
}

/// All GPUs that the driver shows to this process.
///
/// # Errors
/// Something is missing; the message says what to do.
pub fn list() -> Result<Vec<DeviceInfo>, String> {
    here::list()
}

#[cfg(not(feature = "cuda"))]
mod here {
    use super::{DeviceInfo, OpenDevice};

    const NONE: &str = "this build of cwm has no CUDA; build it with `cargo build --release --features cuda`";

    pub fn open(_ordinal: u32, _number: u32) -> Result<OpenDevice, String> {
        Err(NONE.to_owned())
    }

    pub fn list() -> Result<Vec<DeviceInfo>, String> {
        Err(NONE.to_owned())
    }
}

#[cfg(feature = "cuda")]
mod here {
    use std::panic::catch_unwind;

    use burn::tensor::Device;
    use cudarc::driver::{result, sys};

    use super::super::panic::{compute, message};
    use super::{DeviceInfo, OpenDevice};

    /// A header that kernels include, as a sign of all of them.
    const HEADER: &str = "cuda_fp16.h";

    pub fn open(ordinal: u32, number: u32) -> Result<OpenDevice, String> {
        let gpus = gpus()?;
        let count = gpus.len();
        let Some((name, _)) = gpus.into_iter().nth(ordinal as usize) else {
            let visible = std::env::var("CUDA_VISIBLE_DEVICES");
            let visible = visible.map_or_else(|_| String::new(), |ids| format!(" (CUDA_VISIBLE_DEVICES is `{ids}`)"));
            return Err(format!(
                "the driver shows {count} of them{visible}; `nvidia-smi -L` lists all, and a container must be given \
                 its GPUs"
            ));
        };
        let device = Device::cuda(ordinal as usize);
        compute(&device)?;
        Ok(OpenDevice { device, name: format!("cuda:{number}, {name}"), note: None })
    }

    pub fn list() -> Result<Vec<DeviceInfo>, String> {
        let about = |(index, (name, memory)): (usize, (String, usize))| DeviceInfo {
            name: format!("cuda:{index}"),
            description: format!("{name}, {}", cwm_contract::amount::format_bytes(memory as u64)),
            usable: true,
        };
        Ok(gpus()?.into_iter().enumerate().map(about).collect())
    }

    /// Name and bytes of memory of each GPU that the driver shows to this process.
    fn gpus() -> Result<Vec<(String, usize)>, String> {
        // SAFETY: both only try to load a library by its names and let it go again.
        let (driver, compiler) = unsafe { (sys::is_culib_present(), cudarc::nvrtc::sys::is_culib_present()) };
        if !driver {
            return Err(
                "NVIDIA's driver (libcuda.so) is not found; install it, or give it to the container (`--gpus all`, \
                        `--nv`)"
                    .to_owned(),
            );
        }
        if !compiler {
            return Err(
                "NVRTC (libnvrtc.so), which compiles kernels, is not found; it comes with the CUDA toolkit, or by \
                        itself (`cuda-nvrtc`, `pip install nvidia-cuda-nvrtc`): put its folder into LD_LIBRARY_PATH"
                    .to_owned(),
            );
        }
        match cubecl_cuda::install::cuda_path() {
            Some(folder) if folder.join("include").join(HEADER).is_file() => {}
            found => {
                let folder =
                    found.map_or_else(|| "the usual folders".to_owned(), |folder| folder.display().to_string());
                return Err(format!(
                    "CUDA's headers (include/{HEADER}) are not found in {folder}; install them (`cuda-cudart-dev`, or the \
                     toolkit) and set CUDA_PATH to the folder that has `include`"
                ));
            }
        }
        let found = catch_unwind(|| -> Result<_, cudarc::driver::DriverError> {
            result::init()?;
            let about = |index| {
                let device = result::device::get(index)?;
                // SAFETY: the driver has just given this handle.
                Ok((result::device::get_name(device)?, unsafe { result::device::total_mem(device)? }))
            };
            (0..result::device::get_count()?).map(about).collect()
        });
        match found {
            Ok(Ok(gpus)) => Ok(gpus),
            Ok(Err(error)) => Err(format!("the driver does not start: {error}; `nvidia-smi` may show why")),
            Err(panic) => Err(message(panic.as_ref())),
        }
    }
}
