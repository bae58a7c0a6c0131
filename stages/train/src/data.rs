//! Games to learn from and to measure on.

use std::path::Path;

use cwm_chess::Dataset;
use cwm_contract::Failure;
use cwm_encoding::EnPassant;
use cwm_models::batch::{MicroBatch, cut_by_length};
use rayon::prelude::*;

/// A dataset with its name, and how its games become batches.
#[derive(Debug)]
pub struct Games {
    name: &'static str,
    dataset: Dataset,
    en_passant: EnPassant,
    micro_batch_tokens: usize,
}

impl Games {
    /// Opens the dataset of the input `name`.
    ///
    /// # Errors
    /// It cannot be read, or holds no games.
    pub fn open(
        name: &'static str,
        path: &Path,
        en_passant: EnPassant,
        micro_batch_tokens: usize,
    ) -> Result<Self, Failure> {
        let dataset = Dataset::open(path)?;
        if dataset.is_empty() {
            return Err(Failure::input(format!("the dataset of input `{name}` holds no games")));
        }
        if u32::try_from(dataset.len()).is_err() {
            return Err(Failure::input(format!("the dataset of input `{name}` holds more than 2^32 games")));
        }
        Ok(Games { name, dataset, en_passant, micro_batch_tokens })
    }

    /// Number of games.
    pub fn len(&self) -> usize {
        self.dataset.len()
    }

    /// The games at these places as micro-batches, labels replayed on rayon's threads where the dataset has none.
    ///
    /// # Errors
    /// One of them is no game; the error names it.
    pub fn micro_batches(&self, places: &[usize]) -> Result<Vec<MicroBatch>, Failure> {
        let tokens = |&place: &usize| match self.dataset.tokens(place)? {
            Some(tokens) => Ok(tokens),
            None => Err(Failure::internal(format!("there is no game {place}"))),
        };
        let games: Vec<&[u16]> = places.iter().map(tokens).collect::<Result<_, _>>()?;
        let lengths: Vec<usize> = games.iter().map(|game| game.len()).collect();
        cut_by_length(&lengths, self.micro_batch_tokens)
            .par_iter()
            .map(|chosen| {
                MicroBatch::labelled(&games, chosen, |game, rows| {
                    self.dataset.labels_into(places[game], self.en_passant, rows)
                })
            })
            .collect::<Result<_, _>>()
            .map_err(|error| error.failure(self.name))
    }
}
