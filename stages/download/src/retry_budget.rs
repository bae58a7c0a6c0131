//! The retry policy of a download: number of attempts and backoff.

use std::time::Duration;

use cwm_contract::{Context, Failure};
use cwm_web::{Settings, pause};

/// Counts attempts in a row that gave nothing new, and ends the download when there are too many.
pub struct RetryBudget<'a> {
    context: &'a Context,
    settings: &'a Settings,
    fruitless: u32,
}

impl<'a> RetryBudget<'a> {
    /// The budget before the first attempt.
    pub fn new(context: &'a Context, settings: &'a Settings) -> Self {
        RetryBudget { context, settings, fruitless: 0 }
    }

    /// Waits for the next attempt after one that ended with `reason`, and reports it. `progressed` is true if it
    /// brought anything new; `after` is how long the server requires to wait.
    ///
    /// # Errors
    /// The tries are used up (`what` did not come), or the stage was cancelled.
    pub fn wait_for_retry(
        &mut self,
        what: &str,
        reason: &str,
        progressed: bool,
        after: Option<Duration>,
        have: u64,
    ) -> Result<(), Failure> {
        self.fruitless = if progressed { 0 } else { self.fruitless + 1 };
        if self.fruitless >= self.settings.tries {
            let failure =
                Failure::system(format!("{what}: {reason}; {} attempts in a row transferred nothing", self.fruitless));
            return Err(match have {
                0 => failure,
                _ => failure.hint(format!("the {have} bytes that have arrived are kept: run again to resume")),
            });
        }
        let wait = self.settings.backoff(self.fruitless, after);
        let next = format!("next try in {:.0} s", wait.as_secs_f64());
        self.context.note(format!("{what}: {reason}, after {have} bytes; {next}"));
        pause(self.context.cancellation(), wait)
    }
}
