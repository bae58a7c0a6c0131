//! The run of `analyse`.

use std::collections::{BTreeMap, HashSet};
use std::io::{BufWriter, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use cwm_contract::{Context, Failure};
use cwm_evaluations::{Evaluation, EvaluationsWriter, Source};
use serde_json::{Value, json};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Position};

use crate::blocks::Blocks;
use crate::config::{Config, MOST_MOVES};
use crate::evaluator::Evaluator;
use crate::origin::Origin;
use crate::puzzles;

/// Reads `games`, or places positions, and writes `evaluations` and `counts`.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    context.activity(if config.place.is_some() { "placing positions" } else { "counting positions" });
    let (origin, positions) = Origin::open(context, &config)?;
    let blocks = Blocks { context, origin: &origin, margin: config.puzzles.then_some(config.margin) };
    context.activity("asking the engine");
    let start = || Evaluator::start(&config, context.cancellation().clone());
    // Its name stands in the output; and if it cannot be used, no other is started.
    let first = start()?;
    let source = first.source(&config)?;
    evaluate(&blocks, positions.total, &source, first, &start)?;
    context.activity("writing");
    let (written, incomplete) = write(&blocks, &source, config.moves() == Some(MOST_MOVES))?;
    let puzzles = write_puzzles(&blocks)?;
    let mut counts: BTreeMap<&str, Value> = BTreeMap::from([
        ("stage", json!("analyse")),
        ("engine", json!(source.made_by)),
        ("nodes", json!(source.nodes)),
        ("positions", json!(written)),
        ("game_over", json!(positions.game_over)),
    ]);
    counts.extend(config.place.is_none().then(|| ("games", json!(origin.len()))));
    counts.extend((!positions.dropped.is_empty()).then(|| ("dropped", json!(positions.dropped))));
    counts.extend(incomplete.map(|incomplete| ("incomplete", json!(incomplete))));
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
                Some(_) => report(blocks.position_count(block)?),
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

/// Writes the rows of all blocks, in order and numbered. Returns their number, and if all moves were to be valued the number of
/// those rows in which one is not.
fn write(blocks: &Blocks<'_>, source: &Source, all_moves: bool) -> Result<(u64, Option<u64>), Failure> {
    let mut writer = EvaluationsWriter::create(blocks.context.output("evaluations")?, source)?;
    let (mut record, mut incomplete) = (0, 0);
    for block in 0..blocks.len() {
        let rows = blocks.finished(block)?;
        let rows = rows.ok_or_else(|| Failure::internal(format!("block {block} was not evaluated")))?;
        for row in rows {
            let mut row = row?;
            row.record = record;
            record += 1;
            incomplete += u64::from(all_moves && !values_all(&row)?);
            writer.push(row)?;
        }
    }
    writer.finish()?;
    Ok((record, all_moves.then_some(incomplete)))
}

/// True if every legal move of a row's position has a line with a score.
fn values_all(row: &Evaluation) -> Result<bool, Failure> {
    let wrong = |error: &dyn std::fmt::Display| Failure::internal(format!("`{}` was written: {error}", row.fen));
    let fen: Fen = row.fen.parse().map_err(|error| wrong(&error))?;
    let position: Chess = fen.into_position(CastlingMode::Standard).map_err(|error| wrong(&error))?;
    Ok(row.lines.iter().filter(|line| line.score.is_some()).count() == position.legal_moves().len())
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
