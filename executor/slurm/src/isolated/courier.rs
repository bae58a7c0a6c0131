//! What a job asks of remotes, one thing after the other: how it goes is told, and a request to stop is heeded.

use std::io::Write;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cwm_contract::{Cancellation, Event, amount};

use super::Away;
use cwm_action::Line;
use cwm_action::streams::Lines;
use cwm_core::error::Error;
use cwm_remote::{Exchange, Job, Told};
use cwm_store::Store;

/// How often a request to stop is looked for.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Goes between the store of a job and remotes.
pub struct Courier<'a> {
    pub away: &'a Away,
    pub store: &'a Store,
    pub lines: &'a Lines,
    pub cancellation: &'a Cancellation,
}

impl Courier<'_> {
    /// Has this done, unless it is asked to stop; its end.
    ///
    /// # Errors
    /// The settings of a remote do not fit together.
    pub fn ask(&self, doing: &str, job: Job) -> Result<Option<Told>, Error> {
        self.go(doing, job, || self.cancellation.is_cancelled())
    }

    /// Has this done to the end: what was worked for is not given up because somebody asks to stop.
    ///
    /// # Errors
    /// As [`Courier::ask`].
    pub fn insist(&self, doing: &str, job: Job) -> Result<Told, Error> {
        let told = self.go(doing, job, || false)?;
        told.ok_or_else(|| Error::internal("a transfer that nobody stopped was stopped"))
    }

    fn go(&self, doing: &str, job: Job, gives_up: impl Fn() -> bool) -> Result<Option<Told>, Error> {
        // Anew each time: a remote that was given up is asked again.
        let exchange = Exchange::open(&self.away.site(), None, self.store, false)?;
        let (sender, inbox) = channel();
        let sender = Mutex::new(sender);
        let began = Instant::now();
        exchange.start(job, move |told| {
            // Whoever gave up listens no more.
            let _ = sender.lock().unwrap_or_else(PoisonError::into_inner).send(told);
        });
        loop {
            match inbox.recv_timeout(LOOK_AGAIN) {
                Ok(Told::Begun(0, _)) | Err(RecvTimeoutError::Timeout) => {}
                Ok(Told::Begun(objects, bytes)) => {
                    let what = format!("{doing} {}", files(objects, bytes));
                    self.lines.send(&Line::Event(Event::Doing(what)));
                }
                Ok(Told::Progress(done, total)) => {
                    let (total, unit) = (Some(total), "bytes".to_owned());
                    self.lines.send(&Line::Event(Event::Progress { done, total, unit }));
                }
                Ok(told) => {
                    if let Told::Files(objects @ 1.., bytes, ..) = &told {
                        let (moved, seconds) = (files(*objects, *bytes), began.elapsed().as_secs_f64());
                        let _ = writeln!(std::io::stderr(), "pulled {moved} in {seconds:.1} s");
                    }
                    return Ok(Some(told));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::internal("what talks to remotes ended without a word"));
                }
            }
            if gives_up() {
                return Ok(None);
            }
        }
    }
}

/// `3 files, 5.0 MB`
fn files(objects: u64, bytes: u64) -> String {
    format!("{objects} {}, {}", if objects == 1 { "file" } else { "files" }, amount::in_words(bytes))
}
