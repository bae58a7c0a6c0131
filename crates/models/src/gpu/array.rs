//! Arrays in a GPU's memory.

use burn::backend::TensorMetadata;
use burn::tensor::{DType, Shape};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use burn_cubecl::{CubeBackend, CubeDevice};
use cubecl::client::Client;
use cubecl::prelude::{BufferArg, CubeCount};

use super::THREADS;

/// Values of four bytes, one after the other, in a GPU's memory: f32, or u32 where a kernel wants those.
#[derive(Clone, Debug)]
pub struct Array {
    tensor: CubeTensor,
    len: usize,
}

impl Array {
    /// The values of a tensor, copied if they are not one after the other.
    pub(super) fn new(tensor: CubeTensor) -> Self {
        let tensor = into_contiguous(tensor);
        let len = tensor.shape().num_elements();
        Array { tensor, len }
    }

    /// The same values, as a flat tensor.
    pub(super) fn into_tensor(self) -> CubeTensor {
        self.tensor
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The array as an argument of a kernel, which may write only to what [`Gpu::empty`] made.
    pub fn arg(&self) -> BufferArg {
        // SAFETY: the tensor has so many contiguous values, by construction.
        unsafe { BufferArg::from_raw_parts(self.tensor.handle.clone(), self.len) }
    }

    /// The GPU that holds the values.
    pub fn gpu(&self) -> Gpu {
        Gpu { client: self.tensor.client.clone(), device: self.tensor.device.clone() }
    }
}

/// A GPU: where kernels are launched and arrays are made.
#[derive(Clone)]
pub struct Gpu {
    client: Client,
    device: CubeDevice,
}

impl Gpu {
    /// What kernels are launched on.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns true if both are the same GPU.
    pub(super) fn is(&self, other: &Gpu) -> bool {
        self.device == other.device
    }

    /// An array of `len` values, whatever the memory holds.
    pub fn empty(&self, len: usize) -> Array {
        // No kernel may be given a buffer of nothing.
        let handle = self.client.empty(len.max(1) * size_of::<f32>());
        self.array(handle, len)
    }

    /// An array with these values.
    pub fn upload(&self, values: &[u32]) -> Array {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let handle = self.client.create_from_slice(if bytes.is_empty() { &[0; 4] } else { &bytes });
        self.array(handle, values.len())
    }

    fn array(&self, handle: cubecl::server::Handle, len: usize) -> Array {
        let (client, device) = (self.client.clone(), self.device.clone());
        let tensor = CubeTensor::new_contiguous(client, device, Shape::from([len]), handle, DType::F32);
        Array { tensor, len }
    }
}

/// So many cubes. A GPU has at most 65,535 along an axis, so there may be more than were asked for: a kernel compares
/// `CUBE_POS` (or `ABSOLUTE_POS`) with the number of them that it needs.
pub fn cubes(count: usize) -> CubeCount {
    const ROW: usize = 1 << 15;
    let count = count.max(1);
    CubeCount::Static(count.min(ROW) as u32, count.div_ceil(ROW) as u32, 1)
}

/// As many cubes of [`THREADS`] as give each of `elements` a thread.
pub fn cubes_of(elements: usize) -> CubeCount {
    cubes(elements.div_ceil(THREADS as usize))
}

/// The backend of all GPUs.
pub(super) type Backend = CubeBackend;
