//! Answers, kept one a line as soon as they have come, so that an interruption loses those alone that are open.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cwm_contract::Failure;
use fs_err::File;

use crate::entry::Entry;
use crate::question::{Digest, Question};

/// Answers that a loss of power may take: those of the last second.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// The file of answers.
pub struct Journal {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    file: File,
    /// Bytes of the file.
    length: u64,
    /// Where the line of each question begins; nothing for one without an answer.
    places: Vec<Option<u64>>,
    /// Dollars that the answers cost.
    spent: f64,
    synced: Instant,
}

impl Journal {
    /// Opens the journal in `folder`, with what an earlier run kept of these questions. What follows the first line that is not
    /// whole is removed: those questions are asked again.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn open(folder: &Path, questions: &[Question]) -> Result<Self, Failure> {
        let path = folder.join("answers.jsonl");
        let file = fs_err::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)?;
        let indices: HashMap<(&str, Digest), usize> =
            questions.iter().enumerate().map(|(at, one)| ((&*one.task_id, one.request), at)).collect();
        let mut places = vec![None; questions.len()];
        let (mut length, mut spent) = (0, 0.0);
        let mut lines = BufReader::new(&file);
        let mut line = String::new();
        loop {
            line.clear();
            match lines.read_line(&mut line) {
                Ok(0) => break,
                Ok(_) => {}
                // A line of other bytes than text is not whole.
                Err(error) if error.kind() == ErrorKind::InvalidData => break,
                Err(error) => return Err(error.into()),
            }
            let entry = line.strip_suffix('\n').and_then(|line| serde_json::from_str::<Entry>(line).ok());
            let Some(entry) = entry else { break };
            if let Some(&at) = indices.get(&(&*entry.task_id, entry.request)) {
                places[at] = Some(length);
                spent += entry.spent;
            }
            length += line.len() as u64;
        }
        file.set_len(length)?;
        Ok(Journal { path, state: Mutex::new(State { file, length, places, spent, synced: Instant::now() }) })
    }

    /// The questions without an answer, in order.
    pub fn unanswered(&self) -> Vec<usize> {
        self.state().places.iter().enumerate().filter(|(_, place)| place.is_none()).map(|(at, _)| at).collect()
    }

    /// Dollars that the answers cost, as far as that is known.
    pub fn spent(&self) -> f64 {
        self.state().spent
    }

    /// Keeps the answer to the question number `index`. It is with the system when this returns, and on the disk a second later.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn push(&self, index: usize, entry: &Entry) -> Result<(), Failure> {
        let mut line = serde_json::to_vec(entry).map_err(|error| Failure::internal(error.to_string()))?;
        line.push(b'\n');
        let state = &mut *self.state();
        let place =
            state.places.get_mut(index).ok_or_else(|| Failure::internal(format!("there is no question {index}")))?;
        // Over the rest of a line that could not be written whole.
        state.file.seek(SeekFrom::Start(state.length))?;
        state.file.write_all(&line)?;
        *place = Some(state.length);
        state.length += line.len() as u64;
        state.spent += entry.spent;
        if state.synced.elapsed() >= SYNC_INTERVAL {
            state.file.sync_data()?;
            state.synced = Instant::now();
        }
        Ok(())
    }

    /// Hands each answer, in the order of the questions; `None` for one that has none.
    ///
    /// # Errors
    /// An answer cannot be read, or `take` fails.
    pub fn for_each(&self, mut take: impl FnMut(usize, Option<Entry>) -> Result<(), Failure>) -> Result<(), Failure> {
        let state = self.state();
        let mut lines = BufReader::new(File::open(&self.path)?);
        let mut at = 0_u64;
        let mut line = String::new();
        for (index, place) in state.places.iter().enumerate() {
            let Some(place) = *place else {
                take(index, None)?;
                continue;
            };
            lines.seek_relative(place as i64 - at as i64)?;
            line.clear();
            at = place + lines.read_line(&mut line)? as u64;
            let entry = serde_json::from_str(&line)
                .map_err(|error| Failure::system(format!("{}: byte {place}: {error}", self.path.display())))?;
            take(index, Some(entry))?;
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
