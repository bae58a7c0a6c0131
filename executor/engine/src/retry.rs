//! When a failed attempt is repeated: the one policy of a run.

use std::time::Duration;

use cwm_action::ActionFailureKind;
use cwm_pipeline::plan::RetryOptions;
use cwm_store::WorkFolder;

/// How often an action is attempted.
#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy(pub RetryOptions);

/// What follows a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Another attempt, after this time.
    After(Duration),
    /// Nothing: the cell has failed.
    GiveUp,
}

impl RetryPolicy {
    /// How many attempts there may be.
    pub fn max_attempts(&self) -> u32 {
        self.0.max_attempts()
    }

    /// What follows the attempt of this number, from 1.
    pub fn next(&self, attempt: u32, is_transient: bool) -> Retry {
        match is_transient && attempt < self.max_attempts() {
            true => Retry::After(self.0.wait_after(attempt)),
            false => Retry::GiveUp,
        }
    }
}

/// Returns true if another attempt may succeed although nothing that it depends on changed. One that ran out of time may where it
/// resumes from a checkpoint.
pub fn is_transient(kind: ActionFailureKind, work: &WorkFolder) -> bool {
    kind.is_transient(cwm_action::has_checkpoint(work).unwrap_or(false) || work.is_kept_elsewhere())
}
