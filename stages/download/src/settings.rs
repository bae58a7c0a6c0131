//! How patient a download is.

use std::time::Duration;

use crate::proxy::{self, Variables};

/// Limits of time and effort. They decide whether a download succeeds, never what it yields.
#[derive(Clone, Debug)]
pub struct Settings {
    /// For connecting, names and TLS included.
    pub connect: Duration,
    /// For the head of the answer.
    pub response: Duration,
    /// Between two pieces of the body. There is no limit for the whole: months of games take hours.
    pub read: Duration,
    /// Before the second try; doubled with each further one in a row that brought nothing.
    pub first_wait: Duration,
    /// Longest wait before a try, also where the server asks for a longer one.
    pub longest_wait: Duration,
    /// So many tries in a row that bring nothing new end it.
    pub tries: u32,
    /// What has arrived is made safe against loss of power after so many bytes.
    pub checkpoint: u64,
    /// The variables of the environment that name proxies.
    pub proxies: Variables,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            connect: Duration::from_secs(30),
            response: Duration::from_secs(60),
            read: Duration::from_secs(30),
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(60),
            tries: 6,
            checkpoint: 16 << 20,
            proxies: proxy::variables(),
        }
    }
}

impl Settings {
    /// How long to wait after `idle` tries in a row that brought nothing; at least what the server asked for, within
    /// reason.
    pub fn wait(&self, idle: u32, asked: Option<Duration>) -> Duration {
        let own = self.first_wait.saturating_mul(1 << idle.min(16));
        own.max(asked.unwrap_or_default()).min(self.longest_wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_have_an_end() {
        let settings = Settings::default();
        let seconds: Vec<u64> = (0..8).map(|idle| settings.wait(idle, None).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(settings.wait(0, Some(Duration::from_secs(7))).as_secs(), 7);
        assert_eq!(settings.wait(0, Some(Duration::from_secs(86_400))).as_secs(), 60);
    }
}
