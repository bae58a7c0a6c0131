//! Describes PGN: its first games.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cwm_chess::pgn::{Block, Blocks, GameText, Meter, PgnSource, Tags, read_moves};
use cwm_contract::{DescribeOptions, Description, Failure, amount};
use cwm_encoding::{PlainMove, START};
use serde::Serialize;

use crate::example::{Example, Game};
use crate::facts;
use crate::format::{counted, line, with_separators};

/// Bytes of text that are looked at, at most: larger files are not read to their end only to be described.
const TEXT: u64 = 32 << 20;

/// The description of PGN.
#[derive(Serialize)]
struct PgnSummary {
    /// Files.
    files: u64,
    /// Bytes of them all, as they are.
    bytes: u64,
    /// The compression of the first file: `none`, `zstd`, `gzip`, `bzip2`.
    compression: &'static str,
    /// Games in the text that was looked at.
    games: u64,
    /// True if that was all.
    complete: bool,
    /// The first games: their headers, and their moves where all are legal.
    examples: Vec<Example>,
}

/// Describes a file, or a folder of files, of format `pgn`.
pub fn pgn(path: &Path, detail: DescribeOptions) -> Result<Description, Failure> {
    let mut files = Vec::new();
    list(path, &mut files)?;
    let mut summary = PgnSummary {
        files: files.len() as u64,
        bytes: 0,
        compression: "none",
        games: 0,
        complete: true,
        examples: Vec::new(),
    };
    for file in &files {
        summary.bytes += std::fs::metadata(file).map_err(|error| Failure::io("read", file, error))?.len();
    }
    if let Some(first) = files.first() {
        summary.compression = compression(first)?;
    }
    let mut left = TEXT;
    for file in &files {
        scan(file, &mut left, detail.examples, &mut summary)?;
    }
    let games = if summary.complete {
        with_separators(summary.games)
    } else {
        format!(
            "more than {} (the first {} of the text were looked at)",
            with_separators(summary.games),
            amount::format_bytes(TEXT)
        )
    };
    let packed = if summary.compression == "none" {
        String::new()
    } else {
        format!(", compressed with {}", summary.compression)
    };
    let mut lines = vec![
        line("games", games),
        line(
            "on disk",
            format!("{} in {}{packed}", amount::format_bytes(summary.bytes), counted(summary.files, "file")),
        ),
    ];
    for example in &summary.examples {
        lines.push(String::new());
        lines.extend(example.lines());
    }
    Ok(Description { lines, facts: facts(&summary)? })
}

/// The files below `path` in the order of their names.
fn list(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let unread = |error| Failure::io("read", path, error);
    let mut below = Vec::new();
    for entry in path.read_dir().map_err(unread)? {
        below.push(entry.map_err(unread)?.path());
    }
    below.sort();
    below.iter().try_for_each(|path| list(path, files))
}

fn compression(path: &Path) -> Result<&'static str, Failure> {
    let mut start = Vec::new();
    let file = File::open(path).map_err(|error| Failure::io("read", path, error))?;
    file.take(4).read_to_end(&mut start).map_err(|error| Failure::io("read", path, error))?;
    Ok(match &start[..] {
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => "zstd",
        [0x1f, 0x8b, ..] => "gzip",
        [b'B', b'Z', b'h', b'1'..=b'9'] => "bzip2",
        _ => "none",
    })
}

/// Counts the games of a file, as far as `left` bytes of text go, and shows the first.
fn scan(path: &Path, left: &mut u64, examples: usize, summary: &mut PgnSummary) -> Result<(), Failure> {
    let wrong = |what: String| Failure::input(format!("cannot read {}: {what}", path.display()));
    let source = PgnSource::open(path, &Arc::new(Meter::default())).map_err(|error| wrong(error.to_string()))?;
    let mut blocks = Blocks::new(std::io::BufReader::new(source));
    let mut block = Block::default();
    let mut text = 0;
    loop {
        if text >= *left {
            summary.complete = false;
            break;
        }
        if !blocks.next(&mut block).map_err(|error| wrong(error.to_string()))? {
            break;
        }
        for game in block.games() {
            text = text.max(game.offset + game.text.len() as u64);
            if summary.examples.len() < examples {
                summary.examples.push(example(summary.games, &game));
            }
            summary.games += 1;
        }
    }
    *left -= text.min(*left);
    Ok(())
}

fn example(row: u64, game: &GameText<'_>) -> Example {
    let text = String::from_utf8_lossy(game.text);
    let (tags, movetext) = Tags::read(&text);
    let mut moves = Vec::new();
    let (named, fault) = match read_moves(&text.as_bytes()[movetext..], &mut moves) {
        Ok(named) => (named, None),
        Err(fault) => (None, Some(format!("what stands at ply {} is no legal move", fault.plies + 1))),
    };
    let moves = moves.iter().filter_map(|&packed| PlainMove::from_packed(packed)).map(PlainMove::token);
    let tokens: Vec<u16> = std::iter::once(START).chain(moves).collect();
    let result = tags.result.or(named).unwrap_or("*");
    let summary = Example::new(&Game {
        row: row as usize,
        index: row,
        id: tags.site.unwrap_or("?"),
        site: None,
        result,
        tokens: &tokens,
        labels: None,
    });
    summary.with_fault(fault)
}
