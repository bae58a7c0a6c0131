//! The sequences of moves of games.

use cwm_chess::Dataset;
use cwm_contract::{Context, Failure};
use cwm_encoding::{PlainMove, legal};
use rayon::ThreadPool;
use rayon::prelude::*;
use shakmaty::{Chess, Position};

use crate::config::Config;
use crate::key::{SequenceHash, digest, extend_digest};

/// Games that are replayed at once, on all cores.
const WINDOW: usize = 1 << 12;

/// A sequence of moves and the position at its end. Equal sequences sort by game, positions by sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sequence {
    /// The hash of the moves.
    pub moves: SequenceHash,
    /// The game whose first moves they are, by its place in the dataset.
    pub game: u32,
    /// The number of the moves.
    pub ply: u32,
    /// The hash of the position.
    pub position: SequenceHash,
}

/// The sequences of games.
pub struct Sequences {
    /// Different ones, in no meaningful order.
    pub all: Vec<Sequence>,
    /// Games that they are from.
    pub games: u64,
    /// Games that are not standard chess from the initial position, which no replay of their moves gives.
    pub of_other_rules: u64,
}

/// The sequences of the first games of a dataset, each once: that of the first game that has it.
///
/// # Errors
/// The dataset is damaged, has an illegal move, or the stage was cancelled.
pub fn distinct_sequences(
    context: &Context,
    threads: &ThreadPool,
    dataset: &Dataset,
    config: &Config,
) -> Result<Sequences, Failure> {
    let wanted = config.games.and_then(|games| usize::try_from(games).ok()).unwrap_or(usize::MAX).min(dataset.len());
    let mut sequences = Sequences { all: Vec::new(), games: 0, of_other_rules: 0 };
    let mut rest = (0u32..).zip(dataset.iter()).take(wanted);
    loop {
        context.check_cancelled()?;
        let window = rest.by_ref().take(WINDOW).collect::<Vec<_>>();
        if window.is_empty() {
            break;
        }
        let found = threads.install(|| {
            window
                .into_par_iter()
                .map(|(number, game)| {
                    let game = game?;
                    let row = game.row();
                    let place = |wrong| Failure::input(format!("game {} ({:?}): {wrong}", row.index, row.id));
                    match row.labels {
                        Some(_) => Ok(None),
                        None => of_game(number, row.tokens, config).map(Some).map_err(place),
                    }
                })
                .collect::<Vec<Result<_, Failure>>>()
        });
        for found in found {
            match found? {
                Some(of_game) => {
                    sequences.all.extend(of_game);
                    sequences.games += 1;
                }
                None => sequences.of_other_rules += 1,
            }
        }
        context.progress(sequences.games + sequences.of_other_rules, Some(wanted as u64), "games");
    }
    threads.install(|| sequences.all.par_sort_unstable());
    sequences.all.dedup_by_key(|sequence| sequence.moves);
    Ok(sequences)
}

/// The sequences of one game.
fn of_game(game: u32, tokens: &[u16], config: &Config) -> Result<Vec<Sequence>, String> {
    let moves = tokens.split_first().map_or(&[][..], |(_, moves)| moves);
    let plies = moves.len() as u32;
    let [min, max] = config.plies().unwrap_or([plies.max(1), plies]);
    let mut sequences = Vec::with_capacity((max.min(plies) + 1).saturating_sub(min) as usize);
    let mut so_far = SequenceHash::default();
    replay(moves, max, |ply, position| {
        so_far = extend_digest(so_far, moves[ply as usize - 1]);
        if ply >= min {
            let position = digest(position, config.is_placement());
            sequences.push(Sequence { moves: so_far, game, ply, position });
        }
    })?;
    Ok(sequences)
}

/// Plays the first `most` moves, and calls `at` with each position and the number of moves before it, from 1.
///
/// # Errors
/// A token is no legal move.
pub fn replay(moves: &[u16], most: u32, mut at: impl FnMut(u32, &Chess)) -> Result<Chess, String> {
    let mut position = Chess::default();
    for (ply, &token) in (1..=most).zip(moves) {
        let played = PlainMove::from_token(token).and_then(|plain| legal(&position, plain));
        position.play_unchecked(played.ok_or_else(|| format!("token {token} at ply {ply} is not a legal move"))?);
        at(ply, &position);
    }
    Ok(position)
}
