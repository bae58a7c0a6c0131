//! Reports the progress of a transfer a few times a second.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Receives the bytes that have moved and the bytes in all.
pub type ProgressCallback = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// Counts the bytes of a transfer.
pub struct TransferProgress {
    done: AtomicU64,
    total: u64,
    reported: Mutex<Instant>,
    on_progress: ProgressCallback,
}

const REPORT_INTERVAL: Duration = Duration::from_millis(200);

impl TransferProgress {
    /// Nothing of `total` bytes is moved yet.
    pub fn new(total: u64, on_progress: ProgressCallback) -> Arc<TransferProgress> {
        Arc::new(TransferProgress { done: AtomicU64::new(0), total, reported: Mutex::new(Instant::now()), on_progress })
    }

    /// So many bytes more.
    pub fn add(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.elapsed() >= REPORT_INTERVAL {
            *reported = Instant::now();
            (self.on_progress)(done.min(self.total), self.total);
        }
    }
}
