//! Shards of replayed games.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{RecordBatch, StringArray, UInt16Array, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field};

use super::ShardError;
use super::columns::{Lists, Texts, is_full, list_type};
use super::files::{ShardFiles, ShardFormat, read};

fn format() -> ShardFormat {
    ShardFormat {
        name: "games",
        version: 1,
        fields: vec![
            Field::new("index", DataType::UInt64, false),
            Field::new("id", DataType::Utf8, false),
            Field::new("site", DataType::Utf8, false),
            Field::new("result", DataType::Utf8, false),
            Field::new("plies", DataType::UInt32, false),
            Field::new("moves", list_type(), false),
        ],
    }
}

/// One replayed game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameRow<'a> {
    /// Ordinal among the kept games, from 0; `split` keeps it.
    pub index: u64,
    /// Its name (see [`IdKey`](crate::IdKey)).
    pub id: &'a str,
    /// Where it was played, as its headers say.
    pub site: &'a str,
    /// `1-0`, `0-1`, `1/2-1/2`, `*`, or whatever its headers say.
    pub result: &'a str,
    /// Its moves, packed (see [`PlainMove::packed`](cwm_encoding::PlainMove::packed)); as many as it has plies.
    pub moves: &'a [u16],
}

/// Writes a folder of games.
pub struct GamesWriter {
    files: ShardFiles,
    index: Vec<u64>,
    id: Texts,
    site: Texts,
    result: Texts,
    plies: Vec<u32>,
    moves: Lists,
}

impl GamesWriter {
    /// Makes the folder; each file will have at most `shard_games` rows.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn create(folder: &Path, shard_games: u64) -> Result<Self, ShardError> {
        Ok(GamesWriter {
            files: ShardFiles::create(format(), folder, shard_games)?,
            index: Vec::new(),
            id: Texts::default(),
            site: Texts::default(),
            result: Texts::default(),
            plies: Vec::new(),
            moves: Lists::default(),
        })
    }

    /// Adds a game.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn push(&mut self, game: GameRow<'_>) -> Result<(), ShardError> {
        self.index.push(game.index);
        self.id.push(game.id);
        self.site.push(game.site);
        self.result.push(game.result);
        self.plies.push(game.moves.len() as u32);
        self.moves.push(game.moves.iter().copied());
        let texts = self.id.size().max(self.site.size()).max(self.result.size());
        let rows = self.index.len();
        let full = is_full(rows, texts.max(self.moves.size()));
        if full || rows as u64 >= self.files.rows_left() { self.flush() } else { Ok(()) }
    }

    /// Writes what is left and ends the last file.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn finish(mut self) -> Result<(), ShardError> {
        self.flush()?;
        self.files.finish()
    }

    fn flush(&mut self) -> Result<(), ShardError> {
        if self.index.is_empty() {
            return Ok(());
        }
        let batch = (|| {
            RecordBatch::try_new(
                self.files.schema(),
                vec![
                    Arc::new(UInt64Array::from(std::mem::take(&mut self.index))),
                    self.id.take()?,
                    self.site.take()?,
                    self.result.take()?,
                    Arc::new(UInt32Array::from(std::mem::take(&mut self.plies))),
                    self.moves.take()?,
                ],
            )
        })();
        let batch = batch.map_err(ShardError::writing(Path::new("games")))?;
        self.files.write(&batch)
    }
}

/// A folder of games, mapped into memory.
#[derive(Debug)]
pub struct Games {
    batches: Vec<Batch>,
    /// Number of games before each batch.
    starts: Vec<usize>,
    games: usize,
}

#[derive(Debug)]
struct Batch {
    index: UInt64Array,
    id: StringArray,
    site: StringArray,
    result: StringArray,
    offsets: arrow_buffer::OffsetBuffer<i32>,
    moves: UInt16Array,
}

impl Games {
    /// Opens a folder that [`GamesWriter`] wrote.
    ///
    /// # Errors
    /// It cannot be read, is of another format, or is damaged.
    pub fn open(folder: &Path) -> Result<Self, ShardError> {
        let mut opened = Games { batches: Vec::new(), starts: Vec::new(), games: 0 };
        for (path, batch) in read(&format(), folder)? {
            let lists = batch.column(5).as_list::<i32>();
            let plies = batch.column(4).as_primitive::<UInt32Type>();
            if let Some(row) =
                (0..batch.num_rows()).find(|&row| lists.value_length(row) as i64 != i64::from(plies.value(row)))
            {
                let message = format!(
                    "game {} has {} moves and says {} plies",
                    opened.games + row,
                    lists.value_length(row),
                    plies.value(row)
                );
                return Err(ShardError::Content { format: "games", path, message });
            }
            opened.starts.push(opened.games);
            opened.games += batch.num_rows();
            opened.batches.push(Batch {
                index: batch.column(0).as_primitive::<UInt64Type>().clone(),
                id: batch.column(1).as_string::<i32>().clone(),
                site: batch.column(2).as_string::<i32>().clone(),
                result: batch.column(3).as_string::<i32>().clone(),
                offsets: lists.offsets().clone(),
                moves: lists.values().as_primitive::<UInt16Type>().clone(),
            });
        }
        Ok(opened)
    }

    /// Number of games.
    pub fn len(&self) -> usize {
        self.games
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.games == 0
    }

    /// The game at place `row`, counted over all files from 0.
    pub fn get(&self, row: usize) -> Option<GameRow<'_>> {
        let at = self.starts.partition_point(|&start| start <= row).checked_sub(1)?;
        let (batch, row) = (&self.batches[at], row - self.starts[at]);
        (row < batch.index.len()).then(|| batch.game(row))
    }

    /// All games in order.
    pub fn iter(&self) -> impl Iterator<Item = GameRow<'_>> {
        self.batches.iter().flat_map(|batch| (0..batch.index.len()).map(|row| batch.game(row)))
    }
}

impl Batch {
    fn game(&self, row: usize) -> GameRow<'_> {
        let moves = self.offsets[row] as usize..self.offsets[row + 1] as usize;
        GameRow {
            index: self.index.value(row),
            id: self.id.value(row),
            site: self.site.value(row),
            result: self.result.value(row),
            moves: &self.moves.values()[moves],
        }
    }
}
