//! How often, and how long apart, something is tried again.

use std::time::{Duration, Instant};

use cwm_contract::{Context, Failure};

use crate::settings::Settings;

/// Tries in a row that brought nothing new.
pub struct Patience<'a> {
    context: &'a Context,
    settings: &'a Settings,
    idle: u32,
}

impl<'a> Patience<'a> {
    /// None so far.
    pub fn new(context: &'a Context, settings: &'a Settings) -> Self {
        Patience { context, settings, idle: 0 }
    }

    /// After a try that ended with `reason`: waits for the next one, and says so. `brought` is whether it brought anything
    /// new; `after` is how long the server asked to wait.
    ///
    /// # Errors
    /// The tries are used up (`what` did not come), or the stage was asked to stop.
    pub fn again(
        &mut self,
        what: &str,
        reason: &str,
        brought: bool,
        after: Option<Duration>,
        have: u64,
    ) -> Result<(), Failure> {
        self.idle = if brought { 0 } else { self.idle + 1 };
        if self.idle >= self.settings.tries {
            let failure =
                Failure::system(format!("{what}: {reason}; {} tries in a row brought nothing new", self.idle));
            return Err(match have {
                0 => failure,
                _ => {
                    failure.hint(format!("the {have} bytes that have arrived are kept: run again to go on from there"))
                }
            });
        }
        let wait = self.settings.wait(self.idle, after);
        let next = format!("next try in {:.0} s", wait.as_secs_f64());
        self.context.note(format!("{what}: {reason}, after {have} bytes; {next}"));
        self.pause(wait)
    }

    /// Sleeps, but not when asked to stop.
    fn pause(&self, wait: Duration) -> Result<(), Failure> {
        let end = Instant::now() + wait;
        loop {
            self.context.check_cancelled()?;
            match end.checked_duration_since(Instant::now()) {
                Some(left) if !left.is_zero() => std::thread::sleep(left.min(Duration::from_millis(100))),
                _ => return Ok(()),
            }
        }
    }
}
