//! The retry policy of a run.

use std::time::Duration;

use cwm_action::ActionFailureKind;
use cwm_pipeline::plan::RetryOptions;
use cwm_store::WorkFolder;

/// The longest wait between attempts, unless the pipeline has a longer one.
const MAX_WAIT: Duration = Duration::from_secs(600);

/// Returns how many attempts at an action there may be.
pub fn max_attempts(options: RetryOptions) -> u32 {
    options.retries + 1
}

/// Returns the time between the attempt of this number, from 1, and the next, if there is one: it doubles with every attempt.
pub fn wait_after(options: RetryOptions, attempt: u32) -> Option<Duration> {
    let doubled = options.wait.saturating_mul(1 << attempt.saturating_sub(1).min(20));
    (attempt < max_attempts(options)).then(|| doubled.min(MAX_WAIT.max(options.wait)))
}

/// Returns true if another attempt may succeed although no input changed. An attempt that exceeded its time is transient if the
/// next one resumes from a checkpoint.
pub fn is_transient(kind: ActionFailureKind, work: &WorkFolder) -> bool {
    use ActionFailureKind as Kind;
    match kind {
        Kind::System | Kind::Panic | Kind::Command | Kind::OutOfMemory | Kind::Crash | Kind::Killed => true,
        Kind::TimeLimit => cwm_action::has_checkpoint(work).unwrap_or(false) || work.has_remote_checkpoints(),
        Kind::Input | Kind::Cancelled | Kind::Internal | Kind::Output | Kind::MemoryLimit => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_ten_minutes_or_what_was_asked_for() {
        let waits = |wait: u64| {
            let options = RetryOptions { retries: 100, wait: Duration::from_secs(wait), ..RetryOptions::default() };
            [1, 2, 3, 8, 100].map(|attempt| wait_after(options, attempt).unwrap_or_default().as_secs())
        };
        assert_eq!(waits(10), [10, 20, 40, 600, 600]);
        assert_eq!(waits(3600), [3600; 5]);
        assert_eq!(max_attempts(RetryOptions { retries: 2, ..RetryOptions::default() }), 3);
    }
}
