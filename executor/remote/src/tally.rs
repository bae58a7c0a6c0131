//! How far a transfer is, told a few times a second.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Who is told: bytes done and bytes in all.
pub type Listener = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// What was moved of what there is to move.
pub struct Tally {
    done: AtomicU64,
    total: u64,
    told: Mutex<Instant>,
    listener: Listener,
}

const OFTEN: Duration = Duration::from_millis(200);

impl Tally {
    /// Nothing of `total` bytes is moved yet.
    pub fn of(total: u64, listener: Listener) -> Arc<Tally> {
        Arc::new(Tally { done: AtomicU64::new(0), total, told: Mutex::new(Instant::now()), listener })
    }

    /// So many bytes more.
    pub fn add(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.elapsed() >= OFTEN {
            *told = Instant::now();
            (self.listener)(done.min(self.total), self.total);
        }
    }
}
