//! When the next request may be sent: waits and the rate, shared by all connections.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cwm_contract::{Cancellation, Failure};
use cwm_web::pause;

/// The gate through which every request goes.
pub struct Gate {
    /// The earliest moment of the next request.
    next: Mutex<Instant>,
    /// The time between two requests.
    interval: Duration,
}

impl Gate {
    /// A gate for so many requests a minute, at an even pace.
    pub fn new(requests_per_minute: Option<u64>) -> Self {
        let interval =
            requests_per_minute.map_or(Duration::ZERO, |requests| Duration::from_secs(60).div_f64(requests as f64));
        Gate { next: Mutex::new(Instant::now()), interval }
    }

    /// Lets no request pass for so long.
    pub fn close(&self, wait: Duration) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = (*next).max(Instant::now() + wait);
    }

    /// Waits until a request may be sent.
    ///
    /// # Errors
    /// No more requests are wanted.
    pub fn pass(&self, ending: &Cancellation) -> Result<(), Failure> {
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
        let (gate, ending) = (Gate::new(Some(600)), Cancellation::default());
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| gate.pass(&ending).unwrap());
            }
        });
        assert!(begun.elapsed() >= Duration::from_millis(300), "{:?}", begun.elapsed());
        gate.close(Duration::from_millis(400));
        let begun = Instant::now();
        gate.pass(&ending).unwrap();
        assert!(begun.elapsed() >= Duration::from_millis(390), "{:?}", begun.elapsed());
        ending.cancel();
        gate.close(Duration::from_secs(36_000));
        assert!(gate.pass(&ending).is_err());
    }
}
