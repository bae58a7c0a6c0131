//! Waits that a request to stop ends.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use cwm_contract::{Cancellation, Failure};

/// The interval between two checks for a request to stop.
const STEP: Duration = Duration::from_millis(100);

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
            Some(left) if !left.is_zero() => std::thread::sleep(left.min(STEP)),
            _ => return Ok(()),
        }
    }
}

/// Does `work` in a thread of its own and waits for it. Where the stage is cancelled, the thread is left to itself.
///
/// # Errors
/// The stage was cancelled, or the thread ended without a result.
pub fn in_background<T: Send + 'static>(
    cancellation: &Cancellation,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let (sender, done) = channel();
    std::thread::Builder::new().spawn(move || drop(sender.send(work())))?;
    loop {
        if cancellation.is_cancelled() {
            return Err(Failure::cancelled());
        }
        match done.recv_timeout(STEP) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Failure::internal("a thread ended without a result")),
        }
    }
}
