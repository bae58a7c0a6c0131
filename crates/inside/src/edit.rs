//! Edits of the stream at the last token of a prefix: what is added there, and what the model expects afterwards.

use std::collections::BTreeMap;
use std::sync::Arc;

use burn::tensor::{Tensor, TensorData};
use cwm_contract::Failure;
use cwm_models::parameters::InitRng;
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{Cache, Change, ContinuationPoint, Edit, IncrementalNetwork, Sites};

use crate::Model;
use crate::collect::indices;
use crate::linear_probe::LinearProbe;

/// A game, and the tokens of it that are looked at.
#[derive(Clone, Debug)]
pub struct RecordedGame<'a> {
    /// The tokens that the model reads.
    pub tokens: &'a [u16],
    /// The places of the recorded tokens.
    pub at: Vec<usize>,
}

/// The logits of a model at one token, and its stream there.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenView {
    /// Its logits.
    pub logits: Vec<f32>,
    /// The row of the stream at each site that was wanted, [width].
    pub rows: Vec<Vec<f32>>,
    /// The length of each of these rows behind the model's final norm.
    pub lengths: Vec<f64>,
}

/// Games that were recorded, and the cached passes that edits continue.
#[derive(Debug)]
pub struct RecordedPasses<'a> {
    games: &'a [RecordedGame<'a>],
    sites: &'a [usize],
    /// The model's values at the recorded tokens of each game.
    pub views: Vec<Vec<TokenView>>,
    /// The cache of each game's batch and its place there, if the model continues from cached steps.
    caches: Vec<Option<(Arc<Cache>, usize)>>,
}

/// A token of a game that was recorded, and what is added to the stream there. The game ends with it.
#[derive(Clone, Debug)]
pub struct StreamEdit {
    /// The game, by its place among those that were recorded.
    pub game: usize,
    /// The token, by its place among those that were recorded in the game.
    pub place: usize,
    /// The vector, [width].
    pub vector: Vec<f32>,
}

impl AsRef<[u16]> for RecordedGame<'_> {
    fn as_ref(&self) -> &[u16] {
        self.tokens
    }
}

impl Model {
    /// Passes the games through the model; returns its values at the recorded tokens of each, at these ascending sites.
    ///
    /// # Errors
    /// A game is longer than the model reads.
    pub fn record<'a>(
        &self,
        workers: &WorkerPool,
        batch_tokens: usize,
        sites: &'a [usize],
        games: &'a [RecordedGame<'a>],
    ) -> Result<RecordedPasses<'a>, Failure> {
        let found = self.by_batch(workers, batch_tokens, games, |batch| {
            let at = |game: usize| &games[batch.places[game]].at;
            let of_game = |game: usize| at(game).iter().map(move |&token| (game, token));
            let rows: Vec<usize> =
                (0..batch.places.len()).flat_map(of_game).map(|(game, token)| batch.row(game, token)).collect();
            if rows.is_empty() {
                return Ok(vec![(Vec::new(), None); batch.places.len()]);
            }
            let (pass, logits, cache) = batch.start(Sites { keep: sites.to_vec(), edit: None }, &rows);
            let cache = cache.map(Arc::new);
            let indices = indices(&rows, pass.device());
            let kept = pass.kept().into_iter().map(|(_, kept)| {
                let kept = kept.select(0, indices.clone());
                let normed = floats(self.network().final_norm(&pass, kept.clone()));
                (floats(kept), normed)
            });
            let kept: Vec<(Vec<f32>, Vec<f32>)> = kept.collect();
            let width = self.width();
            let outputs = logits.len() / rows.len();
            let view = |row: usize| TokenView {
                logits: logits[row * outputs..(row + 1) * outputs].to_vec(),
                rows: kept.iter().map(|(rows, _)| rows[row * width..(row + 1) * width].to_vec()).collect(),
                lengths: kept.iter().map(|(_, normed)| norm(&normed[row * width..(row + 1) * width])).collect(),
            };
            let mut views = (0..rows.len()).map(view);
            let of_game =
                |game: usize| (views.by_ref().take(at(game).len()).collect(), cache.clone().map(|cache| (cache, game)));
            Ok((0..batch.places.len()).map(of_game).collect())
        })?;
        let (views, caches) = found.into_iter().unzip();
        Ok(RecordedPasses { games, sites, views, caches })
    }

    /// The logits at each edited token, after its vector was added to the stream there at `site`, one of those that were recorded.
    /// A model that goes on from steps it has passed passes the edited tokens alone, through the blocks behind the site.
    ///
    /// # Errors
    /// Internal ones: a site or a game was not recorded.
    pub fn edited(
        &self,
        workers: &WorkerPool,
        batch_tokens: usize,
        passes: &RecordedPasses<'_>,
        site: usize,
        edits: &[StreamEdit],
    ) -> Result<Vec<Vec<f32>>, Failure> {
        match self.network().incremental() {
            Some(model) => self.edited_alone(workers, batch_tokens, model, passes, site, edits),
            None => self.edited_in_prefixes(workers, batch_tokens, passes, site, edits),
        }
    }

    fn edited_alone(
        &self,
        workers: &WorkerPool,
        batch_tokens: usize,
        model: IncrementalNetwork<'_>,
        passes: &RecordedPasses<'_>,
        site: usize,
        edits: &[StreamEdit],
    ) -> Result<Vec<Vec<f32>>, Failure> {
        let column = passes.sites.iter().position(|&recorded| recorded == site);
        let column = column.ok_or_else(|| Failure::internal(format!("site {site} was not recorded")))?;
        // Edits of games of one batch go together. In which order does not matter: results are placed by their numbers.
        let mut by_batch: BTreeMap<*const Cache, (&Cache, Vec<(usize, ContinuationPoint)>)> = BTreeMap::new();
        for (number, edit) in edits.iter().enumerate() {
            let cache = passes.caches[edit.game].as_ref();
            let (cache, sequence) = cache.ok_or_else(|| Failure::internal("an edited game was not passed"))?;
            let after = ContinuationPoint { sequence: *sequence, steps: passes.games[edit.game].at[edit.place] };
            let of_batch = by_batch.entry(Arc::as_ptr(cache)).or_insert_with(|| (cache.as_ref(), Vec::new()));
            of_batch.1.push((number, after));
        }
        // An edit attends to all steps before it, whose keys and values are gathered for it on a GPU.
        let jobs: Vec<(&Cache, &[(usize, ContinuationPoint)])> = by_batch
            .values()
            .flat_map(|(cache, edits)| {
                edits.chunks((batch_tokens / cache.steps().max(1)).max(1)).map(move |chunk| (*cache, chunk))
            })
            .collect();
        let done = workers.map(jobs.len(), |job| {
            let (cache, chunk) = jobs[job];
            let pass = self.pass();
            let x = chunk.iter().flat_map(|&(number, _)| {
                let StreamEdit { game, place, vector } = &edits[number];
                passes.views[*game][*place].rows[column].iter().zip(vector).map(|(x, vector)| x + vector)
            });
            let x = TensorData::new(x.collect::<Vec<f32>>(), [chunk.len(), self.width()]);
            let after: Vec<ContinuationPoint> = chunk.iter().map(|(_, after)| *after).collect();
            let x = model.continue_from_site(&pass, cache, &after, site, Tensor::from_data(x, pass.device()));
            floats(self.network().logits_from(&pass, x))
        });
        let mut found = vec![Vec::new(); edits.len()];
        for ((_, chunk), logits) in jobs.iter().zip(done) {
            let each = logits.chunks_exact(logits.len() / chunk.len());
            chunk.iter().zip(each).for_each(|(&(number, _), logits)| found[number] = logits.to_vec());
        }
        Ok(found)
    }

    /// Computes `edited` by whole passes. Only prefixes of one length go together, so that no padding stands behind an edit.
    fn edited_in_prefixes(
        &self,
        workers: &WorkerPool,
        batch_tokens: usize,
        passes: &RecordedPasses<'_>,
        site: usize,
        edits: &[StreamEdit],
    ) -> Result<Vec<Vec<f32>>, Failure> {
        let mut by_length: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let last = |edit: &StreamEdit| passes.games[edit.game].at[edit.place];
        for (number, edit) in edits.iter().enumerate() {
            by_length.entry(last(edit) + 1).or_default().push(number);
        }
        let mut found = vec![Vec::new(); edits.len()];
        for (length, numbers) in by_length {
            let prefixes: Vec<&[u16]> =
                numbers.iter().map(|&number| &passes.games[edits[number].game].tokens[..length]).collect();
            let logits = self.by_batch(workers, batch_tokens, &prefixes, |batch| {
                let games = batch.places.len();
                let rows: Vec<usize> = (0..games).map(|game| batch.row(game, length - 1)).collect();
                let vectors = batch.places.iter().flat_map(|&game| edits[numbers[game]].vector.iter().copied());
                let vectors = TensorData::new(vectors.collect::<Vec<f32>>(), [games, self.width()]);
                let vectors = Tensor::from_data(vectors, self.pass().device());
                let change = Change::Add { rows: rows.clone(), vectors };
                let (_, logits) = batch.logits(Sites { keep: Vec::new(), edit: Some(Edit { site, change }) }, &rows);
                Ok(logits.chunks_exact(logits.len() / games).map(<[f32]>::to_vec).collect())
            })?;
            numbers.into_iter().zip(logits).for_each(|(number, logits)| found[number] = logits);
        }
        Ok(found)
    }
}

/// `direction` with the length `eta * length`; `None` where it has no direction.
pub fn scaled(direction: &[f32], eta: f64, length: f64) -> Option<Vec<f32>> {
    let norm = norm(direction);
    let factor = eta * length / norm;
    (norm > 0.0 && factor.is_finite())
        .then(|| direction.iter().map(|value| (f64::from(*value) * factor) as f32).collect())
}

/// A standard normal number for each channel, equal for equal `of`.
pub fn random_direction(of: [u64; 4], width: usize) -> Vec<f32> {
    let mixed = of.into_iter().fold(0, |mixed: u64, part| {
        let product = (mixed ^ part).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        product ^ product >> 31
    });
    let mut random = InitRng::seeded(mixed);
    (0..width).map(|_| random.normal() as f32).collect()
}

/// The direction from one board to another by a linear probe: for each changed square (a8 first) the weights of its new class less
/// those of its old one, where class 0, the empty square, is left out.
pub fn board_direction(probe: &LinearProbe, changes: &[(usize, [u8; 2])]) -> Vec<f32> {
    let mut sum = vec![0.0; probe.width()];
    for &(square, [old, new]) in changes {
        for (class, sign) in [(new, 1.0), (old, -1.0)].into_iter().filter(|(class, _)| *class > 0) {
            let weights = probe.direction(square, usize::from(class));
            sum.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += sign * weight);
        }
    }
    sum
}

fn norm(values: &[f32]) -> f64 {
    values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt()
}

fn floats(tensor: Tensor<2>) -> Vec<f32> {
    tensor.into_data().as_slice::<f32>().expect("the stream is f32 and contiguous").to_vec()
}

#[cfg(test)]
mod tests;
