//! Factors of rotary positions on a GPU, uploaded once for all layers of a pass.

use std::cell::RefCell;
use std::sync::Arc;

use crate::gpu::{Array, Gpu};
use crate::ops::attention::rotation::Rotation;

struct UploadedCosines {
    cosines: Arc<[f32]>,
    gpu: Gpu,
    array: Array,
}

thread_local! {
    /// The last rotation of this thread: the layers of a pass have the same.
    static LAST: RefCell<Option<UploadedCosines>> = const { RefCell::new(None) };
}

/// Cosines and sines of each position: [time, 2, head width].
pub fn turns(gpu: &Gpu, rotation: &Rotation) -> Array {
    let (cosines, sines) = rotation.factors();
    LAST.with_borrow_mut(|last| match last {
        // The same slice, not an equal one: it is kept, so that no other can have its address.
        Some(last) if Arc::ptr_eq(&last.cosines, cosines) && last.gpu.is(gpu) => last.array.clone(),
        _ => {
            let width = rotation.head_width();
            let rows = cosines.chunks_exact(width).zip(sines.chunks_exact(width));
            let bits: Vec<u32> = rows.flat_map(|(c, s)| [c, s]).flatten().map(|factor| factor.to_bits()).collect();
            let array = gpu.upload(&bits);
            *last = Some(UploadedCosines { cosines: cosines.clone(), gpu: gpu.clone(), array: array.clone() });
            array
        }
    })
}
