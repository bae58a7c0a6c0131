//! Panics of the libraries of GPUs, as messages.

use std::any::Any;

/// Returns the message of a panic of a GPU's libraries, for people.
pub fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    let text = text.unwrap_or("without a message");
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    format!("the GPU failed: {} (the whole message stands in the log)", lines.next().unwrap_or("without a message"))
}

/// Computes a sum on `device`, so that a kernel is compiled, loaded and run before hours of work depend on it.
///
/// # Errors
/// The device fails, or computes something else.
#[cfg(feature = "gpu")]
pub fn compute(device: &burn::tensor::Device) -> Result<(), String> {
    use burn::tensor::Tensor;

    let sum = || (Tensor::<1>::ones([8], device) * 3.0).sum().into_data().try_to_vec::<f32>();
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(sum)) {
        Ok(Ok(sum)) if sum == [24.0] => Ok(()),
        Ok(found) => Err(format!("it sums eight threes to {found:?}")),
        Err(panic) => Err(message(panic.as_ref())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_reported_by_its_first_line() {
        let of = |panic: Box<dyn Any + Send>| message(panic.as_ref());
        assert_eq!(
            of(Box::new("\n  out of memory\n  at 0x1\n".to_owned())),
            "the GPU failed: out of memory (the whole message stands in the log)"
        );
        assert!(of(Box::new("short")).starts_with("the GPU failed: short ("));
        assert!(of(Box::new(7)).starts_with("the GPU failed: without a message ("));
    }
}
