//! Exponential backoff: the pauses between attempts at something that may succeed in a moment.

use std::time::Duration;

/// Pauses that double up to a longest one.
#[derive(Clone, Debug)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    /// Starts with a pause of `first`.
    pub fn new(first: Duration, longest: Duration) -> Backoff {
        Backoff { first, longest, next: first.min(longest) }
    }

    /// Returns the pause before the next attempt.
    pub fn next_delay(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        pause
    }

    /// Starts anew, after a success.
    pub fn reset(&mut self) {
        self.next = self.first.min(self.longest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_start_anew_after_a_success() {
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(5));
        let mut pauses = || [(); 4].map(|()| backoff.next_delay().as_secs());
        assert_eq!((pauses(), pauses()), ([1, 2, 4, 5], [5; 4]));
        backoff.reset();
        assert_eq!(backoff.next_delay(), Duration::from_secs(1));
        assert_eq!(Backoff::new(Duration::from_secs(9), Duration::from_secs(5)).next_delay(), Duration::from_secs(5));
    }
}
