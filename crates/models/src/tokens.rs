//! Batches of move tokens, padded to the right.

use std::sync::Arc;

/// Token ids of a batch, `[batch, time]`, and how many of each game's steps are real.
#[derive(Clone, Debug)]
pub struct Tokens {
    batch: usize,
    time: usize,
    ids: Arc<[u32]>,
    lengths: Arc<[usize]>,
}

impl Tokens {
    /// A batch of these games, each padded with `padding` to the longest.
    pub fn padded<'a>(games: impl IntoIterator<Item = &'a [u16]>, padding: u32) -> Self {
        let games: Vec<&[u16]> = games.into_iter().collect();
        let time = games.iter().map(|game| game.len()).max().unwrap_or(0);
        let mut ids = Vec::with_capacity(games.len() * time);
        for game in &games {
            ids.extend(game.iter().map(|&id| u32::from(id)));
            ids.resize(ids.len() + time - game.len(), padding);
        }
        let lengths = games.iter().map(|game| game.len()).collect();
        Tokens { batch: games.len(), time, ids: ids.into(), lengths }
    }

    /// Games in the batch.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// Steps of the longest game.
    pub fn time(&self) -> usize {
        self.time
    }

    /// Rows when batch and time are taken as one axis: `batch * time`.
    pub fn rows(&self) -> usize {
        self.batch * self.time
    }

    /// Token ids, row by row.
    pub fn ids(&self) -> &Arc<[u32]> {
        &self.ids
    }

    /// The place of each token in its sequence, as tokens of a table of positions.
    pub fn positions(&self) -> Tokens {
        let ids = (0..self.batch).flat_map(|_| 0..self.time as u32).collect();
        Tokens { ids, ..self.clone() }
    }

    /// Returns [`Tokens::positions`] where each sequence continues behind so many tokens; 0 at padded steps.
    pub fn positions_behind(&self, before: impl IntoIterator<Item = usize>) -> Tokens {
        let of_sequence = |(&length, before): (&usize, usize)| {
            (0..self.time).map(move |t| if t < length { (before + t) as u32 } else { 0 })
        };
        let ids: Vec<u32> = self.lengths.iter().zip(before).flat_map(of_sequence).collect();
        assert_eq!(ids.len(), self.rows(), "one number for each sequence");
        Tokens { ids: ids.into(), ..self.clone() }
    }

    /// Real steps of each game.
    pub fn lengths(&self) -> &Arc<[usize]> {
        &self.lengths
    }

    /// Real steps of all games together.
    pub fn valid(&self) -> usize {
        self.lengths.iter().sum()
    }

    /// Iterates over the rows: true for a real step.
    pub fn is_valid(&self) -> impl Iterator<Item = bool> + '_ {
        self.lengths.iter().flat_map(|&length| (0..self.time).map(move |t| t < length))
    }
}
