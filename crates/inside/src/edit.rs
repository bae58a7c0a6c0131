//! Edits of the stream at the last token of a prefix: what is added there, and what the model expects afterwards.

use std::collections::BTreeMap;

use burn::tensor::{Tensor, TensorData};
use cwm_contract::Failure;
use cwm_models::parameters::InitRng;
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{Change, Edit, Sites};

use crate::Model;
use crate::collect::indices;
use crate::linear_probe::LinearProbe;

/// A game, and the tokens of it that are looked at.
#[derive(Clone, Debug)]
pub struct Watched<'a> {
    /// What the model reads.
    pub tokens: &'a [u16],
    /// The tokens, by their places.
    pub at: Vec<usize>,
}

/// What a model has at one token.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// Its logits.
    pub logits: Vec<f32>,
    /// The row of the stream at each site that was wanted, [width].
    pub rows: Vec<Vec<f32>>,
    /// The length of each of these rows behind the model's final norm.
    pub lengths: Vec<f64>,
}

/// A prefix of a game, and what is added to the stream at its last token.
#[derive(Clone, Debug)]
pub struct Edited<'a> {
    /// The prefix, at least one token.
    pub tokens: &'a [u16],
    /// The vector, [width].
    pub vector: Vec<f32>,
}

impl AsRef<[u16]> for Watched<'_> {
    fn as_ref(&self) -> &[u16] {
        self.tokens
    }
}

impl Model {
    /// What the model has at the watched tokens of each game, at these ascending sites.
    ///
    /// # Errors
    /// A game is longer than the model reads.
    pub fn watch(
        &self,
        workers: &WorkerPool,
        batch_tokens: usize,
        sites: &[usize],
        games: &[Watched<'_>],
    ) -> Result<Vec<Vec<Seen>>, Failure> {
        self.by_batch(workers, batch_tokens, games, |batch| {
            let at = |game: usize| &games[batch.places[game]].at;
            let of_game = |game: usize| at(game).iter().map(move |&token| (game, token));
            let rows: Vec<usize> =
                (0..batch.places.len()).flat_map(of_game).map(|(game, token)| batch.row(game, token)).collect();
            if rows.is_empty() {
                return Ok(vec![Vec::new(); batch.places.len()]);
            }
            let (pass, logits) = batch.logits(Sites { keep: sites.to_vec(), edit: None }, &rows);
            let indices = indices(&rows, pass.device());
            let kept = pass.kept().into_iter().map(|(_, kept)| {
                let kept = kept.select(0, indices.clone());
                let normed = floats(self.network().final_norm(&pass, kept.clone()));
                (floats(kept), normed)
            });
            let kept: Vec<(Vec<f32>, Vec<f32>)> = kept.collect();
            let width = self.width();
            let outputs = logits.len() / rows.len();
            let seen = |row: usize| Seen {
                logits: logits[row * outputs..(row + 1) * outputs].to_vec(),
                rows: kept.iter().map(|(rows, _)| rows[row * width..(row + 1) * width].to_vec()).collect(),
                lengths: kept.iter().map(|(_, normed)| norm(&normed[row * width..(row + 1) * width])).collect(),
            };
            let mut seen = (0..rows.len()).map(seen);
            Ok((0..batch.places.len()).map(|game| seen.by_ref().take(at(game).len()).collect()).collect())
        })
    }

    /// The logits at the last token of each prefix, after its vector was added to the stream there at `site`. Only prefixes of one
    /// length go together, so that no padding stands behind an edit.
    ///
    /// # Errors
    /// A prefix is longer than the model reads.
    pub fn edited(
        &self,
        workers: &WorkerPool,
        batch_tokens: usize,
        site: usize,
        edits: &[Edited<'_>],
    ) -> Result<Vec<Vec<f32>>, Failure> {
        let mut by_length: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (place, edit) in edits.iter().enumerate() {
            by_length.entry(edit.tokens.len()).or_default().push(place);
        }
        let mut found = vec![Vec::new(); edits.len()];
        for (length, places) in by_length {
            let prefixes: Vec<&[u16]> = places.iter().map(|&place| edits[place].tokens).collect();
            let logits = self.by_batch(workers, batch_tokens, &prefixes, |batch| {
                let games = batch.places.len();
                let rows: Vec<usize> = (0..games).map(|game| batch.row(game, length - 1)).collect();
                let vectors = batch.places.iter().flat_map(|&game| edits[places[game]].vector.iter().copied());
                let vectors = TensorData::new(vectors.collect::<Vec<f32>>(), [games, self.width()]);
                let vectors = Tensor::from_data(vectors, self.pass().device());
                let change = Change::Add { rows: rows.clone(), vectors };
                let (_, logits) = batch.logits(Sites { keep: Vec::new(), edit: Some(Edit { site, change }) }, &rows);
                Ok(logits.chunks_exact(logits.len() / games).map(<[f32]>::to_vec).collect())
            })?;
            places.into_iter().zip(logits).for_each(|(place, logits)| found[place] = logits);
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
