//! The records of one block of lines.

use crate::lines::{Block, Line, MAX_LINE_BYTES};
use crate::record::Record;
use crate::validate::{Reason, RecordError, validate};

/// The outcome of one line.
#[derive(Debug)]
pub struct ParsedRecord {
    /// Its number in the file, from 1.
    pub line: u64,
    /// The game's id, if the line could be read so far.
    pub id: Option<String>,
    /// The game, or the reason why it is none.
    pub game: Result<Game, RecordError>,
}

/// A game that is imported.
#[derive(Debug)]
pub struct Game {
    /// The place of the game; `?` where the record has none.
    pub site: String,
    /// Its result.
    pub result: String,
    /// Its moves, packed.
    pub moves: Vec<u16>,
}

/// Reads all lines of a block.
pub fn parse_block(block: &Block, check: bool) -> Vec<ParsedRecord> {
    block.lines().map(|(line, text)| parse_line(line, text, check)).collect()
}

fn parse_line(line: u64, text: Line<'_>, check: bool) -> ParsedRecord {
    let nameless = |reason, what: String| ParsedRecord { line, id: None, game: Err(RecordError::new(reason, what)) };
    let text = match text {
        Line::Text(text) => text,
        Line::TooLong => {
            return nameless(Reason::TooLong, format!("it is longer than {} MiB", MAX_LINE_BYTES >> 20));
        }
    };
    let record = match Record::read(text, check) {
        Ok(record) => record,
        Err(what) => return nameless(Reason::Unreadable, what),
    };
    let mut moves = Vec::with_capacity(record.moves.len());
    let game = validate(&record, check, &mut moves).map(|()| Game {
        site: record.site.as_deref().unwrap_or("?").to_owned(),
        result: record.result.into_owned(),
        moves,
    });
    ParsedRecord { line, id: Some(record.example_id.into_owned()), game }
}
