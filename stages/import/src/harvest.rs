//! What was read from one block of lines.

use crate::judge::{Fault, Reason, judge};
use crate::lines::{Block, LONGEST_LINE, Line};
use crate::record::Record;

/// What became of one line.
#[derive(Debug)]
pub struct Read {
    /// Its number in the file, from 1.
    pub line: u64,
    /// The game's id, if the line could be read so far.
    pub id: Option<String>,
    /// The game, or why it is none.
    pub game: Result<Game, Fault>,
}

/// A game as it goes on.
#[derive(Debug)]
pub struct Game {
    /// Where it was played; `?` where the record does not say.
    pub site: String,
    /// Its result.
    pub result: String,
    /// Its moves, packed.
    pub moves: Vec<u16>,
}

/// Reads all lines of a block.
pub fn gather(block: &Block, check: bool) -> Vec<Read> {
    block.lines().map(|(line, text)| read(line, text, check)).collect()
}

fn read(line: u64, text: Line<'_>, check: bool) -> Read {
    let nameless = |reason, what: String| Read { line, id: None, game: Err(Fault::new(reason, what)) };
    let text = match text {
        Line::Text(text) => text,
        Line::TooLong => {
            return nameless(Reason::TooLong, format!("it is longer than {} MiB", LONGEST_LINE >> 20));
        }
    };
    let record = match Record::read(text, check) {
        Ok(record) => record,
        Err(what) => return nameless(Reason::Unreadable, what),
    };
    let mut moves = Vec::with_capacity(record.moves.len());
    let game = judge(&record, check, &mut moves).map(|()| Game {
        site: record.site.as_deref().unwrap_or("?").to_owned(),
        result: record.result.into_owned(),
        moves,
    });
    Read { line, id: Some(record.example_id.into_owned()), game }
}
