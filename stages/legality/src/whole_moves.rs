//! Moves of which a model answers every word: the likeliest origin, the likeliest target after that origin, and so on.

use cwm_contract::{Context, Failure};
use cwm_inside::{Batch, Model};
use cwm_models::Sites;
use cwm_models::worker_pool::WorkerPool;
use cwm_policy::origins::LegalWords;

use crate::games::{Game, Games};
use crate::score::likeliest;

/// A move that a model answers.
struct MoveInProgress {
    /// Its game among those that are given.
    game: usize,
    legal_words: LegalWords,
    /// The words before the move, then those of the answer.
    words: Vec<u16>,
    /// The place in `words` at which the answer begins.
    begin: usize,
}

impl AsRef<[u16]> for MoveInProgress {
    fn as_ref(&self) -> &[u16] {
        &self.words
    }
}

impl MoveInProgress {
    /// True if no word is missing: none can follow, or none continues a legal move.
    fn is_whole(&self) -> bool {
        self.legal_words.after(&self.words[self.begin..]).is_empty()
    }

    /// True if it is a legal move.
    fn is_legal(&self) -> bool {
        let answer = &self.words[self.begin..];
        let place = |word: usize| self.legal_words.after(&answer[..word]).contains(answer[word]);
        answer.len() >= 2 && (0..answer.len()).all(place)
    }
}

/// Returns for each game the number of plies at which there is a legal move that the model can read, and the number of
/// these at which it answers with a legal move.
///
/// # Errors
/// A move of a game is not legal, or the stage was cancelled.
pub fn count(
    context: &Context,
    model: &Model,
    workers: &WorkerPool,
    batch_tokens: usize,
    games: &Games<'_>,
    read: &[Game],
) -> Result<Vec<[u64; 2]>, Failure> {
    // A move has three words at most, of which the last is not read.
    let longest = model.longest().unwrap_or(usize::MAX).saturating_sub(2);
    let mut open = Vec::new();
    for (place, game) in read.iter().enumerate() {
        let of_game = game.read(|token, begun, legal_words| {
            let begin = token + 1;
            if begun.is_empty() && !legal_words.is_empty() && begin <= longest {
                let words = game.words.ids[..begin].to_vec();
                open.push(MoveInProgress { game: place, legal_words: legal_words.clone(), words, begin });
            }
        });
        of_game.map_err(|wrong| games.failure(game.number, &wrong))?;
    }
    let mut counts = vec![[0; 2]; read.len()];
    while !open.is_empty() {
        let expected = model.by_batch(workers, batch_tokens, &open, |batch: &Batch<'_>| {
            context.check_cancelled()?;
            let last = |(game, &place): (usize, &usize)| batch.row(game, open[place].words.len() - 1);
            let rows: Vec<usize> = batch.places.iter().enumerate().map(last).collect();
            let (_, logits) = batch.logits(Sites::default(), &rows);
            Ok(logits.chunks_exact(logits.len() / rows.len()).map(likeliest).collect())
        })?;
        for (answer, word) in open.iter_mut().zip(expected) {
            answer.words.push(word);
        }
        open.retain(|answer| {
            let is_whole = answer.is_whole();
            if is_whole {
                let [plies, legal] = &mut counts[answer.game];
                *plies += 1;
                *legal += u64::from(answer.is_legal());
            }
            !is_whole
        });
    }
    Ok(counts)
}
