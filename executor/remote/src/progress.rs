//! Reports the progress of a transfer a few times a second.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::transfer::TransferEvent;

/// Receives the events of a request, from any thread.
pub type EventSender = Arc<dyn Fn(TransferEvent) + Send + Sync>;

/// Counts the bytes of a transfer.
pub struct TransferProgress {
    send: EventSender,
    done: AtomicU64,
    total: AtomicU64,
    reported: Mutex<Instant>,
}

const REPORT_INTERVAL: Duration = Duration::from_millis(200);

impl TransferProgress {
    /// A transfer of which nothing is known yet.
    pub fn new(send: EventSender) -> TransferProgress {
        TransferProgress {
            send,
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
            reported: Mutex::new(Instant::now()),
        }
    }

    /// Counts the bytes of objects that are no part of a reported transfer.
    pub fn silent() -> TransferProgress {
        TransferProgress::new(Arc::new(|_| {}))
    }

    /// So many objects with so many bytes start to move.
    pub fn begin(&self, objects: u64, bytes: u64) {
        self.total.store(bytes, Ordering::Relaxed);
        (self.send)(TransferEvent::Started { objects, bytes });
    }

    /// So many bytes more.
    pub fn add(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let total = self.total.load(Ordering::Relaxed);
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.elapsed() >= REPORT_INTERVAL {
            *reported = Instant::now();
            (self.send)(TransferEvent::Progress { done: done.min(total), total });
        }
    }
}
