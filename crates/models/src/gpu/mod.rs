//! Kernels on GPUs: arrays in a GPU's memory, and operations on them as nodes of Burn's graph.
//!
//! An operation has one kernel or a few, forward and backward, written in CubeCL: the same source becomes CUDA C++ for
//! GPUs of NVIDIA and WGSL for those of others. The kernels of an operation stand beside its kernel for the CPU, in a
//! file `gpu.rs`. docs/design/operations.md says how they are tested without a GPU.
//!
//! What is public here is for kernels of other crates, such as the optimiser's.

mod array;
#[allow(missing_docs, reason = "`cube` makes a module beside each function")]
mod columns;
mod lengths;
pub(crate) mod math;
mod operation;
#[allow(missing_docs, reason = "`cube` makes a module beside each function")]
mod reduce;
mod rows;

pub use array::{Array, Gpu, PendingRead, cubes, cubes_of};
pub(crate) use columns::{join_rows, split_columns};
pub(crate) use operation::{Operation, apply};
pub use reduce::sum_of_cube;
pub(crate) use reduce::{sum_over_rows, sums_over_rows};
pub(crate) use rows::{Rows, sum_of_lanes, sum_of_rows};

/// Threads of a cube in kernels that work element by element.
pub const THREADS: u32 = 256;

const WRONG_TENSOR: &str = "operations have their tensors on one GPU, without gradient checkpointing";
