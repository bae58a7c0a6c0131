//! Finished games, kept one a line as soon as they are finished, so that an interruption loses those in progress alone.

use std::io::{BufRead, BufReader, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cwm_contract::Failure;
use cwm_matches::Game;
use fs_err::File;

/// The file of finished games.
pub struct Journal {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    file: File,
    /// Bytes of the file.
    length: u64,
    /// Where the line of each game begins; nothing for one that is not finished.
    places: Vec<Option<u64>>,
}

impl Journal {
    /// Opens the journal in `folder` for so many games, with what an earlier run finished. What follows the first line that
    /// is not whole is removed: those games are played again.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn open(folder: &Path, games: u64) -> Result<Self, Failure> {
        let path = folder.join("games.jsonl");
        let file = fs_err::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)?;
        let mut places = vec![None; usize::try_from(games).map_err(|error| Failure::input(error.to_string()))?];
        let mut length = 0;
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
            let game = line.strip_suffix('\n').and_then(|line| serde_json::from_str::<Game>(line).ok());
            let Some(place) = game.and_then(|game| places.get_mut(usize::try_from(game.game).ok()?)) else { break };
            *place = Some(length);
            length += line.len() as u64;
        }
        file.set_len(length)?;
        Ok(Journal { path, state: Mutex::new(State { file, length, places }) })
    }

    /// The games that are not finished, in order.
    pub fn unfinished(&self) -> Vec<u64> {
        let state = self.state();
        (0..).zip(&state.places).filter(|(_, place)| place.is_none()).map(|(game, _)| game).collect()
    }

    /// Keeps a game.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn push(&self, game: &Game) -> Result<(), Failure> {
        let mut line = serde_json::to_vec(game).map_err(|error| Failure::internal(error.to_string()))?;
        line.push(b'\n');
        let state = &mut *self.state();
        let place = usize::try_from(game.game).ok().and_then(|game| state.places.get_mut(game));
        let place = place.ok_or_else(|| Failure::internal(format!("there is no game {}", game.game)))?;
        // Over the rest of a line that could not be written whole.
        state.file.seek(SeekFrom::Start(state.length))?;
        state.file.write_all(&line)?;
        *place = Some(state.length);
        state.length += line.len() as u64;
        Ok(())
    }

    /// Hands each game, in order.
    ///
    /// # Errors
    /// A game is missing or cannot be read, or `take` fails.
    pub fn for_each(&self, mut take: impl FnMut(Game) -> Result<(), Failure>) -> Result<(), Failure> {
        let state = self.state();
        let mut lines = BufReader::new(File::open(&self.path)?);
        let mut at = 0_u64;
        let mut line = String::new();
        for (number, place) in state.places.iter().enumerate() {
            let place = place.ok_or_else(|| Failure::internal(format!("game {number} was not played")))?;
            lines.seek_relative(place as i64 - at as i64)?;
            line.clear();
            at = place + lines.read_line(&mut line)? as u64;
            take(serde_json::from_str(&line).map_err(|error| {
                Failure::system(format!("{}: game {number} cannot be read: {error}", self.path.display()))
            })?)?;
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
