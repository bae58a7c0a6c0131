//! Chooses the implementation of an operation: a kernel for the device, or the same composed of Burn's operations.
//!
//! [`decomposed`] makes operations on the CPU take the composed form: the kernels of all devices are compared with it.

use std::cell::Cell;

use burn::tensor::Device;

thread_local! {
    static DECOMPOSED: Cell<bool> = const { Cell::new(false) };
}

/// Does `work` with every operation decomposed, on the CPU too. This holds for the calling thread and for what is
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

/// The implementations of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Implementation {
    /// A kernel for the CPU.
    Cpu,
    /// Kernels for GPUs.
    #[cfg(feature = "gpu")]
    Gpu,
    /// Burn's operations.
    Decomposed,
}

/// The implementation for tensors of `device`.
pub(crate) fn implementation(device: &Device) -> Implementation {
    let is_cpu = *device == crate::device::cpu();
    match (DECOMPOSED.get(), is_cpu) {
        (false, true) => Implementation::Cpu,
        #[cfg(feature = "gpu")]
        (false, false) => Implementation::Gpu,
        _ => Implementation::Decomposed,
    }
}

/// Returns true if operations on tensors of `device` that have no kernel for GPUs are decomposed.
pub(crate) fn is_decomposed(device: &Device) -> bool {
    implementation(device) != Implementation::Cpu
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
