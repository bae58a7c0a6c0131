//! Positions of games: those before each move, and the last.

use std::path::Path;

use cwm_chess::Games;
use cwm_contract::{Context, Failure};
use cwm_encoding::{PlainMove, legal};
use shakmaty::{Chess, Position};

use super::{KnownMoves, Positions};

/// Reads a folder of games.
pub fn read(context: &Context, folder: &Path, positions: &mut Positions) -> Result<(), Failure> {
    let games = Games::open(folder)?;
    for (done, game) in games.iter().enumerate() {
        let game = game?;
        let game = game.row();
        let mut position = Chess::default();
        for ply in 0..=game.moves.len() {
            positions.push(context, &position, (Some(game.index), Some(ply as u32)), || Ok(KnownMoves::default()))?;
            let Some(&packed) = game.moves.get(ply) else { break };
            let played = PlainMove::from_packed(packed).and_then(|plain| legal(&position, plain)).ok_or_else(|| {
                Failure::input(format!("move {} of game {} ({:?}) is not legal", ply + 1, game.index, game.id))
                    .hint("examples are built of games of standard chess")
            })?;
            position.play_unchecked(played);
        }
        context.progress(done as u64 + 1, Some(games.len() as u64), "games");
    }
    Ok(())
}
