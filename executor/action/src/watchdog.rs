//! The limits of an attempt, kept from inside its process: so they hold wherever that runs, also as a batch job.

use std::io::Write;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use cwm_contract::amount;
use rustix::process::getpid;

use super::process_tree;
use super::protocol::{ActionFailure, ActionFailureKind, ActionMessage};
use super::terms::AttemptOptions;
use super::work::AttemptContext;
use cwm_core::text::exact_duration;

/// The interval at which memory is measured.
const MEASUREMENT_INTERVAL: Duration = Duration::from_millis(100);

/// The limits of an attempt, and its state.
pub struct Watchdog<'a> {
    attempt: &'a AttemptContext<'a>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ended: bool,
    /// The limit that the attempt exceeded.
    exceeded: Option<ActionFailure>,
}

impl<'a> Watchdog<'a> {
    /// Watches this attempt.
    pub fn of(attempt: &'a AttemptContext<'a>) -> Self {
        Watchdog { attempt, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Does the work of the attempt, within its limits if it has any. Returns the result of the work, and the failure if it
    /// exceeded a limit.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> (T, Option<ActionFailure>) {
        std::thread::scope(|scope| {
            let AttemptOptions { time, memory, .. } = self.attempt.terms;
            if time.is_some() || memory.is_some() {
                scope.spawn(|| self.keep());
            }
            let done = work();
            let mut state = self.state();
            state.ended = true;
            self.changed.notify_all();
            (done, state.exceeded.take())
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Waits; true if the attempt ended meanwhile.
    fn ends_within(&self, time: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(self.state(), time, |state| !state.ended);
        waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0.ended
    }

    fn keep(&self) {
        let AttemptOptions { time, memory, .. } = self.attempt.terms;
        let started = Instant::now();
        loop {
            let left = time.map(|time| time.saturating_sub(started.elapsed()));
            if let (Some(Duration::ZERO), Some(time)) = (left, time) {
                return self.out_of_time(*time);
            }
            let next = left.unwrap_or(MEASUREMENT_INTERVAL);
            if self.ends_within(if memory.is_some() { next.min(MEASUREMENT_INTERVAL) } else { next }) {
                return;
            }
            if let Some(limit) = memory {
                let held = process_tree::memory(getpid(), *limit);
                if held > *limit {
                    return self.end(memory_exceeded(held, *limit));
                }
            }
        }
    }

    /// Requests a stop first: what stops at a safe point keeps what it has.
    fn out_of_time(&self, limit: Duration) {
        let failure = time_exceeded(limit);
        let _ = writeln!(std::io::stderr(), "{}: a stop is requested", failure.message);
        self.state().exceeded = Some(failure);
        self.attempt.cancellation.cancel();
        if !self.ends_within(AttemptOptions::grace(limit)) {
            self.end(time_exceeded(limit));
        }
    }

    /// Kills the attempt. A command is this process's child, so that this process itself reports its end; a stage is
    /// this process.
    fn end(&self, failure: ActionFailure) {
        // Held to the end, so that an attempt that ends in this very moment is not reported as a success.
        let mut state = self.state();
        if state.ended {
            return;
        }
        let _ = writeln!(std::io::stderr(), "{}: killed", failure.message);
        if self.attempt.is_command() {
            state.exceeded = Some(failure);
            process_tree::kill_descendants(getpid());
            return;
        }
        // Its partial output must not keep the disk full.
        let _ = self.attempt.work.discard_output();
        self.attempt.messages.send(&ActionMessage::Outcome(Err(failure)));
        process_tree::kill_self();
    }
}

fn time_exceeded(limit: Duration) -> ActionFailure {
    let message = format!("it ran longer than its limit of {}", exact_duration(limit));
    ActionFailure::new(ActionFailureKind::TimeLimit, message)
        .hint("raise `limits: { time: … }` of the stage, or let it do less")
}

fn memory_exceeded(held: u64, limit: u64) -> ActionFailure {
    let (held, limit) = (amount::format_bytes(held), amount::format_bytes(limit));
    let message = format!("it held {held} of memory, more than its limit of {limit}");
    ActionFailure::new(ActionFailureKind::MemoryLimit, message)
        .hint("raise `limits: { memory: … }` of the stage, or let it hold less")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_told_as_they_are_written() {
        assert!(memory_exceeded(3 << 30, 2 << 30).message.ends_with("more than its limit of 2.1 GB"));
    }
}
