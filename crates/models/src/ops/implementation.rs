//! Chooses the form of an operation: its kernel, or the same decomposed into Burn's tensor operations.
//!
//! A kernel runs on the processor alone. On any other device an operation is decomposed, with Burn's own gradients, so that
//! it runs wherever Burn does. [`decomposed`] makes operations on the processor take that form too: what a GPU computes is
//! then held, without a GPU, to all that the kernels are held to.

use std::cell::Cell;

use burn::tensor::Device;

thread_local! {
    static DECOMPOSED: Cell<bool> = const { Cell::new(false) };
}

/// Does `work` with every operation decomposed, on the processor too. This holds for the calling thread and for what is
/// computed forwards there; gradients follow the form that was taken forwards.
pub fn decomposed<R>(work: impl FnOnce() -> R) -> R {
    struct RestoreOnDrop(bool);
    impl Drop for RestoreOnDrop {
        fn drop(&mut self) {
            DECOMPOSED.set(self.0);
        }
    }
    let _before = RestoreOnDrop(DECOMPOSED.replace(true));
    work()
}

/// Returns true if operations on tensors of `device` are decomposed.
pub(crate) fn is_decomposed(device: &Device) -> bool {
    DECOMPOSED.get() || *device != crate::device::cpu()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;

    #[test]
    fn the_processor_has_kernels_but_where_it_is_asked_not_to() {
        assert!(!is_decomposed(&cpu()) && !is_decomposed(&cpu().autodiff()));
        let inside = decomposed(|| {
            (is_decomposed(&cpu()), decomposed(|| is_decomposed(&cpu().autodiff())), is_decomposed(&cpu()))
        });
        assert_eq!(inside, (true, true, true));
        assert!(!is_decomposed(&cpu()));
        let panicked = std::panic::catch_unwind(|| decomposed(|| panic!("on purpose")));
        assert!(panicked.is_err() && !is_decomposed(&cpu()), "a panic leaves the form as it was");
        decomposed(|| std::thread::scope(|scope| scope.spawn(|| assert!(!is_decomposed(&cpu()))).join().unwrap()));
    }
}
