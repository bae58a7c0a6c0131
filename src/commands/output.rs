//! Standard output of a run's events: what cannot be written there keeps no stage from being done, and is told at the end.

use std::io::{self, Stdout, Write, stdout};
use std::sync::Mutex;

use cwm_core::error::Error;

/// Why something could not be written, the first time.
static FAULT: Mutex<Option<String>> = Mutex::new(None);

/// Standard output; what it refuses is noted. A reader that has seen enough and closes it is no fault.
pub struct Events(Stdout);

impl Events {
    /// Of this process.
    pub fn here() -> Self {
        Events(stdout())
    }
}

impl Write for Events {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        noted(self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        noted(self.0.flush())
    }
}

fn noted<T>(written: io::Result<T>) -> io::Result<T> {
    if let Err(error) = &written
        && !matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::Interrupted)
    {
        FAULT.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(error.to_string());
    }
    written
}

/// Why events are missing from standard output, if any are.
pub fn fault() -> Option<Error> {
    let fault = FAULT.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
    let told = |error| Error::system(format!("cannot write to standard output: {error}; events are missing there"));
    fault.map(told).map(|error| error.hint("what ran is recorded: the same command finds it cached"))
}
