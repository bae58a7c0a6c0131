//! What a measurement took, and programs beside ours.

use std::io::{self, Write};
use std::process::{Command, Stdio};

/// CPU seconds of this process that `work` takes.
pub fn cpu(work: impl FnOnce()) -> f64 {
    let before = used(libc::RUSAGE_SELF);
    work();
    used(libc::RUSAGE_SELF) - before
}

/// CPU seconds of the processes that `work` starts and awaits.
pub fn children<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let before = used(libc::RUSAGE_CHILDREN);
    let done = work();
    (done, used(libc::RUSAGE_CHILDREN) - before)
}

pub fn used(who: libc::c_int) -> f64 {
    // SAFETY: all bytes zero is a valid `rusage`, and the call writes to nothing else.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(who, &raw mut usage), 0);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Bytes that a program wrote, which was given `input`; `None` if it is not there or failed.
pub fn output_of(command: &mut Command, input: &[u8]) -> Option<usize> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    let mut stdout = child.stdout.take()?;
    let written = std::thread::scope(|scope| {
        // A program that reads nothing closes the pipe.
        scope.spawn(move || _ = stdin.write_all(input));
        io::copy(&mut stdout, &mut io::sink())
    });
    (child.wait().ok()?.success()).then_some(written.ok()? as usize)
}
