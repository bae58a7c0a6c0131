//! Results of a stage, kept one a line as soon as they exist, so that an interruption loses those in progress alone.
//!
//! This crate must not know what a result is.

#[cfg(test)]
mod tests;

use std::io::{BufRead, BufReader, ErrorKind, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cwm_contract::Failure;
use fs_err::File;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Results that a loss of power may take: those of the last second.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// A file of results, a line of JSON each, in the order in which they came. Threads share it.
pub struct Journal<T> {
    path: PathBuf,
    state: Mutex<State>,
    results: PhantomData<fn(T) -> T>,
}

struct State {
    file: File,
    /// Bytes of the file.
    length: u64,
    /// Where the line of each result begins; nothing for one that does not exist yet.
    places: Vec<Option<u64>>,
    synced: Instant,
}

impl<T: Serialize + DeserializeOwned> Journal<T> {
    /// Opens the file at `path` for `count` results, with those that an earlier run kept; `number_of` gives the number of one, and
    /// `None` if it is not of this run. What follows the first line that is not whole, or not of this run, is removed.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn open(path: PathBuf, count: usize, mut number_of: impl FnMut(&T) -> Option<usize>) -> Result<Self, Failure> {
        let file = fs_err::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)?;
        let (mut places, mut length) = (vec![None; count], 0);
        let (mut lines, mut line) = (BufReader::new(&file), String::new());
        loop {
            line.clear();
            match lines.read_line(&mut line) {
                Ok(0) => break,
                Ok(_) => {}
                // A line of other bytes than text is not whole.
                Err(error) if error.kind() == ErrorKind::InvalidData => break,
                Err(error) => return Err(error.into()),
            }
            let result = line.strip_suffix('\n').and_then(|line| serde_json::from_str(line).ok());
            let Some(place) = result.and_then(|result| places.get_mut(number_of(&result)?)) else { break };
            *place = Some(length);
            length += line.len() as u64;
        }
        file.set_len(length)?;
        let state = State { file, length, places, synced: Instant::now() };
        Ok(Journal { path, state: Mutex::new(state), results: PhantomData })
    }

    /// The numbers of the results that do not exist yet, in order.
    pub fn missing(&self) -> Vec<usize> {
        self.state().places.iter().enumerate().filter(|(_, place)| place.is_none()).map(|(number, _)| number).collect()
    }

    /// Keeps a result. It is with the system when this returns, and on the disk a second later.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn push(&self, number: usize, result: &T) -> Result<(), Failure> {
        let mut line = serde_json::to_vec(result).map_err(|error| Failure::internal(error.to_string()))?;
        line.push(b'\n');
        let state = &mut *self.state();
        let place = state.places.get_mut(number);
        let place = place.ok_or_else(|| Failure::internal(format!("there is no result {number}")))?;
        // Over the rest of a line that could not be written whole.
        state.file.seek(SeekFrom::Start(state.length))?;
        state.file.write_all(&line)?;
        *place = Some(state.length);
        state.length += line.len() as u64;
        if state.synced.elapsed() >= SYNC_INTERVAL {
            state.file.sync_data()?;
            state.synced = Instant::now();
        }
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

fn unreadable(path: &Path, place: u64, error: &serde_json::Error) -> Failure {
    Failure::system(format!("{}: byte {place}: {error}", path.display()))
}
