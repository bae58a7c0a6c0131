//! `rules: authors`: the games that the authors' program makes of a PGN, whatever is in it.
//!
//! Their program reads with python-chess 1.11.2 and plays the main line of what it gives. So this reads line by line as
//! that does, with its tree of variations, its notion of a legal move and its mistakes: it is slow, one file after
//! another, and for files that are not a month of Lichess (docs/fidelity.md).

mod validate;

use std::io::BufRead;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cwm_chess::pgn::{MAX_GAME_BYTES, Meter, PgnError, PgnSource, Text};
use cwm_python_chess_reader::Reader;

use self::validate::validate;
use crate::parsed_block::ParsedBlock;
use crate::pipeline::{ReadErrorKind, ReadFailure};
use crate::rules::Rules;

/// Bytes of text after which games are handed over.
const BLOCK: u64 = 1 << 20;

/// Gives `take` the parsed games of the files in order, with the file's ordinal, until it breaks off or the files end.
///
/// # Errors
/// A file cannot be read, after all that came before was taken.
pub fn read_all<B>(
    files: &[PathBuf],
    meter: &Arc<Meter>,
    rules: &Rules,
    mut take: impl FnMut(usize, &ParsedBlock) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, ReadFailure> {
    for (file, path) in files.iter().enumerate() {
        let read = read_file(path, meter, rules, |parsed| take(file, parsed));
        if let ControlFlow::Break(broken) = read.map_err(|kind| ReadFailure { file, kind })? {
            return Ok(ControlFlow::Break(broken));
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn read_file<B>(
    path: &Path,
    meter: &Arc<Meter>,
    rules: &Rules,
    take: impl FnMut(&ParsedBlock) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, ReadErrorKind> {
    let source = PgnSource::open(path, meter).map_err(ReadErrorKind::Open)?;
    std::thread::scope(|scope| read_text(Text::spawn(scope, source, 1), rules, take).map_err(ReadErrorKind::Text))
}

fn read_text<B>(
    text: impl BufRead,
    rules: &Rules,
    mut take: impl FnMut(&ParsedBlock) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, PgnError> {
    let mut reader = Reader::new(text, MAX_GAME_BYTES);
    let mut parsed = ParsedBlock::default();
    let mut games = 0;
    loop {
        let begun = reader.bytes_read();
        parsed.reset(games + 1);
        let mut more = Ok(true);
        while matches!(more, Ok(true)) && reader.bytes_read() - begun < BLOCK {
            more = reader.read_game();
            // Behind the last game there may be bytes that are no text.
            if matches!(more, Ok(true)) || matches!(more, Ok(false)) && reader.error.is_some() {
                games += 1;
                let result = validate(&reader, rules, &mut parsed);
                parsed.finish_game(result, reader.looks_like_pgn());
            }
        }
        if let ControlFlow::Break(broken) = take(&parsed) {
            return Ok(ControlFlow::Break(broken));
        }
        match more {
            Ok(true) => {}
            Ok(false) => return Ok(ControlFlow::Continue(())),
            Err(source) => return Err(PgnError { game: games + 1, offset: reader.bytes_read(), source }),
        }
    }
}
