//! Waits that a request to stop ends.

use std::time::{Duration, Instant};

use cwm_contract::{Cancellation, Failure};

/// Sleeps.
///
/// # Errors
/// The stage was cancelled.
pub fn pause(cancellation: &Cancellation, wait: Duration) -> Result<(), Failure> {
    let end = Instant::now() + wait;
    loop {
        if cancellation.is_cancelled() {
            return Err(Failure::cancelled());
        }
        match end.checked_duration_since(Instant::now()) {
            Some(left) if !left.is_zero() => std::thread::sleep(left.min(Duration::from_millis(100))),
            _ => return Ok(()),
        }
    }
}
