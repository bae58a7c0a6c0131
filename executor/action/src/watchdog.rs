//! The limits of an attempt, kept from inside its process: so they hold wherever that runs, also as a batch job.

use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use cwm_contract::{Cancellation, Failure, amount};
use rustix::process::getpid;

use super::process_tree;
use super::protocol::{ActionFailureKind, ActionMessage, Failed};
use super::streams::MessageWriter;
use super::terms::AttemptOptions;
use cwm_core::text::exact_duration;
use cwm_store::WorkFolder;

/// The interval at which memory is measured.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Watches an attempt until it is dropped.
pub struct Watchdog(Arc<SharedState>);

struct SharedState {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ended: bool,
    /// The limit that the attempt exceeded.
    exceeded: Option<Failed>,
}

/// The attempt that is stopped when it exceeds a limit.
pub struct WatchdogTarget {
    /// Asks it to stop at a safe point.
    pub cancellation: Cancellation,
    /// True if the work is done by processes that this one started, and not by this one itself.
    pub is_command: bool,
    /// To the executor.
    pub messages: MessageWriter,
    /// Where it works.
    pub work: WorkFolder,
}

impl Watchdog {
    /// Watches from now on, if there is a limit.
    pub fn watch(terms: &AttemptOptions, target: WatchdogTarget) -> Self {
        let shared = Arc::new(SharedState { state: Mutex::default(), changed: Condvar::new() });
        if terms.time.is_some() || terms.memory.is_some() {
            let (shared, terms) = (shared.clone(), terms.clone());
            std::thread::spawn(move || shared.keep(&terms, &target));
        }
        Watchdog(shared)
    }

    /// Ends the watch. Returns the failure of an attempt that exceeded a limit.
    pub fn finish(self) -> Option<Failed> {
        let mut state = self.0.state();
        state.ended = true;
        state.exceeded.take()
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.0.state().ended = true;
        self.0.changed.notify_all();
    }
}

impl SharedState {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Waits; true if the attempt ended meanwhile.
    fn ends_within(&self, time: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(self.state(), time, |state| !state.ended);
        waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0.ended
    }

    fn keep(&self, terms: &AttemptOptions, target: &WatchdogTarget) {
        let started = Instant::now();
        loop {
            let left = terms.time.map(|time| time.saturating_sub(started.elapsed()));
            if let (Some(Duration::ZERO), Some(time)) = (left, terms.time) {
                return self.out_of_time(time, target);
            }
            let next = left.unwrap_or(LOOK_AGAIN);
            if self.ends_within(if terms.memory.is_some() { next.min(LOOK_AGAIN) } else { next }) {
                return;
            }
            if let Some(limit) = terms.memory {
                let held = process_tree::memory(getpid(), limit);
                if held > limit {
                    return self.end(memory_exceeded(held, limit), target);
                }
            }
        }
    }

    /// Asks first: what stops at a safe point keeps what it has.
    fn out_of_time(&self, limit: Duration, target: &WatchdogTarget) {
        let failed = time_exceeded(limit);
        let _ = writeln!(std::io::stderr(), "{}: asked to stop", failed.1.message);
        self.state().exceeded = Some(failed);
        target.cancellation.cancel();
        if !self.ends_within(AttemptOptions::grace(limit)) {
            self.end(time_exceeded(limit), target);
        }
    }

    /// Kills the attempt. A command is this process's child, so that this process itself reports its end; a stage is
    /// this process.
    fn end(&self, (kind, failure): Failed, target: &WatchdogTarget) {
        // Held to the end, so that an attempt that ends in this very moment is not reported as a success.
        let mut state = self.state();
        if state.ended {
            return;
        }
        let _ = writeln!(std::io::stderr(), "{}: killed", failure.message);
        if target.is_command {
            state.exceeded = Some((kind, failure));
            process_tree::kill_descendants(getpid());
            return;
        }
        // Its partial output must not keep the disk full.
        let _ = target.work.discard_output();
        target.messages.send(&ActionMessage::Failed { kind, message: failure.message, hint: failure.hint });
        process_tree::kill_self();
    }
}

fn time_exceeded(limit: Duration) -> Failed {
    let failure = Failure::system(format!("it ran longer than its limit of {}", exact_duration(limit)));
    let hint = "raise `limits: { time: … }` of the stage, or let it do less";
    (ActionFailureKind::TimeLimit, failure.hint(hint))
}

fn memory_exceeded(held: u64, limit: u64) -> Failed {
    let (held, limit) = (amount::format_bytes(held), amount::format_bytes(limit));
    let failure = Failure::system(format!("it held {held} of memory, more than its limit of {limit}"));
    let hint = "raise `limits: { memory: … }` of the stage, or let it hold less";
    (ActionFailureKind::MemoryLimit, failure.hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_told_as_they_are_written() {
        let exceeded = memory_exceeded(3 << 30, 2 << 30);
        assert!(exceeded.1.message.ends_with("more than its limit of 2.1 GB"));
    }
}
