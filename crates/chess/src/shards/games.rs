//! Shards of replayed games.

use std::path::Path;
use std::sync::Arc;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, BinaryArray, RecordBatch, StringArray, UInt16Array, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field};

use super::ShardError;
use super::columns::{Labels, Lists, Texts, is_full, list_type};
use super::files::{ShardFiles, ShardFormat, read};

fn format() -> ShardFormat {
    ShardFormat {
        name: "games",
        version: 2,
        fields: vec![
            Field::new("index", DataType::UInt64, false),
            Field::new("id", DataType::Utf8, false),
            Field::new("site", DataType::Utf8, false),
            Field::new("result", DataType::Utf8, false),
            Field::new("plies", DataType::UInt32, false),
            Field::new("moves", list_type(), false),
        ],
        labelled: false,
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
    /// 75 bytes for each position, the first included, where no replay of the moves by standard rules gives them.
    pub labels: Option<&'a [u8]>,
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
    labels: Option<Labels>,
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
            labels: None,
        })
    }

    /// Says whether games may carry labels: the files then have a column for them. To be called before the first game.
    #[must_use]
    pub fn labelled(mut self, labelled: bool) -> Self {
        self.files.set_labelled(labelled);
        self.labels = labelled.then(Labels::default);
        self
    }

    /// Adds a game.
    ///
    /// # Errors
    /// The disk refuses, or the game carries labels that do not fit it or have no column.
    pub fn push(&mut self, game: GameRow<'_>) -> Result<(), ShardError> {
        let labels = self.files.push_labels(&mut self.labels, game.index, game.labels, game.moves.len() + 1)?;
        self.index.push(game.index);
        self.id.push(game.id);
        self.site.push(game.site);
        self.result.push(game.result);
        self.plies.push(game.moves.len() as u32);
        self.moves.push(game.moves.iter().copied());
        let texts = self.id.size().max(self.site.size()).max(self.result.size()).max(labels);
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
            let mut columns: Vec<ArrayRef> = vec![
                Arc::new(UInt64Array::from(std::mem::take(&mut self.index))),
                self.id.take()?,
                self.site.take()?,
                self.result.take()?,
                Arc::new(UInt32Array::from(std::mem::take(&mut self.plies))),
                self.moves.take()?,
            ];
            if let Some(labels) = &mut self.labels {
                columns.push(labels.take()?);
            }
            RecordBatch::try_new(self.files.schema(), columns)
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
    labels: Option<BinaryArray>,
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
                labels: batch.columns().get(6).map(|labels| labels.as_binary::<i32>().clone()),
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

    /// Whether there is a column of labels, so that games may carry them.
    pub fn labelled(&self) -> bool {
        self.batches.first().is_some_and(|batch| batch.labels.is_some())
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
            labels: self.labels.as_ref().filter(|labels| labels.is_valid(row)).map(|labels| labels.value(row)),
        }
    }
}
