//! Results of a stage, kept one a line as soon as they exist, so that an interruption loses those in progress alone.
//!
//! This crate must not depend on what a result is.

#[cfg(test)]
mod tests;

use std::io::{BufRead, BufReader};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cwm_contract::Failure;
use fs_err::File;
use fs_err::os::unix::fs::FileExt;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Results that come within this time are synced together.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// A file of results, a line of JSON each, in the order in which they came. Threads share it.
pub struct Journal<T> {
    path: PathBuf,
    state: Mutex<State>,
    results: PhantomData<fn(T) -> T>,
}

struct State {
    file: File,
    /// Bytes of the file that are whole lines.
    length: u64,
    /// The byte at which the line of each result begins; none for one that does not exist yet.
    places: Vec<Option<u64>>,
    synced: Instant,
}

impl<T: Serialize + DeserializeOwned> Journal<T> {
    /// Opens the file at `path` for `count` results, with those that an earlier run kept; `number_of` gives the number of one, and
    /// `None` if it counts as none. Lines that are no results are passed over, and a last line that is not whole is written over.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn open(path: PathBuf, count: usize, mut number_of: impl FnMut(&T) -> Option<usize>) -> Result<Self, Failure> {
        let file = fs_err::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)?;
        let (mut places, mut length) = (vec![None; count], 0);
        let (mut lines, mut line) = (BufReader::new(&file), Vec::new());
        while lines.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
            let number = serde_json::from_slice(&line).ok().and_then(|result| number_of(&result));
            if let Some(place) = number.and_then(|number| places.get_mut(number)) {
                *place = Some(length);
            }
            length += line.len() as u64;
            line.clear();
        }
        let state = State { file, length, places, synced: Instant::now() };
        Ok(Journal { path, state: Mutex::new(state), results: PhantomData })
    }

    /// The numbers of the results that do not exist yet, in order.
    pub fn missing(&self) -> Vec<usize> {
        self.state().places.iter().enumerate().filter(|(_, place)| place.is_none()).map(|(number, _)| number).collect()
    }

    /// Keeps a result. It is with the system when this returns, and on the disk with the first one that comes a second or more
    /// after the last sync, or when the journal is dropped.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn push(&self, number: usize, result: &T) -> Result<(), Failure> {
        let mut line = serde_json::to_vec(result).map_err(|error| Failure::internal(error.to_string()))?;
        line.push(b'\n');
        let state = &mut *self.state();
        let place = state.places.get_mut(number);
        let place = place.ok_or_else(|| Failure::internal(format!("there is no result {number}")))?;
        // Over the rest of a line that could not be written whole.
        state.file.write_all_at(&line, state.length)?;
        *place = Some(state.length);
        state.length += line.len() as u64;
        if state.synced.elapsed() >= SYNC_INTERVAL {
            state.file.sync_data()?;
            state.synced = Instant::now();
        }
        Ok(())
    }

    /// Syncs all results to the disk.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn sync(&self) -> Result<(), Failure> {
        let state = &mut *self.state();
        state.file.sync_data()?;
        state.synced = Instant::now();
        Ok(())
    }

    /// Calls `take` with each result in the order of their numbers; with `None` for one that does not exist.
    ///
    /// # Errors
    /// A result cannot be read, or `take` fails.
    pub fn for_each(&self, mut take: impl FnMut(usize, Option<T>) -> Result<(), Failure>) -> Result<(), Failure> {
        let state = self.state();
        let (mut lines, mut at, mut line) = (BufReader::new(File::open(&self.path)?), 0_u64, String::new());
        for (number, place) in state.places.iter().enumerate() {
            let Some(place) = *place else {
                take(number, None)?;
                continue;
            };
            lines.seek_relative(place as i64 - at as i64)?;
            line.clear();
            at = place + lines.read_line(&mut line)? as u64;
            take(number, Some(serde_json::from_str(&line).map_err(|error| unreadable(&self.path, place, &error))?))?;
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Drop for Journal<T> {
    fn drop(&mut self) {
        // A failure would have nobody to handle it; the results are with the system in any case.
        _ = self.state.get_mut().unwrap_or_else(PoisonError::into_inner).file.sync_data();
    }
}

fn unreadable(path: &Path, place: u64, error: &serde_json::Error) -> Failure {
    Failure::system(format!("{}: byte {place}: {error}", path.display()))
}
