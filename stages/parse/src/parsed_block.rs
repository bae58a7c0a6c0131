//! The games of one block: those that are kept, in columns, and the outcome of every game.

use cwm_chess::GameRow;
use cwm_chess::pgn::Block;

use crate::rules::{DroppedGame, Rules};

/// The games of one block. Its memory is used again for the next.
#[derive(Default)]
pub struct ParsedBlock {
    moves: Vec<u16>,
    texts: String,
    labels: Vec<u8>,
    kept: Vec<ColumnEnds>,
    /// The games that are not kept, each with its place in the block.
    dropped: Vec<(usize, DroppedGame)>,
    games: usize,
    /// The number of the first game in its file, from 1.
    first: u64,
    /// True if one of the games has a tag or a move, as a PGN has.
    looks_like_pgn: bool,
}

/// Ends of one kept game in the columns.
struct ColumnEnds {
    moves: usize,
    labels: usize,
    id: usize,
    site: usize,
    result: usize,
}

/// The outcome of a game.
pub enum GameOutcome<'a> {
    /// The game is kept; its `index` is to be set.
    Row(GameRow<'a>),
    /// The game is dropped. The error has its number in the file, from 1.
    Drop(u64, &'a DroppedGame),
}

impl ParsedBlock {
    /// Reads all games of a block, in place of what was held before.
    pub fn parse(&mut self, block: &Block, rules: &Rules) {
        self.reset(0);
        for game in block.games() {
            if self.games == 0 {
                self.first = game.number;
            }
            let before = self.moves.len();
            let result = rules.read_game(game, self);
            self.finish_game(result, self.moves.len() > before || begins_with_a_tag(game.text));
        }
    }

    /// Forgets what was held; the next game is the one numbered `first` in its file.
    pub fn reset(&mut self, first: u64) {
        self.moves.clear();
        self.texts.clear();
        self.labels.clear();
        self.kept.clear();
        self.dropped.clear();
        self.games = 0;
        self.first = first;
        self.looks_like_pgn = false;
    }

    /// Ends the game under way, which was kept or is dropped.
    pub fn finish_game(&mut self, result: Result<(), DroppedGame>, looks_like_pgn: bool) {
        self.looks_like_pgn |= looks_like_pgn;
        if let Err(drop) = result {
            let (moves, labels) = self.kept.last().map_or((0, 0), |ends| (ends.moves, ends.labels));
            self.moves.truncate(moves);
            self.labels.truncate(labels);
            self.dropped.push((self.games, drop));
        }
        self.games += 1;
    }

    /// Returns the column that the moves of the game under way are appended to.
    pub fn moves(&mut self) -> &mut Vec<u16> {
        &mut self.moves
    }

    /// Gives labels to the game under way, those of all its positions.
    pub fn set_labels(&mut self, labels: &[u8]) {
        self.labels.extend_from_slice(labels);
    }

    /// Keeps the game whose moves were appended.
    pub fn keep(&mut self, site: &str, result: &str, write_id: impl FnOnce(&mut String)) {
        write_id(&mut self.texts);
        let id = self.texts.len();
        self.texts.push_str(site);
        let site = self.texts.len();
        self.texts.push_str(result);
        let (moves, labels) = (self.moves.len(), self.labels.len());
        self.kept.push(ColumnEnds { moves, labels, id, site, result: self.texts.len() });
    }

    /// Returns true if one of the games has a tag or a move, as a PGN has.
    pub fn looks_like_pgn(&self) -> bool {
        self.looks_like_pgn
    }

    /// Returns the outcome of each game, in their order.
    pub fn outcomes(&self) -> impl Iterator<Item = GameOutcome<'_>> {
        let mut dropped = self.dropped.iter().peekable();
        let mut kept = self.kept.iter();
        let (mut moves, mut labels, mut texts) = (0, 0, 0);
        (0..self.games).map_while(move |game| {
            if let Some((_, drop)) = dropped.next_if(|(place, _)| *place == game) {
                return Some(GameOutcome::Drop(self.first + game as u64, drop));
            }
            let ends = kept.next()?;
            let row = GameRow {
                index: 0,
                id: &self.texts[texts..ends.id],
                site: &self.texts[ends.id..ends.site],
                result: &self.texts[ends.site..ends.result],
                moves: &self.moves[moves..ends.moves],
                // A game has a position at least, so none are none.
                labels: (labels < ends.labels).then(|| &self.labels[labels..ends.labels]),
            };
            (moves, labels, texts) = (ends.moves, ends.labels, ends.result);
            Some(GameOutcome::Row(row))
        })
    }
}

/// Returns true if the text begins as `[Event "`.
fn begins_with_a_tag(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"[") else { return false };
    let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    name > 0 && rest[name..].trim_ascii_start().starts_with(b"\"")
}
