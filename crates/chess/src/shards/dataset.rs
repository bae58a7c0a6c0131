//! Shards of token sequences.

use std::path::Path;
use std::sync::Arc;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, BinaryArray, RecordBatch, StringArray, UInt16Array, UInt32Array, UInt64Array};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field};

use super::ShardError;
use super::columns::{Labels, Lists, Texts, is_full, list_type};
use super::files::{ShardFiles, ShardFormat, read};

fn format() -> ShardFormat {
    ShardFormat {
        name: "dataset",
        version: 2,
        fields: vec![
            Field::new("index", DataType::UInt64, false),
            Field::new("id", DataType::Utf8, false),
            Field::new("tokens", list_type(), false),
            Field::new("result", DataType::Utf8, false),
            Field::new("plies", DataType::UInt32, false),
        ],
        labelled: false,
    }
}

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
    labels: Option<Labels>,
}

impl DatasetWriter {
    /// Makes the folder; each file will have at most `shard_games` rows.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn create(folder: &Path, shard_games: u64) -> Result<Self, ShardError> {
        Ok(DatasetWriter {
            files: ShardFiles::create(format(), folder, shard_games)?,
            index: Vec::new(),
            id: Texts::default(),
            tokens: Lists::default(),
            result: Texts::default(),
            plies: Vec::new(),
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
    pub fn push(&mut self, game: DatasetRow<'_>) -> Result<(), ShardError> {
        let labels = self.files.push_labels(&mut self.labels, game.index, game.labels, game.tokens.len())?;
        self.index.push(game.index);
        self.id.push(game.id);
        self.tokens.push(game.tokens.iter().copied());
        self.result.push(game.result);
        self.plies.push(game.tokens.len().saturating_sub(1) as u32);
        let longest = self.tokens.size().max(self.id.size()).max(self.result.size()).max(labels);
        let rows = self.index.len();
        if is_full(rows, longest) || rows as u64 >= self.files.rows_left() { self.flush() } else { Ok(()) }
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
                self.tokens.take()?,
                self.result.take()?,
                Arc::new(UInt32Array::from(std::mem::take(&mut self.plies))),
            ];
            if let Some(labels) = &mut self.labels {
                columns.push(labels.take()?);
            }
            RecordBatch::try_new(self.files.schema(), columns)
        })();
        let batch = batch.map_err(ShardError::writing(Path::new("dataset")))?;
        self.files.write(&batch)
    }
}

/// A folder of token sequences, mapped into memory: any game is reached at once, and nothing is copied.
#[derive(Debug)]
pub struct Dataset {
    batches: Vec<Batch>,
    /// Number of games before each batch.
    starts: Vec<usize>,
    games: usize,
    positions: u64,
}

#[derive(Debug)]
struct Batch {
    index: UInt64Array,
    id: StringArray,
    offsets: OffsetBuffer<i32>,
    tokens: UInt16Array,
    result: StringArray,
    labels: Option<BinaryArray>,
}

impl Dataset {
    /// Opens a folder that [`DatasetWriter`] wrote.
    ///
    /// # Errors
    /// It cannot be read, is of another format, or is damaged.
    pub fn open(folder: &Path) -> Result<Self, ShardError> {
        let mut opened = Dataset { batches: Vec::new(), starts: Vec::new(), games: 0, positions: 0 };
        for (path, batch) in read(&format(), folder)? {
            let lists = batch.column(2).as_list::<i32>();
            let plies = batch.column(4).as_primitive::<UInt32Type>();
            if let Some(row) =
                (0..batch.num_rows()).find(|&row| lists.value_length(row) as i64 != i64::from(plies.value(row)) + 1)
            {
                let message = format!(
                    "game {} has {} tokens and says {} plies",
                    opened.games + row,
                    lists.value_length(row),
                    plies.value(row)
                );
                return Err(ShardError::Content { format: "dataset", path, message });
            }
            opened.starts.push(opened.games);
            opened.games += batch.num_rows();
            let offsets = lists.offsets().clone();
            opened.positions += (offsets[batch.num_rows()] - offsets[0]) as u64;
            opened.batches.push(Batch {
                index: batch.column(0).as_primitive::<UInt64Type>().clone(),
                id: batch.column(1).as_string::<i32>().clone(),
                offsets,
                tokens: lists.values().as_primitive::<UInt16Type>().clone(),
                result: batch.column(3).as_string::<i32>().clone(),
                labels: batch.columns().get(5).map(|labels| labels.as_binary::<i32>().clone()),
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

    /// Number of positions of all games: their tokens, START included.
    pub fn positions(&self) -> u64 {
        self.positions
    }

    /// Whether there is a column of labels, so that games may carry them.
    pub fn labelled(&self) -> bool {
        self.batches.first().is_some_and(|batch| batch.labels.is_some())
    }

    /// The game at place `row`, counted over all files from 0.
    pub fn get(&self, row: usize) -> Option<DatasetRow<'_>> {
        let at = self.starts.partition_point(|&start| start <= row).checked_sub(1)?;
        let (batch, row) = (&self.batches[at], row - self.starts[at]);
        (row < batch.index.len()).then(|| batch.game(row))
    }

    /// All games in order.
    pub fn iter(&self) -> impl Iterator<Item = DatasetRow<'_>> {
        self.batches.iter().flat_map(|batch| (0..batch.index.len()).map(|row| batch.game(row)))
    }
}

impl Batch {
    fn game(&self, row: usize) -> DatasetRow<'_> {
        let tokens = self.offsets[row] as usize..self.offsets[row + 1] as usize;
        DatasetRow {
            index: self.index.value(row),
            id: self.id.value(row),
            tokens: &self.tokens.values()[tokens],
            result: self.result.value(row),
            labels: self.labels.as_ref().filter(|labels| labels.is_valid(row)).map(|labels| labels.value(row)),
        }
    }
}
