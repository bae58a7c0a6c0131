//! Reports the progress of a request a few times a second.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::transfer::TransferEvent;
use cwm_core::lock_mutex;

/// Counts the bytes of a request.
pub struct TransferProgress {
    send: Box<dyn Fn(TransferEvent) + Send + Sync>,
    began: Instant,
    done: AtomicU64,
    total: AtomicU64,
    reported: Mutex<Instant>,
}

const REPORT_INTERVAL: Duration = Duration::from_millis(200);

impl TransferProgress {
    /// Returns a request that begins now. `send` receives its events, from any thread.
    pub fn new(send: impl Fn(TransferEvent) + Send + Sync + 'static) -> TransferProgress {
        let (done, total, began) = (AtomicU64::new(0), AtomicU64::new(0), Instant::now());
        TransferProgress { send: Box::new(send), began, done, total, reported: Mutex::new(began) }
    }

    /// Sends an event.
    pub fn send(&self, event: TransferEvent) {
        (self.send)(event);
    }

    /// Returns the seconds since the request began.
    pub fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// Reports that so many objects with so many bytes start to move.
    pub fn begin(&self, objects: u64, bytes: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(bytes, Ordering::Relaxed);
        self.send(TransferEvent::Started { objects, bytes });
    }

    /// Counts so many bytes more.
    pub fn add(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let total = self.total.load(Ordering::Relaxed);
        let mut reported = lock_mutex(&self.reported);
        if reported.elapsed() >= REPORT_INTERVAL {
            *reported = Instant::now();
            self.send(TransferEvent::Progress { done: done.min(total), total });
        }
    }
}
