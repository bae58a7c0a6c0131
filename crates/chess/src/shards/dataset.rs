//! Shards of token sequences.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::ShardError;
use super::batch_buffers::{self, BatchBuffers};
use super::columns::{Lists, Texts, is_full, write_numbers};
use super::format::{Kind, ShardFormat};
use super::lists;
use super::sequence::{Columns, Shards};
use super::writer::ShardFiles;

static FORMAT: ShardFormat = ShardFormat {
    name: "dataset",
    version: 2,
    columns: &[
        ("index", Kind::Ordinal),
        ("id", Kind::Text),
        ("tokens", Kind::List),
        ("result", Kind::Text),
        ("plies", Kind::Count),
    ],
    positions_beyond_list: 0,
};

/// One game, ready for training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatasetRow<'a> {
    /// Ordinal among the kept games of the corpus, from 0.
    pub index: u64,
    /// Its name.
    pub id: &'a str,
    /// START, then one token a move: one more than it has plies.
    pub tokens: &'a [u16],
    /// `1-0`, `0-1`, `1/2-1/2`, `*`, or whatever its headers say.
    pub result: &'a str,
    /// 75 bytes for each token, where no replay of the tokens by standard rules gives them.
    pub labels: Option<&'a [u8]>,
}

/// Writes a folder of token sequences.
pub struct DatasetWriter {
    files: ShardFiles,
    index: Vec<u64>,
    id: Texts,
    tokens: Lists,
    result: Texts,
    plies: Vec<u32>,
}

impl DatasetWriter {
    /// Makes the folder; each file will have at most `shard_games` rows.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn create(folder: &Path, shard_games: u64) -> Result<Self, ShardError> {
        Ok(DatasetWriter {
            files: ShardFiles::create(&FORMAT, folder, shard_games)?,
            index: Vec::new(),
            id: Texts::default(),
            tokens: Lists::default(),
            result: Texts::default(),
            plies: Vec::new(),
        })
    }

    /// Sets whether games may carry labels: the files then have a column for them. To be called before the first game.
    #[must_use]
    pub fn labelled(mut self, labelled: bool) -> Self {
        self.files.set_labelled(labelled);
        self
    }

    /// Adds a game.
    ///
    /// # Errors
    /// An operation on the disk fails, or the game does not fit: its labels have not 75 bytes a position or no column, or
    /// a text or its tokens are longer than 2^24.
    pub fn push(&mut self, game: DatasetRow<'_>) -> Result<(), ShardError> {
        let DatasetRow { index, id, tokens, result, labels } = game;
        let labels = self.files.reserve(index, &[id, result], tokens, labels)?;
        self.index.push(index);
        self.id.push(id);
        self.tokens.push(tokens);
        self.result.push(result);
        self.plies.push(tokens.len().saturating_sub(1) as u32);
        let rows = self.index.len();
        let longest = self.tokens.size().max(self.id.size()).max(self.result.size());
        if is_full(rows, longest, labels) || rows as u64 >= self.files.rows_left() { self.flush() } else { Ok(()) }
    }

    /// Writes what is left and ends the last file.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn finish(mut self) -> Result<(), ShardError> {
        self.flush()?;
        self.files.finish()
    }

    fn flush(&mut self) -> Result<(), ShardError> {
        let rows = self.index.len();
        if rows == 0 {
            return Ok(());
        }
        self.files.write(rows, |body| {
            write_numbers(&mut self.index, body)?;
            self.id.write(body)?;
            self.tokens.write(body);
            self.result.write(body)?;
            write_numbers(&mut self.plies, body)
        })
    }
}

/// A folder of token sequences that [`DatasetWriter`] wrote.
pub type Dataset = Shards<DatasetColumns>;

/// The columns of a batch of token sequences.
#[derive(Debug)]
pub struct DatasetColumns {
    index: Vec<u64>,
    id: batch_buffers::Texts,
    result: batch_buffers::Texts,
    labels: Option<batch_buffers::Labels>,
}

impl Columns for DatasetColumns {
    const FORMAT: &'static ShardFormat = &FORMAT;
    type Row<'a> = DatasetRow<'a>;

    fn decode(packed: &BatchBuffers<'_>, lists: &lists::Lists) -> Result<Self, String> {
        packed.check_plies(4, lists, FORMAT.positions_beyond_list)?;
        Ok(DatasetColumns {
            index: packed.ordinals(0)?,
            id: packed.texts(1)?,
            result: packed.texts(3)?,
            labels: packed.labels(lists, FORMAT.positions_beyond_list)?,
        })
    }

    fn row<'a>(&'a self, row: usize, tokens: &'a [u16]) -> DatasetRow<'a> {
        DatasetRow {
            index: self.index[row],
            id: self.id.get(row),
            tokens,
            result: self.result.get(row),
            labels: self.labels.as_ref().and_then(|labels| labels.get(row)),
        }
    }
}

impl Dataset {
    /// Number of positions of all games: their tokens, START included.
    pub fn positions(&self) -> u64 {
        self.numbers()
    }

    /// The tokens of a game, where they lie in the file: nothing is copied or decoded. `None` behind the last game.
    ///
    /// # Errors
    /// Its batch is damaged.
    pub fn tokens(&self, game: usize) -> Result<Option<&[u16]>, ShardError> {
        self.list(game)
    }

    /// SHA-256 of the tokens of the first `games` games, in their order and in hexadecimal: where it is the same, they are
    /// the same games, whatever they are called and however they lie in files.
    ///
    /// # Errors
    /// A batch is damaged.
    pub fn digest(&self, games: usize) -> Result<String, ShardError> {
        let mut hasher = Sha256::new();
        for game in 0..games {
            let Some(tokens) = self.tokens(game)? else { break };
            hasher.update((tokens.len() as u64).to_le_bytes());
            hasher.update(tokens.iter().flat_map(|token| token.to_le_bytes()).collect::<Vec<u8>>());
        }
        Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}
