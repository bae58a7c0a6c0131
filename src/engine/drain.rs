//! Reading what can be read only once, before a run: its content is then a file like any other.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;
use crate::events::{Reader, Readers, RunEvent};
use crate::outside::{Files, once};
use crate::plan::Plan;
use crate::store::Store;

/// Reads every pipe that these cells name into the store, and puts what was read in the place of the pipe in the plan.
/// False if it was asked to stop; then nothing of what it was reading stays. Whoever calls this holds the store's
/// shared lock.
///
/// # Errors
/// A pipe cannot be read, or the store cannot be written.
pub fn drain(
    plan: &mut Plan,
    cells: &[usize],
    store: &Store,
    files: &Files,
    readers: &mut Readers,
) -> Result<bool, Error> {
    let pipes: Vec<PathBuf> = plan.outside_files(cells).into_keys().filter(|path| once::is_read_once(path)).collect();
    if pipes.is_empty() {
        return Ok(true);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let mut watched = Vec::new();
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let watch = signal_hook::flag::register(signal, stop.clone());
        watched.push(watch.map_err(|error| Error::system(format!("cannot watch for signals: {error}")))?);
    }
    let mut read = BTreeMap::new();
    let mut outcome = Ok(true);
    for path in pipes {
        readers.read(&RunEvent::Reading { path: path.clone() });
        let taken = store.take_in(&path, |take| once::read(&path, &mut || !stop.load(Ordering::SeqCst), take));
        match taken {
            Ok(taken) => {
                readers.read(&RunEvent::Read { path: path.clone(), digest: taken.digest, bytes: taken.size });
                // Hashed as it came, and read-only: it need not be read again.
                files.trust(&taken.path, taken.digest)?;
                read.insert(path, taken.path);
            }
            Err(_) if stop.load(Ordering::SeqCst) => {
                outcome = Ok(false);
                break;
            }
            Err(error) => {
                outcome = Err(error.into());
                break;
            }
        }
    }
    for watch in watched {
        signal_hook::low_level::unregister(watch);
    }
    plan.replace_files(&read);
    outcome
}
