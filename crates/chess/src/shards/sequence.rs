//! A folder of shards as one sequence of games.

use std::path::Path;
use std::sync::Arc;

use super::ShardError;
use super::batch_buffers::{BatchBuffers, Labels};
use super::block_cache::BlockCache;
use super::format::ShardFormat;
use super::header::Header;
use super::lists::Lists;
use super::mapped::{self, BatchLocation, MappedFile};

/// The columns of one record batch, but for the lists, which stay in the file.
pub trait Columns: Sized {
    /// Their format.
    const FORMAT: &'static ShardFormat;
    /// A row of them.
    type Row<'a>
    where
        Self: 'a;

    /// Decodes them and checks that they fit the lists.
    ///
    /// # Errors
    /// The lists do not fit each other or their buffers.
    fn decode(packed: &BatchBuffers<'_>, lists: &Lists) -> Result<Self, String>;

    /// The row with this list.
    fn row<'a>(&'a self, row: usize, list: &'a [u16]) -> Self::Row<'a>;
}

/// A folder of games, mapped into memory. Opening it reads headers alone. The moves or tokens of a game are read where
/// they lie; its other columns are decoded a batch at a time, and a fixed number of batches is kept.
#[derive(Debug)]
pub struct Shards<C> {
    blocks: Vec<Block>,
    /// Number of games before each block.
    starts: Vec<usize>,
    games: usize,
    labelled: bool,
    columns: BlockCache<C>,
    labels: BlockCache<Option<Labels>>,
}

/// One record batch.
#[derive(Debug)]
struct Block {
    file: Arc<MappedFile>,
    place: BatchLocation,
    lists: Lists,
}

/// One game of a folder.
#[derive(Debug)]
pub struct Game<'a, C> {
    columns: Arc<C>,
    at: usize,
    list: &'a [u16],
}

impl<C: Columns> Game<'_, C> {
    /// Returns its row.
    pub fn row(&self) -> C::Row<'_> {
        self.columns.row(self.at, self.list)
    }
}

impl<C: Columns> Shards<C> {
    /// Opens a folder of shards of this format.
    ///
    /// # Errors
    /// It cannot be read, is of another format or version, or is damaged where the games begin. Damage of a batch is
    /// reported when one of its games is requested.
    pub fn open(folder: &Path) -> Result<Self, ShardError> {
        let opened = mapped::open(C::FORMAT, folder)?;
        let mut shards = Shards {
            blocks: Vec::with_capacity(opened.batches.len()),
            starts: Vec::with_capacity(opened.batches.len()),
            games: 0,
            labelled: opened.labelled,
            columns: BlockCache::default(),
            labels: BlockCache::default(),
        };
        for (file, place) in opened.batches {
            // One file at a time is looked into, however many there are.
            shards
                .blocks
                .last()
                .filter(|last| !Arc::ptr_eq(&last.file, &file))
                .inspect(|last| last.file.release_pages());
            let header = header(&file, &place)?;
            if header.rows == 0 {
                continue;
            }
            let (offsets, values) =
                BatchBuffers { bytes: &file.bytes, header }.lists().map_err(|wrong| file.batch(&place, wrong))?;
            let lists = Lists::open(&file.bytes, offsets, values).map_err(|wrong| file.batch(&place, wrong))?;
            shards.starts.push(shards.games);
            shards.games += lists.len();
            shards.blocks.push(Block { file, place, lists });
        }
        Ok(shards)
    }

    /// Number of games.
    pub fn len(&self) -> usize {
        self.games
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.games == 0
    }

    /// Returns true if there is a column of labels, so that games may carry them.
    pub fn labelled(&self) -> bool {
        self.labelled
    }

    /// Lets go of what was read of the files so far, which the system counts as this process's memory. It is there
    /// again when it is requested.
    pub fn release_pages(&self) {
        let mut last: Option<&Arc<MappedFile>> = None;
        for Block { file, .. } in &self.blocks {
            if last.is_none_or(|last| !Arc::ptr_eq(last, file)) {
                file.release_pages();
            }
            last = Some(file);
        }
    }

    /// The game at place `game`, counted over all files from 0; `None` behind the last.
    ///
    /// # Errors
    /// Its batch is damaged.
    pub fn get(&self, game: usize) -> Result<Option<Game<'_, C>>, ShardError> {
        let Some((block, at)) = self.find(game) else { return Ok(None) };
        let columns = self.columns.get(block, || self.blocks[block].columns())?;
        Ok(Some(Game { columns, at, list: self.blocks[block].list(at)? }))
    }

    /// All games in order.
    ///
    /// # Errors
    /// A game's batch is damaged; there are as many errors as it has games.
    pub fn iter(&self) -> impl Iterator<Item = Result<Game<'_, C>, ShardError>> {
        self.blocks.iter().flat_map(|block| {
            let mut columns: Option<Arc<C>> = None;
            (0..block.lists.len()).map(move |at| {
                let columns = match &columns {
                    Some(columns) => columns.clone(),
                    None => columns.insert(Arc::new(block.columns()?)).clone(),
                };
                Ok(Game { columns, at, list: block.list(at)? })
            })
        })
    }

    /// The moves or tokens of a game, where they lie in the file; `None` behind the last game.
    pub(super) fn list(&self, game: usize) -> Result<Option<&[u16]>, ShardError> {
        self.find(game).map(|(block, at)| self.blocks[block].list(at)).transpose()
    }

    /// The labels that a game carries, if it does. Those of its batch are decoded, and no other columns.
    pub(super) fn carried_labels(&self, game: usize) -> Result<Option<Vec<u8>>, ShardError> {
        let Some((block, at)) = self.find(game).filter(|_| self.labelled) else { return Ok(None) };
        let decode =
            |packed: &BatchBuffers<'_>| packed.labels(&self.blocks[block].lists, C::FORMAT.positions_beyond_list);
        let labels = self.labels.get(block, || self.blocks[block].decode(decode))?;
        Ok(labels.as_ref().as_ref().and_then(|labels| labels.get(at)).map(<[u8]>::to_vec))
    }

    /// Returns the number of numbers in all lists.
    pub(super) fn numbers(&self) -> u64 {
        self.blocks.iter().map(|block| block.lists.numbers()).sum()
    }

    /// The block of a game, and its place there.
    fn find(&self, game: usize) -> Option<(usize, usize)> {
        let block = self.starts.partition_point(|&start| start <= game).checked_sub(1)?;
        (game < self.games).then(|| (block, game - self.starts[block]))
    }
}

impl Block {
    fn list(&self, at: usize) -> Result<&[u16], ShardError> {
        self.lists.get(at).ok_or_else(|| self.file.batch(&self.place, format!("row {at} has no list")))
    }

    fn columns<C: Columns>(&self) -> Result<C, ShardError> {
        self.decode(|packed| C::decode(packed, &self.lists))
    }

    fn decode<T>(&self, decode: impl FnOnce(&BatchBuffers<'_>) -> Result<T, String>) -> Result<T, ShardError> {
        let header = header(&self.file, &self.place)?;
        let packed = BatchBuffers { bytes: &self.file.bytes, header };
        decode(&packed).map_err(|wrong| self.file.batch(&self.place, wrong))
    }
}

fn header(file: &MappedFile, place: &BatchLocation) -> Result<Header, ShardError> {
    let (header, body) = (place.header.clone(), place.body.clone());
    Header::read(file.format, file.labelled, &file.bytes, header, body).map_err(|wrong| file.batch(place, wrong))
}
