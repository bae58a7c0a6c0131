//! The run of `analyse`.

use std::collections::{BTreeMap, HashSet};
use std::io::{BufWriter, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use cwm_chess::Games;
use cwm_contract::{Context, Failure};
use cwm_evaluations::{EvaluationsWriter, Source};
use serde_json::{Value, json};

use crate::blocks::Blocks;
use crate::config::Config;
use crate::evaluator::Evaluator;
use crate::positions::Selection;
use crate::puzzles;

/// Reads `games` and writes `evaluations` and `counts`.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let games = Games::open(context.input("games")?)?;
    let count = config.limit.map_or(games.len(), |limit| games.len().min(usize::try_from(limit).unwrap_or(usize::MAX)));
    let blocks = Blocks {
        context,
        games: &games,
        count,
        selection: Selection::of(&config),
        margin: config.puzzles.then_some(config.margin),
    };
    context.activity("counting positions");
    let (mut total, mut over) = (0, 0);
    for game in games.iter().take(count) {
        context.check_cancelled()?;
        let positions = blocks.selection.of_game(&game?.row())?;
        total += positions.asked.len() as u64;
        over += positions.over;
    }
    if total == 0 {
        let message =
            format!("no position of {count} games is asked about; in {over} of those chosen the game has ended");
        return Err(Failure::input(message).hint("lower `from_ply`, or give more or longer games"));
    }
    context.activity("asking the engine");
    let start = || Evaluator::start(&config, context);
    // Its name stands in the output; and if it cannot be used, no other is started.
    let first = start()?;
    let source = first.source(&config)?;
    evaluate(&blocks, total, &source, first, &start)?;
    context.activity("writing");
    let written = write(&blocks, &source)?;
    let puzzles = write_puzzles(&blocks)?;
    let mut counts: BTreeMap<&str, Value> = BTreeMap::from([
        ("stage", json!("analyse")),
        ("engine", json!(source.made_by)),
        ("nodes", json!(source.nodes)),
        ("games", json!(count)),
        ("positions", json!(written)),
        ("over", json!(over)),
    ]);
    counts.extend(source.digest.as_ref().map(|digest| ("digest", json!(digest))));
    counts.extend((!source.options.is_empty()).then(|| ("options", json!(source.options))));
    counts.extend(config.puzzles.then(|| ("puzzles", json!(puzzles))));
    fs_err::write(context.output("counts")?, format!("{}\n", json!(counts)))?;
    context.metric("positions", written as f64);
    Ok(())
}

/// Evaluates the blocks that are not finished, on all cores.
fn evaluate(
    blocks: &Blocks<'_>,
    total: u64,
    source: &Source,
    first: Evaluator,
    start: &(dyn Fn() -> Result<Evaluator, Failure> + Sync),
) -> Result<(), Failure> {
    let context = blocks.context;
    let (next, done, failed) = (AtomicUsize::new(0), AtomicU64::new(0), Mutex::new(None));
    let first = Mutex::new(Some(first));
    let report = |positions| {
        let done = done.fetch_add(positions, Ordering::Relaxed) + positions;
        context.progress(done, Some(total), "positions");
    };
    let work = || {
        let ready = first.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        let mut evaluator = ready.map_or_else(start, Ok)?;
        loop {
            let block = next.fetch_add(1, Ordering::Relaxed);
            if block >= blocks.len() {
                return Ok(());
            }
            match blocks.finished(block)? {
                Some(_) => report(blocks.asked(block)?),
                None => blocks.evaluate(block, &mut evaluator, source, &|| report(1))?,
            }
        }
    };
    let workers = context.cores().min(blocks.len()).max(1);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                if let Err(failure) = work() {
                    // The others end with their blocks; what they finished is kept.
                    next.store(blocks.len(), Ordering::Relaxed);
                    failed.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(failure);
                }
            });
        }
    });
    failed.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).map_or(Ok(()), Err)
}

/// Writes the rows of all blocks, in order and numbered. Returns their number.
fn write(blocks: &Blocks<'_>, source: &Source) -> Result<u64, Failure> {
    let mut writer = EvaluationsWriter::create(blocks.context.output("evaluations")?, source)?;
    let mut record = 0;
    for block in 0..blocks.len() {
        let rows = blocks.finished(block)?;
        let rows = rows.ok_or_else(|| Failure::internal(format!("block {block} was not evaluated")))?;
        for row in rows {
            let mut row = row?;
            row.record = record;
            record += 1;
            writer.push(row)?;
        }
    }
    writer.finish()?;
    Ok(record)
}

/// Writes the puzzles of all blocks, in order, each once. Returns their number.
fn write_puzzles(blocks: &Blocks<'_>) -> Result<usize, Failure> {
    let mut out = BufWriter::new(fs_err::File::create(blocks.context.output("puzzles")?)?);
    out.write_all(puzzles::HEADER.as_bytes())?;
    let mut seen = HashSet::new();
    for block in (0..blocks.len()).filter(|_| blocks.margin.is_some()) {
        for row in blocks.puzzles(block)?.lines() {
            // Games that begin alike have the same puzzles.
            if seen.insert(row.to_owned()) {
                writeln!(out, "{row}")?;
            }
        }
    }
    out.flush()?;
    Ok(seen.len())
}
