//! The limits of an attempt, kept from inside its process: so they hold wherever that runs, also as a batch job.

use std::convert::Infallible;
use std::io::Write;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use cwm_contract::amount;
use rustix::process::getpid;

use super::attempt::Attempt;
use super::attempt_options::AttemptOptions;
use super::process_tree;
use super::protocol::{ActionFailure, ActionFailureKind, ActionMessage};
use cwm_core::{exact_duration, os};

/// The interval at which memory is measured.
const MEASUREMENT_INTERVAL: Duration = Duration::from_millis(100);

/// Does the work of an attempt, within its limits if it has any. Returns the result of the work, and the failure if it exceeded a
/// limit.
///
/// # Errors
/// It has a limit of memory, and this system does not measure memory. Then no work is done.
pub fn run<T>(attempt: &Attempt<'_>, work: impl FnOnce() -> T) -> Result<(T, Option<ActionFailure>), ActionFailure> {
    let AttemptOptions { time, memory, .. } = attempt.process.options;
    if memory.is_some() {
        require_measurable(os::held_memory(getpid()))?;
    }
    if time.is_none() && memory.is_none() {
        return Ok((work(), None));
    }
    Ok(std::thread::scope(|scope| {
        let (running, ended) = channel();
        let watchdog = scope.spawn(move || watch(attempt, &ended));
        let done = work();
        drop(running);
        (done, watchdog.join().unwrap_or_default())
    }))
}

/// Fails if the memory that this process holds is unknown: a limit of it would hold for nothing. Another attempt fails in the same
/// way.
fn require_measurable(held: Option<u64>) -> Result<(), ActionFailure> {
    let problem = "its limit of memory cannot be enforced: the memory of processes is not known on this system";
    let hint = "remove `limits: { memory: … }` of the stage, or run it where /proc is mounted, as on Linux";
    held.map(drop).ok_or_else(|| ActionFailure::new(ActionFailureKind::Input, problem).hint(hint))
}

/// Waits; true if the work ended meanwhile.
fn ends_within(ended: &Receiver<Infallible>, time: Duration) -> bool {
    matches!(ended.recv_timeout(time), Err(RecvTimeoutError::Disconnected))
}

fn watch(attempt: &Attempt<'_>, ended: &Receiver<Infallible>) -> Option<ActionFailure> {
    let AttemptOptions { time, memory, .. } = attempt.process.options;
    let started = Instant::now();
    loop {
        let left = time.map(|time| time.saturating_sub(started.elapsed()));
        if let (Some(Duration::ZERO), Some(limit)) = (left, time) {
            // A stage that stops at a safe point keeps its checkpoint.
            let problem = format!("it ran longer than its limit of {}", exact_duration(*limit));
            let failure = ActionFailure::new(ActionFailureKind::TimeLimit, problem)
                .hint("raise `limits: { time: … }` of the stage, or let it do less");
            let _ = writeln!(std::io::stderr(), "{}: a stop is requested", failure.message);
            attempt.process.cancellation.cancel();
            if !ends_within(ended, AttemptOptions::grace(*limit)) {
                kill(attempt, &failure);
            }
            return Some(failure);
        }
        let next = left.unwrap_or(MEASUREMENT_INTERVAL);
        if ends_within(ended, if memory.is_some() { next.min(MEASUREMENT_INTERVAL) } else { next }) {
            return None;
        }
        if let Some(limit) = memory {
            let held = process_tree::memory(getpid(), *limit);
            if held > *limit && !ends_within(ended, Duration::ZERO) {
                let failure = memory_exceeded(held, *limit);
                kill(attempt, &failure);
                return Some(failure);
            }
        }
    }
}

/// Kills the work. A command is this process's child, so that this process itself reports its end; a stage is this process.
fn kill(attempt: &Attempt<'_>, failure: &ActionFailure) {
    let _ = writeln!(std::io::stderr(), "{}: killed", failure.message);
    if attempt.stage.is_none() {
        return process_tree::kill_descendants(getpid());
    }
    // Its partial output must not keep the disk full.
    let _ = attempt.work.discard_output();
    attempt.process.messages.send(&ActionMessage::Outcome(Err(failure.clone())));
    process_tree::kill_self();
}

fn memory_exceeded(held: u64, limit: u64) -> ActionFailure {
    let [held, limit] = [held, limit].map(amount::format_bytes);
    ActionFailure::new(
        ActionFailureKind::MemoryLimit,
        format!("it held {held} of memory, more than its limit of {limit}"),
    )
    .hint("raise `limits: { memory: … }` of the stage, or have it use less memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_shown_as_they_are_written() {
        assert!(memory_exceeded(3 << 30, 2 << 30).message.ends_with("more than its limit of 2.1 GB"));
    }

    #[test]
    fn a_limit_of_memory_that_is_unknown_fails() {
        assert_eq!(require_measurable(os::held_memory(getpid())), Ok(()));
        assert_eq!(require_measurable(None).map_err(|failure| failure.kind), Err(ActionFailureKind::Input));
    }
}
