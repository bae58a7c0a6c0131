//! Describes folders of games and of token sequences.

use std::ops::Range;
use std::path::Path;

use cwm_chess::{Dataset, DatasetRow, Games};
use cwm_contract::{DescribeOptions, Description, Failure, amount};
use cwm_encoding::{PlainMove, START};
use serde::Serialize;

use crate::example::{Example, Game};
use crate::facts;
use crate::format::{counted, line, with_separators};
use crate::game_stats::{GameStats, Totals};
use crate::ordered::in_order;

/// Games that one thread counts at a time: so few that all threads are in a few record batches at any moment, since
/// only so many are kept decoded.
const CHUNK: usize = 1 << 10;

/// The description of a folder.
#[derive(Serialize)]
struct Folder {
    totals: Totals,
    /// Its files.
    files: u64,
    /// Bytes of them all.
    bytes: u64,
    /// The first games.
    examples: Vec<Example>,
}

/// Describes a folder of format `games`.
pub fn games(path: &Path, detail: DescribeOptions) -> Result<Description, Failure> {
    let games = Games::open(path)?;
    let totals = count(games.len(), detail.cores, |row, stats| {
        if let Some(game) = games.get(row)? {
            let game = game.row();
            stats.add(game.moves.iter().copied(), game.result, game.labels.is_some());
        }
        Ok(())
    })?;
    let mut examples = Vec::new();
    for (row, game) in games.iter().take(detail.examples).enumerate() {
        let game = game?;
        let game = game.row();
        let moves = game.moves.iter().map(|&packed| PlainMove::from_packed(packed).map_or(u16::MAX, PlainMove::token));
        let tokens: Vec<u16> = std::iter::once(START).chain(moves).collect();
        let (index, id, site, result) = (game.index, game.id, Some(game.site), game.result);
        examples.push(Example::new(&Game { row, index, id, site, result, tokens: &tokens, labels: game.labels }));
    }
    describe(path, totals, examples)
}

/// Describes a folder of format `dataset`.
pub fn dataset(path: &Path, detail: DescribeOptions) -> Result<Description, Failure> {
    let dataset = Dataset::open(path)?;
    let totals = count(dataset.len(), detail.cores, |row, stats| {
        if let Some(game) = dataset.get(row)? {
            let game = game.row();
            let moves = game.tokens.get(1..).unwrap_or_default();
            stats.add(moves.iter().copied(), game.result, game.labels.is_some());
        }
        Ok(())
    })?;
    let mut examples = Vec::new();
    for (row, game) in dataset.iter().take(detail.examples).enumerate() {
        let game = game?;
        let DatasetRow { index, id, tokens, result, labels } = game.row();
        examples.push(Example::new(&Game { row, index, id, site: None, result, tokens, labels }));
    }
    describe(path, totals, examples)
}

/// Counts all games, on all cores.
fn count(
    games: usize,
    cores: usize,
    add: impl Fn(usize, &mut GameStats) -> Result<(), Failure> + Sync,
) -> Result<Totals, Failure> {
    let chunks = (0..games).step_by(CHUNK).map(|start| start..games.min(start + CHUNK));
    let work = |mut rows: Range<usize>| {
        let mut stats = GameStats::default();
        rows.try_for_each(|row| add(row, &mut stats))?;
        Ok::<_, Failure>(stats)
    };
    let mut all = GameStats::default();
    in_order(cores, chunks, work, |part| {
        all.merge(&part);
        Ok(())
    })?;
    Ok(all.totals())
}

fn describe(path: &Path, totals: Totals, examples: Vec<Example>) -> Result<Description, Failure> {
    let (files, size) = files_in(path)?;
    let each =
        if totals.games == 0 { String::new() } else { format!(" ({:.0} a game)", size as f64 / totals.games as f64) };
    let mut lines = vec![line("games", with_separators(totals.games))];
    lines.extend(totals.lines());
    lines.push(line("on disk", format!("{} in {}{each}", amount::format_bytes(size), counted(files, "file"))));
    for example in &examples {
        lines.push(String::new());
        lines.extend(example.lines());
    }
    Ok(Description { lines, facts: facts(&Folder { totals, files, bytes: size, examples })? })
}

/// Counts the files of a folder and their bytes, without reading them.
pub fn files_in(path: &Path) -> Result<(u64, u64), Failure> {
    let (mut files, mut bytes) = (0, 0);
    for entry in std::fs::read_dir(path).map_err(|error| Failure::io("read", path, error))? {
        let file = entry.map_err(|error| Failure::io("read", path, error))?.path();
        // Through links: a folder of the store consists of them.
        bytes += std::fs::metadata(&file).map_err(|error| Failure::io("read", &file, error))?.len();
        files += 1;
    }
    Ok((files, bytes))
}
