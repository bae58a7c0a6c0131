//! Lengths of the games of a batch on a GPU, uploaded once for all operations of a pass.

use std::cell::RefCell;
use std::sync::Arc;

use super::{Array, Gpu};

struct UploadedLengths {
    lengths: Arc<[usize]>,
    gpu: Gpu,
    array: Array,
}

thread_local! {
    /// The last batch of this thread: passes of one batch follow each other.
    static LAST: RefCell<Option<UploadedLengths>> = const { RefCell::new(None) };
}

impl Gpu {
    /// The number of steps of each game, u32: [games].
    pub fn lengths(&self, lengths: &Arc<[usize]>) -> Array {
        LAST.with_borrow_mut(|last| match last {
            // The same slice, not an equal one: it is kept, so that no other can have its address.
            Some(last) if Arc::ptr_eq(&last.lengths, lengths) && last.gpu.is(self) => last.array.clone(),
            _ => {
                let values: Vec<u32> = lengths.iter().map(|&length| length as u32).collect();
                let array = self.upload(&values);
                *last = Some(UploadedLengths { lengths: lengths.clone(), gpu: self.clone(), array: array.clone() });
                array
            }
        })
    }
}
