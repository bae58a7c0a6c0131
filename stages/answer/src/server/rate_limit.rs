//! The time at which the next request may be sent: waits and the rate, shared by all connections.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cwm_contract::{Cancellation, Failure};
use cwm_web::pause;

/// The limit of the rate of requests.
pub struct RateLimit {
    /// The earliest moment of the next request.
    next: Mutex<Instant>,
    /// The time between two requests.
    interval: Duration,
}

impl RateLimit {
    /// A limit of so many requests a minute, at an even pace.
    pub fn new(requests_per_minute: Option<u64>) -> Self {
        let interval =
            requests_per_minute.map_or(Duration::ZERO, |requests| Duration::from_secs(60).div_f64(requests as f64));
        RateLimit { next: Mutex::new(Instant::now()), interval }
    }

    /// Sends no request for so long.
    pub fn delay(&self, wait: Duration) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = (*next).max(Instant::now() + wait);
    }

    /// Waits until a request may be sent.
    ///
    /// # Errors
    /// No more requests are wanted.
    pub fn wait(&self, ending: &Cancellation) -> Result<(), Failure> {
        loop {
            let wait = {
                let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
                let now = Instant::now();
                if *next <= now {
                    *next = now + self.interval;
                    Duration::ZERO
                } else {
                    *next - now
                }
            };
            pause(ending, wait)?;
            if wait.is_zero() {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_and_a_wait_hold_for_all() {
        let (limit, ending) = (RateLimit::new(Some(600)), Cancellation::default());
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| limit.wait(&ending).unwrap());
            }
        });
        assert!(begun.elapsed() >= Duration::from_millis(300), "{:?}", begun.elapsed());
        limit.delay(Duration::from_millis(400));
        let begun = Instant::now();
        limit.wait(&ending).unwrap();
        assert!(begun.elapsed() >= Duration::from_millis(390), "{:?}", begun.elapsed());
        ending.cancel();
        limit.delay(Duration::from_secs(36_000));
        assert!(limit.wait(&ending).is_err());
    }
}
