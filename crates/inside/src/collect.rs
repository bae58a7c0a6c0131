//! Rows of the stream of many games, in bounded memory.

use burn::tensor::{Device, Int, Tensor, TensorData};
use cwm_contract::{Context, Failure};
use cwm_models::worker_pool::WorkerPool;

use crate::{Model, RowsWriter, TokenizedGame};

/// Games whose rows are in memory at once.
const CHUNK: usize = 256;

/// A game whose rows are wanted.
#[derive(Clone, Debug)]
pub struct WantedGame {
    /// Its name, for errors.
    pub id: String,
    /// The tokens of the game, as the model reads them.
    pub reading: TokenizedGame,
    /// The tokens whose rows are kept, at least one.
    pub tokens: Vec<usize>,
}

/// The rows of the stream to keep, and the batches in which they are computed.
#[derive(Clone, Debug)]
pub struct Collection {
    /// The sites, ascending.
    pub sites: Vec<usize>,
    /// True if rows of the last site are those after the final norm.
    pub normed: bool,
    /// Largest number of padded tokens of one pass.
    pub batch_tokens: usize,
}

/// Writes the rows of `games` to `writer`, game by game in their order, token by token.
///
/// # Errors
/// A game cannot be read or is too long for the model, a row is not finite, an operation on the disk fails, or the stage
/// was cancelled.
pub fn collect(
    context: &Context,
    model: &Model,
    workers: &WorkerPool,
    collection: &Collection,
    games: impl Iterator<Item = Result<WantedGame, Failure>>,
    writer: &mut RowsWriter,
) -> Result<(), Failure> {
    let mut games = games.peekable();
    while games.peek().is_some() {
        context.check_cancelled()?;
        let chunk = games.by_ref().take(CHUNK).collect::<Result<Vec<_>, Failure>>()?;
        let readings: Vec<&[u16]> = chunk.iter().map(|game| game.reading.tokens.as_slice()).collect();
        let kept = model.by_batch(workers, collection.batch_tokens, &readings, |batch| {
            context.check_cancelled()?;
            let of = |game: usize| &chunk[batch.places[game]].tokens;
            let rows = (0..batch.places.len()).flat_map(|game| of(game).iter().map(move |&token| (game, token)));
            let rows: Vec<usize> = rows.map(|(game, token)| batch.row(game, token)).collect();
            let by_site = batch.stream(&collection.sites, &rows, collection.normed);
            let mut first = 0;
            let games = (0..batch.places.len()).map(|game| {
                let values = first * model.width()..(first + of(game).len()) * model.width();
                first += of(game).len();
                by_site.iter().map(|site| site[values.clone()].to_vec()).collect::<Vec<_>>()
            });
            Ok(games.collect())
        })?;
        for (game, by_site) in chunk.iter().zip(kept) {
            check_finite(model, game, collection, &by_site)?;
            writer.push(&by_site)?;
        }
    }
    Ok(())
}

/// Refuses rows with a value that is not finite.
fn check_finite(
    model: &Model,
    game: &WantedGame,
    collection: &Collection,
    by_site: &[Vec<f32>],
) -> Result<(), Failure> {
    for (site, values) in collection.sites.iter().zip(by_site) {
        if let Some(place) = values.iter().position(|value| !value.is_finite()) {
            let token = game.tokens[place / model.width()];
            return Err(Failure::input(format!(
                "game {}: the stream of {} is not finite at token {token} in layer {site}",
                game.id,
                model.name()
            )));
        }
    }
    Ok(())
}

/// Rows as a tensor of indices.
pub(crate) fn indices(rows: &[usize], device: &Device) -> Tensor<1, Int> {
    let rows: Vec<i32> = rows.iter().map(|&row| row as i32).collect();
    Tensor::from_data(TensorData::new(rows.clone(), [rows.len()]), device)
}
