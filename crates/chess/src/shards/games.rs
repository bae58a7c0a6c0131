//! Shards of replayed games.

use std::path::Path;

use super::ShardError;
use super::batch_buffers::{self, BatchBuffers};
use super::columns::{Lists, Texts, is_full, write_numbers};
use super::format::{Kind, ShardFormat};
use super::lists;
use super::sequence::{Columns, Shards};
use super::writer::ShardFiles;

static FORMAT: ShardFormat = ShardFormat {
    name: "games",
    version: 2,
    columns: &[
        ("index", Kind::Ordinal),
        ("id", Kind::Text),
        ("site", Kind::Text),
        ("result", Kind::Text),
        ("plies", Kind::Count),
        ("moves", Kind::List),
    ],
    positions_beyond_list: 1,
};

/// One replayed game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameRow<'a> {
    /// Ordinal among the kept games, from 0; `split` keeps it.
    pub index: u64,
    /// Its name (see [`IdKey`](crate::IdKey)).
    pub id: &'a str,
    /// The place of the game, from its headers.
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
}

impl GamesWriter {
    /// Makes the folder; each file will have at most `shard_games` rows.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn create(folder: &Path, shard_games: u64) -> Result<Self, ShardError> {
        Ok(GamesWriter {
            files: ShardFiles::create(&FORMAT, folder, shard_games)?,
            index: Vec::new(),
            id: Texts::default(),
            site: Texts::default(),
            result: Texts::default(),
            plies: Vec::new(),
            moves: Lists::default(),
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
    /// a text or its moves are longer than 2^24.
    pub fn push(&mut self, game: GameRow<'_>) -> Result<(), ShardError> {
        let GameRow { index, id, site, result, moves, labels } = game;
        let labels = self.files.reserve(index, &[id, site, result], moves, labels)?;
        self.index.push(index);
        self.id.push(id);
        self.site.push(site);
        self.result.push(result);
        self.plies.push(moves.len() as u32);
        self.moves.push(moves);
        let rows = self.index.len();
        let longest = self.moves.size().max(self.id.size()).max(self.site.size()).max(self.result.size());
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
            self.site.write(body)?;
            self.result.write(body)?;
            write_numbers(&mut self.plies, body)?;
            self.moves.write(body);
            Ok(())
        })
    }
}

/// A folder of games that [`GamesWriter`] wrote.
pub type Games = Shards<GameColumns>;

/// The columns of a batch of games.
#[derive(Debug)]
pub struct GameColumns {
    index: Vec<u64>,
    id: batch_buffers::Texts,
    site: batch_buffers::Texts,
    result: batch_buffers::Texts,
    labels: Option<batch_buffers::Labels>,
}

impl Columns for GameColumns {
    const FORMAT: &'static ShardFormat = &FORMAT;
    type Row<'a> = GameRow<'a>;

    fn decode(packed: &BatchBuffers<'_>, lists: &lists::Lists) -> Result<Self, String> {
        packed.check_plies(4, lists, FORMAT.positions_beyond_list)?;
        Ok(GameColumns {
            index: packed.ordinals(0)?,
            id: packed.texts(1)?,
            site: packed.texts(2)?,
            result: packed.texts(3)?,
            labels: packed.labels(lists, FORMAT.positions_beyond_list)?,
        })
    }

    fn row<'a>(&'a self, row: usize, moves: &'a [u16]) -> GameRow<'a> {
        GameRow {
            index: self.index[row],
            id: self.id.get(row),
            site: self.site.get(row),
            result: self.result.get(row),
            moves,
            labels: self.labels.as_ref().and_then(|labels| labels.get(row)),
        }
    }
}
