//! Operations with a backward pass of our own, each in two forms.
//!
//! On the CPU each is a kernel: one sweep over memory, forward and backward. Burn's CPU backend has no
//! threads in elementwise operations and makes a full-size temporary for each, which is where most of a training step
//! went before. Beside each kernel stands the same decomposed into Burn's own operations: the form in which any other device
//! has it, and what the kernel is held to. [`decomposed`] says which is taken when; docs/design/operations.md, how.

pub(crate) mod aligned;
pub mod attention;
mod convolution;
pub(crate) mod decay;
pub(crate) mod dropout;
pub mod exp;
mod gelu;
mod gelu_tanh;
pub(crate) mod implementation;
pub(crate) mod kernel;
mod layer_norm;
mod linear;
pub mod matrix;
pub(crate) mod padding;
pub(crate) mod product;
mod real;
mod rms_norm;
pub(crate) mod state_space;
mod swiglu;

pub use convolution::short_convolution;
pub use dropout::{Dropout, dropout};
pub use gelu::gelu;
pub use gelu_tanh::gelu_tanh;
pub use implementation::decomposed;
pub use layer_norm::layer_norm;
pub use linear::{linear, linear_parts, linears};
pub use real::Real;
pub use rms_norm::rms_norm;
pub use swiglu::{Gate, swiglu, swiglu_of};

/// Lanes of the fixed order in which [`dot`] and [`sum`] add, the same on every CPU.
pub(crate) const LANES: usize = 16;

/// Σ a ⊙ b, added in 16 lanes, whatever the width of the CPU's registers.
#[inline(always)]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let (mut a, mut b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    for (a, b) in (&mut a).zip(&mut b) {
        for i in 0..LANES {
            lanes[i] += a[i] * b[i];
        }
    }
    for (lane, (a, b)) in lanes.iter_mut().zip(a.remainder().iter().zip(b.remainder())) {
        *lane += a * b;
    }
    fold(lanes)
}

/// Σ a, added in 16 lanes.
#[inline(always)]
pub(crate) fn sum(a: &[f32]) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let mut chunks = a.chunks_exact(LANES);
    for chunk in &mut chunks {
        for i in 0..LANES {
            lanes[i] += chunk[i];
        }
    }
    for (lane, a) in lanes.iter_mut().zip(chunks.remainder()) {
        *lane += a;
    }
    fold(lanes)
}

/// The largest element, without regard to NaNs; -∞ if there is no other.
#[inline(always)]
pub(crate) fn largest(a: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let mut chunks = a.chunks_exact(LANES);
    for chunk in &mut chunks {
        for i in 0..LANES {
            lanes[i] = larger(lanes[i], chunk[i]);
        }
    }
    for (lane, &a) in lanes.iter_mut().zip(chunks.remainder()) {
        *lane = larger(*lane, a);
    }
    lanes.into_iter().fold(f32::NEG_INFINITY, larger)
}

#[inline(always)]
fn fold(mut lanes: [f32; LANES]) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] += lanes[i + half];
        }
        half /= 2;
    }
    lanes[0]
}
