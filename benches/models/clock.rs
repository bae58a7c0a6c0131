//! What a measurement took.

use std::time::Instant;

/// Seconds by the clock, and of all processors.
pub type Seconds = [f64; 2];

/// More than any measurement takes.
pub const LONGEST: Seconds = [f64::INFINITY; 2];

/// What `work` takes.
pub fn measured(work: impl FnOnce()) -> Seconds {
    let start = (Instant::now(), used());
    work();
    [start.0.elapsed().as_secs_f64(), used() - start.1]
}

/// The smaller ones of both.
pub fn least(one: Seconds, other: Seconds) -> Seconds {
    [one[0].min(other[0]), one[1].min(other[1])]
}

/// CPU seconds of this process so far.
fn used() -> f64 {
    // SAFETY: all bytes zero is a valid `rusage`, and the call writes to nothing else.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_SELF, &raw mut usage), 0);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
