//! Reads pipes into the store before a run, since they can be read only once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};

use crate::event::{EventSink, EventSinks, RunEvent};
use cwm_core::Error;
use cwm_core::files::{is_stream, read_pipe};
use cwm_pipeline::plan::Plan;
use cwm_store::Store;
use cwm_store::external_files::DigestCache;

/// Reads every pipe that these cells name into the store, and replaces it in the plan by that file. Returns false if a signal
/// stopped it; then it removes what it had read. The caller holds the store's shared lock.
///
/// # Errors
/// A pipe cannot be read, or the store cannot be written.
pub fn ingest_pipes(
    plan: &mut Plan,
    cells: &[usize],
    store: &Store,
    files: &DigestCache,
    sinks: &mut EventSinks,
) -> Result<bool, Error> {
    let pipes: Vec<PathBuf> = plan.external_files(cells).into_keys().filter(|path| is_stream(path)).collect();
    if pipes.is_empty() {
        return Ok(true);
    }
    let stop = SignalFlag::of(&[SIGINT, SIGTERM, SIGUSR1])?;
    let mut read = BTreeMap::new();
    let mut outcome = Ok(true);
    for path in pipes {
        sinks.event(&RunEvent::Reading { path: path.clone() });
        let taken = store.ingest(&path, |take| read_pipe(&path, &mut || !stop.is_set(), take));
        // Hashed as it came, and read-only: it need not be read again.
        let known = taken.and_then(|taken| files.trust(&taken.path, taken.digest).map(|()| taken));
        match known {
            Ok(taken) => {
                sinks.event(&RunEvent::Read { path: path.clone(), digest: taken.digest, bytes: taken.size });
                read.insert(path, taken.path);
            }
            Err(_) if stop.is_set() => {
                outcome = Ok(false);
                break;
            }
            Err(error) => {
                outcome = Err(error.into());
                break;
            }
        }
    }
    plan.replace_files(&read);
    outcome
}

/// Notes the signals that come, until it is dropped.
struct SignalFlag {
    is_set: Arc<AtomicBool>,
    registered: Vec<SigId>,
}

impl SignalFlag {
    fn of(signals: &[i32]) -> Result<SignalFlag, Error> {
        let mut flag = SignalFlag { is_set: Arc::new(AtomicBool::new(false)), registered: Vec::new() };
        for signal in signals {
            let registered = signal_hook::flag::register(*signal, flag.is_set.clone());
            let registered = registered.map_err(|error| Error::system(format!("cannot watch for signals: {error}")));
            flag.registered.push(registered?);
        }
        Ok(flag)
    }

    fn is_set(&self) -> bool {
        self.is_set.load(Ordering::SeqCst)
    }
}

impl Drop for SignalFlag {
    fn drop(&mut self) {
        for id in self.registered.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_noted_until_the_watch_ends() {
        let flag = SignalFlag::of(&[SIGUSR1]).unwrap();
        let is_set = flag.is_set.clone();
        assert!(!flag.is_set());
        signal_hook::low_level::raise(SIGUSR1).unwrap();
        assert!(flag.is_set());
        is_set.store(false, Ordering::SeqCst);
        drop(flag);
        // The handler stays, with nothing to do.
        signal_hook::low_level::raise(SIGUSR1).unwrap();
        assert!(!is_set.load(Ordering::SeqCst));
    }
}
