//! Which form an operation takes: its kernel, or the same composed of Burn's tensor operations.
//!
//! A kernel runs on the processor alone. On any other device an operation is composed, with Burn's own gradients, so that
//! it runs wherever Burn does. [`composed`] makes operations on the processor take that form too: what a GPU computes is
//! then held, without a GPU, to all that the kernels are held to.

use std::cell::Cell;

use burn::tensor::Device;

thread_local! {
    static COMPOSED: Cell<bool> = const { Cell::new(false) };
}

/// Does `work` with every operation composed, on the processor too. This holds for the calling thread and for what is
/// computed forwards there; gradients follow the form that was taken forwards.
pub fn composed<R>(work: impl FnOnce() -> R) -> R {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            COMPOSED.set(self.0);
        }
    }
    let _before = Before(COMPOSED.replace(true));
    work()
}

/// Whether operations on tensors of `device` are composed.
pub(crate) fn is_composed(device: &Device) -> bool {
    COMPOSED.get() || *device != crate::device::cpu()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;

    #[test]
    fn the_processor_has_kernels_but_where_it_is_asked_not_to() {
        assert!(!is_composed(&cpu()) && !is_composed(&cpu().autodiff()));
        let inside =
            composed(|| (is_composed(&cpu()), composed(|| is_composed(&cpu().autodiff())), is_composed(&cpu())));
        assert_eq!(inside, (true, true, true));
        assert!(!is_composed(&cpu()));
        let panicked = std::panic::catch_unwind(|| composed(|| panic!("on purpose")));
        assert!(panicked.is_err() && !is_composed(&cpu()), "a panic leaves the form as it was");
        composed(|| std::thread::scope(|scope| scope.spawn(|| assert!(!is_composed(&cpu()))).join().unwrap()));
    }
}
