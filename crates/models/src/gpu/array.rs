//! Arrays in a GPU's memory.

use std::future::poll_fn;
use std::mem::replace;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use burn::backend::TensorMetadata;
use burn::tensor::{DType, Shape, Tensor};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use burn_cubecl::{CubeBackend, CubeDevice};
use cubecl::bytes::Bytes;
use cubecl::client::Client;
use cubecl::prelude::{BufferArg, CubeCount};
use cubecl::server::ServerError;

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

    /// Returns the values as a flat tensor.
    pub(super) fn into_tensor(self) -> CubeTensor {
        self.tensor
    }

    /// The values in `range`, as a tensor in the same memory: what a kernel writes to the array later shows in the tensor.
    /// The range begins at a multiple of [`Gpu::alignment`].
    pub fn part(&self, range: Range<usize>) -> Tensor<1> {
        debug_assert!(range.start.is_multiple_of(self.gpu().alignment()) && range.end <= self.len);
        let bytes = |values: usize| (values * size_of::<f32>()) as u64;
        let handle = self.tensor.handle.clone();
        let after = handle.size_in_used() - bytes(range.end);
        let handle = handle.offset_start(bytes(range.start)).offset_end(after);
        Tensor::from_primitive::<Backend>(self.gpu().array(handle, range.len()).tensor)
    }

    /// Returns true if there is no value.
    pub fn is_empty(&self) -> bool {
        self.len == 0
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

/// The values of a tensor of f32 on a GPU, without gradients.
impl From<Tensor<1>> for Array {
    fn from(tensor: Tensor<1>) -> Self {
        Array::new(tensor.try_into_primitive::<Backend>().expect("the tensor is on a GPU, without gradients"))
    }
}

/// A GPU: where kernels are launched and arrays are made.
#[derive(Clone)]
pub struct Gpu {
    client: Client,
    device: CubeDevice,
}

impl Gpu {
    /// The client that launches kernels.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns true if both are the same GPU.
    pub fn is(&self, other: &Gpu) -> bool {
        self.device == other.device
    }

    /// An array of `len` values, whatever the memory holds.
    pub fn empty(&self, len: usize) -> Array {
        // No kernel may be given a buffer of nothing.
        let handle = self.client.empty(len.max(1) * size_of::<f32>());
        self.array(handle, len)
    }

    /// Arrays of these lengths with one memory, and that as one array too, with the places where they begin in it: for
    /// kernels that would otherwise have more buffers than GPUs grant (eight).
    pub fn empty_parts<const N: usize>(&self, lens: [usize; N]) -> (Array, [Array; N], [usize; N]) {
        // GPUs read buffers from such places alone.
        let unit = (self.client.properties().memory.alignment as usize).div_ceil(size_of::<f32>());
        let rooms = lens.map(|len| len.max(1).next_multiple_of(unit));
        let whole = self.empty(rooms.iter().sum());
        let mut end = 0;
        let starts = rooms.map(|room| {
            end += room;
            end - room
        });
        let bytes = |values: usize| (values * size_of::<f32>()) as u64;
        let parts = std::array::from_fn(|part| {
            let after = end - starts[part] - rooms[part];
            let handle = whole.tensor.handle.clone();
            self.array(handle.offset_start(bytes(starts[part])).offset_end(bytes(after)), lens[part])
        });
        (whole, parts, starts)
    }

    /// An array with these values.
    pub fn upload(&self, values: &[u32]) -> Array {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let handle = self.client.create_from_slice(if bytes.is_empty() { &[0; 4] } else { &bytes });
        self.array(handle, values.len())
    }

    /// The values of several arrays of f32, after one wait for the GPU.
    pub fn read(&self, arrays: &[&Array]) -> Vec<Vec<f32>> {
        self.start_read(arrays).wait()
    }

    /// Copies the values of several arrays of f32 as they are at this place in the GPU's queue: what is launched later changes
    /// nothing, and waiting for the copy does not wait for that.
    pub fn start_read(&self, arrays: &[&Array]) -> PendingRead {
        let handles = arrays.iter().map(|array| array.tensor.handle.clone()).collect();
        let client = self.client.clone();
        let mut copies: PendingCopies = Box::pin(async move {
            // This puts the copies into the queue. The future borrows the client, so both are in this one.
            let copies = client.read_async(handles);
            let mut has_begun = false;
            poll_fn(|_| if replace(&mut has_begun, true) { Poll::Ready(()) } else { Poll::Pending }).await;
            copies.await
        });
        let begun = copies.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        debug_assert!(begun.is_pending());
        PendingRead { copies, lens: arrays.iter().map(|array| array.len).collect() }
    }

    /// Parts of arrays begin at multiples of so many values.
    pub fn alignment(&self) -> usize {
        (self.client.properties().memory.alignment as usize / size_of::<f32>()).max(1)
    }

    fn array(&self, handle: cubecl::server::Handle, len: usize) -> Array {
        let (client, device) = (self.client.clone(), self.device.clone());
        let tensor = CubeTensor::new_contiguous(client, device, Shape::from([len]), handle, DType::F32);
        Array { tensor, len }
    }
}

type PendingCopies = Pin<Box<dyn Future<Output = Result<Vec<Bytes>, ServerError>>>>;

/// Copies of arrays on their way to the host.
pub struct PendingRead {
    copies: PendingCopies,
    lens: Vec<usize>,
}

impl PendingRead {
    /// Waits for the copies.
    ///
    /// # Panics
    /// The memory cannot be read.
    pub fn wait(self) -> Vec<Vec<f32>> {
        let copies = cubecl::future::block_on(self.copies);
        let copies = copies.unwrap_or_else(|error| panic!("a GPU's memory cannot be read: {error}"));
        let floats = |(bytes, len): (Bytes, usize)| {
            let values = bytes.chunks_exact(size_of::<f32>()).take(len);
            values.map(|value| f32::from_ne_bytes(value.try_into().expect("four bytes"))).collect()
        };
        copies.into_iter().zip(self.lens).map(floats).collect()
    }
}

/// Returns `count` cubes. A GPU has at most 65,535 along an axis, so there may be more than were requested: a kernel
/// compares `CUBE_POS` (or `ABSOLUTE_POS`) with the number of them that it needs.
pub fn cubes(count: usize) -> CubeCount {
    const ROW: usize = 1 << 15;
    let count = count.max(1);
    CubeCount::Static(count.min(ROW) as u32, count.div_ceil(ROW) as u32, 1)
}

/// Returns the number of cubes of [`THREADS`] that gives each of `elements` a thread.
pub fn cubes_of(elements: usize) -> CubeCount {
    cubes(elements.div_ceil(THREADS as usize))
}

/// The backend of all GPUs.
pub(super) type Backend = CubeBackend;
