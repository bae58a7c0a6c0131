//! Sequences that were read, and their continuations.
//!
//! An incremental model caches what it has read; others read a sequence again for each continuation. A game is read in
//! parts of [`PART`] tokens, the rest as the last one, whatever the cache has of it: so an answer never depends on the
//! positions before, on any device.

use std::sync::{Mutex, PoisonError};

use cwm_models::batch::cut_by_length;
use cwm_models::{Cache, IncrementalNetwork};

use crate::Player;

/// Tokens of a part of a game.
const PART: usize = 32;

/// Padded tokens of a whole pass in which answers are compared.
const BATCH_TOKENS: usize = 8_192;

/// Logits after some tokens of a sequence.
pub(crate) type Rows = Vec<Vec<f32>>;

/// Sequences that were read.
pub(crate) struct ReadSequences<'p> {
    player: &'p Player,
    sequences: Vec<Vec<u16>>,
    /// The model and the cache of these sequences, if it is incremental.
    incremental: Option<(IncrementalNetwork<'p>, Cache)>,
}

/// Parts of the games that were read last, of as many as the machine has cores.
#[derive(Debug, Default)]
pub(crate) struct ReadCache(Mutex<Vec<Parts>>);

/// The first parts of a game.
#[derive(Debug)]
struct Parts {
    tokens: Vec<u16>,
    cache: Cache,
}

impl ReadCache {
    /// The cached parts that `tokens` begins with, of the game that has most of them. A game all of whose parts are
    /// among them is removed.
    fn take(&self, tokens: &[u16]) -> Option<Cache> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let common = |parts: &Parts| {
            let equal = parts.tokens.iter().zip(tokens).take_while(|(one, two)| one == two).count();
            equal / PART * PART
        };
        let (place, common) = kept.iter().map(common).enumerate().max_by_key(|(_, common)| *common)?;
        match common {
            0 => None,
            whole if whole == kept[place].tokens.len() => Some(kept.remove(place).cache),
            part => Some(kept[place].cache.first(part)),
        }
    }

    fn put(&self, parts: Parts) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let most = std::thread::available_parallelism().map_or(1, usize::from);
        if kept.len() >= most {
            kept.remove(0);
        }
        kept.push(parts);
    }
}

impl Player {
    /// Reads sequences as one batch; gives also the logits after each of the last tokens of each, as many as `last` has for it.
    pub(crate) fn read_batch(&self, sequences: Vec<Vec<u16>>, last: &[usize]) -> (ReadSequences<'_>, Vec<Rows>) {
        let Some(model) = self.incremental() else {
            let logits = self.logits(&sequences, last);
            return (ReadSequences { player: self, sequences, incremental: None }, logits);
        };
        let (logits, cache) = self.logits_on(model, None, &sequences, last);
        (ReadSequences { player: self, sequences, incremental: Some((model, cache)) }, logits)
    }

    /// Reads a game, of which parts may be kept; gives also the logits after its last token. There is at least one.
    pub(crate) fn read_game(&self, tokens: Vec<u16>) -> (ReadSequences<'_>, Vec<f32>) {
        let only = |rows: Vec<Rows>| rows.into_iter().flatten().next().unwrap_or_default();
        let Some(model) = self.incremental() else {
            let (read, logits) = self.read_batch(vec![tokens], &[1]);
            return (read, only(logits));
        };
        let pass = |cache: Option<Cache>, begin: usize, end: usize, last: usize| {
            let after = [(0, begin)];
            let earlier = cache.as_ref().map(|cache| (cache, &after[..]));
            let (logits, later) = self.logits_on(model, earlier, &[tokens[begin..end].to_vec()], &[last]);
            (logits, cache.map_or(later.clone(), |cache| cache.followed_by(&later)))
        };
        // The last token is in no part that is kept, so that there always is one to pass.
        let in_parts = (tokens.len() - 1) / PART * PART;
        let mut cache = self.read_cache().take(&tokens[..in_parts]);
        for begin in (cache.as_ref().map_or(0, Cache::steps)..in_parts).step_by(PART) {
            cache = Some(pass(cache, begin, begin + PART, 0).1);
        }
        if let Some(cache) = cache.clone() {
            self.read_cache().put(Parts { tokens: tokens[..in_parts].to_vec(), cache });
        }
        let (logits, cache) = pass(cache, in_parts, tokens.len(), 1);
        (ReadSequences { player: self, sequences: vec![tokens], incremental: Some((model, cache)) }, only(logits))
    }
}

impl ReadSequences<'_> {
    /// The logits after each token of sequences that go on: each behind so many tokens of one that was read, by its place.
    pub(crate) fn continued(&self, after: &[(usize, usize)], tokens: &[Vec<u16>]) -> Vec<Rows> {
        let last: Vec<usize> = tokens.iter().map(Vec::len).collect();
        if last.iter().all(|&tokens| tokens == 0) {
            return vec![Rows::new(); tokens.len()];
        }
        if let Some((model, cache)) = &self.incremental {
            return self.player.logits_on(*model, Some((cache, after)), tokens, &last).0;
        }
        let whole = after
            .iter()
            .zip(tokens)
            .map(|(&(place, first), tokens)| [&self.sequences[place][..first], tokens].concat());
        let whole: Vec<Vec<u16>> = whole.collect();
        let lengths: Vec<usize> = whole.iter().map(Vec::len).collect();
        let mut found = vec![Rows::new(); whole.len()];
        for cut in cut_by_length(&lengths, BATCH_TOKENS) {
            let batch: Vec<Vec<u16>> = cut.iter().map(|&place| whole[place].clone()).collect();
            let last: Vec<usize> = cut.iter().map(|&place| last[place]).collect();
            cut.iter().zip(self.player.logits(&batch, &last)).for_each(|(&place, rows)| found[place] = rows);
        }
        found
    }

    /// Returns `continued` for sequences that go on behind all tokens of the first that was read.
    pub(crate) fn followed_by(&self, tokens: &[Vec<u16>]) -> Vec<Rows> {
        self.continued(&vec![(0, self.sequences[0].len()); tokens.len()], tokens)
    }
}
