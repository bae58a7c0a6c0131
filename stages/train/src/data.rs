//! Games to learn from and to measure on.

use std::path::Path;

use cwm_chess::Dataset;
use cwm_contract::{Context, Failure, FailureKind};
use cwm_encoding::EnPassant;
use cwm_models::batch::cut_by_length;
use cwm_models::heads::labels::MicroBatch;
use cwm_training::order::Shards;
use cwm_training::{Examples, MappedPages};
use rayon::prelude::*;

use crate::config::Config;

/// Games read in order between two checks for cancellation.
const LOOK_EVERY: usize = 1 << 14;
/// Lengths read between two checks for cancellation.
const LENGTHS: usize = 1 << 8;

/// A dataset with its name, and how its games become batches.
#[derive(Debug)]
pub struct Games {
    name: &'static str,
    dataset: Dataset,
    pages: MappedPages,
    /// The number of games that count, the first ones.
    games: usize,
    /// The number of lengths that were requested.
    lengths: usize,
    /// Tokens of the longest game that the model reads, if there is a limit.
    longest: Option<usize>,
    en_passant: EnPassant,
    micro_batch_tokens: usize,
}

impl Games {
    /// Opens the dataset of the input `name`; its first `limit` games count, or all.
    ///
    /// # Errors
    /// It cannot be read, holds no games, or fewer than the limit.
    pub fn open(name: &'static str, path: &Path, limit: Option<u64>, config: &Config) -> Result<Self, Failure> {
        let pages = MappedPages::watch();
        let dataset = Dataset::open(path)?;
        let found = dataset.len();
        if found == 0 {
            return Err(Failure::input(format!("the dataset of input `{name}` holds no games")));
        }
        let games = limit.map_or(found, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        if games > found {
            return Err(Failure::input(format!("input `{name}` holds {found} games, not the {games} of `games`"))
                .hint("ask for fewer, or leave `games` out to train on all"));
        }
        let (en_passant, micro_batch_tokens) = (config.en_passant(), config.hyper.micro_batch_tokens as usize);
        Ok(Games { name, dataset, pages, games, lengths: 0, longest: None, en_passant, micro_batch_tokens })
    }

    /// Returns the games for a model that reads at most so many tokens, if there is a limit.
    pub fn of_at_most(self, longest: Option<usize>) -> Self {
        Games { longest, ..self }
    }

    /// Returns the digest of the first so many games.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn digest(&self, games: usize) -> Result<String, Failure> {
        Ok(self.dataset.digest(games)?)
    }

    /// Number of games.
    pub fn len(&self) -> usize {
        self.games
    }

    /// Returns the shards of `shard_games` games of the corpus that the games were in. Reads every game.
    ///
    /// # Errors
    /// A game cannot be read, they are not in the corpus's order, or the stage was cancelled.
    pub fn shards(&mut self, context: &Context, shard_games: u64) -> Result<Shards, Failure> {
        let mut read = 0;
        let ordinals = std::iter::from_fn(|| {
            let place = read;
            read += 1;
            (place < self.games).then(|| {
                if place % LOOK_EVERY == 0 {
                    context.check_cancelled()?;
                    self.release_pages();
                }
                self.dataset.get(place)?.map(|game| game.row().index).ok_or_else(|| self.no_game(place))
            })
        });
        Shards::read(ordinals, shard_games).map_err(|failure| match failure.kind {
            FailureKind::Cancelled => failure,
            _ => Failure { message: format!("input `{}`: {}", self.name, failure.message), ..failure },
        })
    }

    /// The games at these places as micro-batches, labels replayed on rayon's threads where the dataset has none.
    ///
    /// # Errors
    /// One of them is no game; the error names it.
    pub fn cut(&self, places: &[usize]) -> Result<Vec<MicroBatch>, Failure> {
        let games: Vec<&[u16]> = places.iter().map(|&place| self.tokens(place)).collect::<Result<_, _>>()?;
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

    /// Releases the pages of the files that were read, once they are many.
    pub fn release_pages(&mut self) {
        self.pages.release(|| self.dataset.release_pages());
    }

    fn tokens(&self, place: usize) -> Result<&[u16], Failure> {
        let tokens = self.dataset.tokens(place)?.ok_or_else(|| self.no_game(place))?;
        match self.longest {
            Some(longest) if tokens.len() > longest => Err(Failure::input(format!(
                "input `{}`: game {place} has {} tokens, more than the {longest} positions of the model",
                self.name,
                tokens.len()
            ))
            .hint("give the family's option `positions` a larger number")),
            _ => Ok(tokens),
        }
    }

    fn no_game(&self, place: usize) -> Failure {
        Failure::internal(format!("input `{}` has no game {place}", self.name))
    }
}

impl Examples for Games {
    type MicroBatch = MicroBatch;

    fn length(&mut self, place: usize) -> Result<usize, Failure> {
        self.lengths += 1;
        if self.lengths.is_multiple_of(LENGTHS) {
            self.release_pages();
        }
        Ok(self.tokens(place)?.len())
    }

    fn micro_batches(&mut self, places: &[usize]) -> Result<Vec<MicroBatch>, Failure> {
        self.release_pages();
        self.cut(places)
    }
}
