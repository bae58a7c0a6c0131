//! Scores the predictions of a model of any program, in place of a checkpoint: compares them with the labels, position
//! by position.
//!
//! Rows may come in any order. Memory grows with the games (about 100 bytes each) and not with their positions: what
//! was found of each position is kept in a file of slots until all rows have come. Of the few games that become boards
//! it is kept in memory, at some 16 bytes a wrong label.

mod names;
mod scorer;
mod slots;
mod table;

use std::path::Path;

use cwm_chess::Dataset;
use cwm_contract::{Context, Failure};
use cwm_models::heads::labels::LabelTotals;
use cwm_models::worker_pool::WorkerPool;
use serde_json::{Map, Value, json};

use self::names::GameNames;
use self::scorer::PredictionScorer;
use self::slots::Slots;
use self::table::Table;
use crate::boards::{BoardsWriter, WrongLabels};
use crate::checkpoint::games;
use crate::config::Config;
use crate::scores::ScoresWriter;

/// Games whose scores are in memory at once.
const CHUNK: usize = 1_024;

/// Scores the predictions in the file `path`.
///
/// # Errors
/// They do not have every label of every position exactly once, an operation on the disk fails, or the stage was
/// cancelled.
pub fn run(context: &Context, config: &Config, path: &Path) -> Result<(), Failure> {
    if let Some(parameter) = config.checkpoint_only_parameter() {
        return Err(Failure::input(format!("`{parameter}` belongs to a checkpoint; predictions have no use for it"))
            .hint("what tables call the model of predictions is `name`"));
    }
    let dataset = games(context)?;
    let table = Table::open(path)?;
    let model = model(&table, config)?;
    let workers = WorkerPool::new(context.cores())?;
    let slots = Slots::create(&context.temporary().join("slots"), &dataset)?;
    let mut wrong_by_game = empty_boards(&dataset, &slots, config);
    let mut scorer = PredictionScorer {
        dataset: &dataset,
        en_passant: config.en_passant(),
        workers: &workers,
        slots: &slots,
        wrong_by_game: &mut wrong_by_game,
    };
    let names = GameNames::of(&dataset, table.names_by_id())?;
    let (total, with_loss, mut done) = (table.rows(), table.has_loss(), 0);
    for rows in table.read(names)? {
        context.check_cancelled()?;
        let rows = rows?;
        done += rows.len() as u64;
        scorer.add(&rows)?;
        context.progress(done, Some(total), "positions");
    }
    slots.check_complete(&dataset)?;

    context.activity("writing the scores");
    let games = json!({ "games": dataset.len(), "positions": dataset.positions() });
    let mut scores = ScoresWriter::create(context.output("scores")?, model.to_string(), games.to_string())?;
    let mut boards = BoardsWriter::create(context.output("boards")?, &dataset, config.en_passant(), &model)?;
    for (game, wrong) in wrong_by_game.iter().enumerate() {
        let scores = slots.scores(game..game + 1, with_loss)?.concat();
        let loss = scores.iter().map(|score| score.loss).collect();
        boards.push(game, wrong, loss)?;
    }
    boards.finish()?;
    let (mut tally, mut loss) = (LabelTotals::default(), 0.0);
    for first in (0..dataset.len()).step_by(CHUNK) {
        context.check_cancelled()?;
        let chunk = slots.scores(first..dataset.len().min(first + CHUNK), with_loss)?;
        scores.push(first, &chunk)?;
        for game in &chunk {
            loss += game.iter().filter_map(|score| score.loss).sum::<f64>();
            tally.add_game(&game.iter().map(|score| score.position()).collect::<Vec<_>>());
        }
    }
    scores.finish()?;
    if with_loss {
        context.metric("loss", loss / tally.positions.max(1) as f64);
    }
    context.metric("labelwise", tally.labelwise());
    context.metric("exact", tally.exact());
    context.metric("trajectory", tally.trajectory());
    Ok(())
}

/// Empty lists of wrong labels, for each position of the games that become boards.
fn empty_boards(dataset: &Dataset, slots: &Slots, config: &Config) -> Vec<Vec<WrongLabels>> {
    let games = 0..(dataset.len() as u64).min(config.board_games) as u32;
    games.map(|game| vec![WrongLabels::new(); slots.positions(game) as usize]).collect()
}

/// Returns the model in the header of the scores: the file's own description, and over that the parameters of the
/// stage.
fn model(table: &Table, config: &Config) -> Result<Value, Failure> {
    let mut model: Map<String, Value> = table.model()?;
    let fields = [
        ("family", config.name.as_ref().map(|name| json!(name))),
        ("size", config.size.as_ref().map(|size| json!(size))),
        ("parameters", config.parameters.map(|parameters| json!(parameters))),
        ("test", config.test.as_ref().map(|test| json!(test))),
    ];
    for (key, value) in fields {
        model.extend(value.map(|value| (key.to_owned(), value)));
    }
    Ok(Value::Object(model))
}
