//! Limits of time and of attempts.

use std::time::Duration;

use crate::proxy::{self, Variables};

/// Limits of time and effort. They decide whether a request succeeds, never what it yields.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The time for connecting, names and TLS included.
    pub connect: Duration,
    /// The time for the head of the answer.
    pub response: Duration,
    /// The time between two pieces of the body. There is no limit for the whole: months of games take hours.
    pub read: Duration,
    /// The pause before the second try; doubled with each further one in a row that gave nothing.
    pub initial_backoff: Duration,
    /// Longest wait before a try, also where the server requires a longer one.
    pub max_backoff: Duration,
    /// Number of attempts in a row without success after which it fails.
    pub tries: u32,
    /// Number of connections that stay open for further requests.
    pub connections: usize,
    /// Number of redirects that are followed; with 0 a redirect is the response.
    pub redirects: u32,
    /// The variables of the environment that name proxies.
    pub proxies: Variables,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            connect: Duration::from_secs(30),
            response: Duration::from_secs(60),
            read: Duration::from_secs(30),
            initial_backoff: Duration::from_secs(1),
            max_backoff: Duration::from_secs(60),
            tries: 6,
            connections: 3,
            redirects: 10,
            proxies: proxy::variables(),
        }
    }
}

impl Settings {
    /// Returns the wait after `fruitless` attempts in a row without success; at least the time that the server
    /// requires, within reason.
    pub fn backoff(&self, fruitless: u32, requested: Option<Duration>) -> Duration {
        let own = self.initial_backoff.saturating_mul(1 << fruitless.min(16));
        own.max(requested.unwrap_or_default()).min(self.max_backoff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_have_an_end() {
        let settings = Settings::default();
        let seconds: Vec<u64> = (0..8).map(|fruitless| settings.backoff(fruitless, None).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(settings.backoff(0, Some(Duration::from_secs(7))).as_secs(), 7);
        assert_eq!(settings.backoff(0, Some(Duration::from_secs(86_400))).as_secs(), 60);
    }
}
