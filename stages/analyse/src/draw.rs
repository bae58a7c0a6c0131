//! Positions that are drawn from those of games: so many of a game, and in wanted shares of full moves and sides.

use std::collections::HashSet;

use cwm_chess::Games;
use cwm_contract::{Context, Failure};
use cwm_game::StreamRng;
use cwm_random::Random;
use cwm_shares::Distribution;

use crate::config::Config;
use crate::place::board;
use crate::positions::{GamePositions, Selection};

/// The plies of each game whose positions were drawn, in rising order.
pub type Plies = Vec<Vec<u32>>;

/// A position that can be drawn.
struct Candidate {
    game: usize,
    ply: u32,
    /// The index of its cell in the wanted distribution.
    cell: usize,
}

/// Draws positions of the first `count` games, and counts those that are not, as `twice` (their board was drawn before),
/// `fullmoves` (in no range) and `not_drawn`.
///
/// # Errors
/// A game cannot be read, a wanted range has no position, or the stage was cancelled.
pub fn draw(
    context: &Context,
    games: &Games,
    count: usize,
    selection: &Selection,
    config: &Config,
    seen: &mut GamePositions,
) -> Result<Plies, Failure> {
    let distribution = config.distribution().map_err(|wrong| Failure::input(format!("`fullmoves` {wrong}")))?;
    let mut boards = HashSet::new();
    let mut drawn = Vec::new();
    for (game, row) in games.iter().take(count).enumerate() {
        context.check_cancelled()?;
        let mut positions = selection.of_game(&row?.row())?;
        let mut draws = StreamRng::new("analyse draw", &config.seed.to_string(), game as u64);
        let mut selected = std::mem::take(&mut positions.positions);
        draws.shuffle(&mut selected);
        let most = config.per_game.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let mut taken = 0;
        for (ply, position) in &selected {
            let reason = match distribution.cell(position) {
                _ if taken == most => "not_drawn",
                None => "fullmoves",
                Some(_) if !boards.insert(board(position)) => "repeated",
                Some(cell) => {
                    taken += 1;
                    drawn.push(Candidate { game, ply: *ply, cell });
                    continue;
                }
            };
            positions.count_dropped(reason);
        }
        seen.add(positions);
    }
    let drawn = balance(&distribution, drawn, config.seed, seen)?;
    let mut plies: Plies = vec![Vec::new(); count];
    for candidate in drawn {
        plies[candidate.game].push(candidate.ply);
    }
    plies.iter_mut().for_each(|plies| plies.sort_unstable());
    Ok(plies)
}

/// Draws as many of the candidates as have the wanted shares, with equal chances within a cell.
fn balance(
    distribution: &Distribution,
    drawn: Vec<Candidate>,
    seed: u64,
    seen: &mut GamePositions,
) -> Result<Vec<Candidate>, Failure> {
    let mut cells: Vec<Vec<Candidate>> = (0..distribution.cells()).map(|_| Vec::new()).collect();
    for candidate in drawn {
        cells[candidate.cell].push(candidate);
    }
    let there: Vec<usize> = cells.iter().map(Vec::len).collect();
    let wanted = distribution.most(&there).map_err(|wrong| {
        Failure::input(wrong).hint("give more or longer games, or leave out `sides`, or the range of `fullmoves`")
    })?;
    let mut taken = Vec::new();
    for (cell, (mut candidates, wanted)) in cells.into_iter().zip(wanted).enumerate() {
        StreamRng::new("analyse balance", &seed.to_string(), cell as u64).shuffle(&mut candidates);
        candidates.iter().skip(wanted).for_each(|_| seen.count_dropped("not_drawn"));
        candidates.truncate(wanted);
        taken.append(&mut candidates);
    }
    Ok(taken)
}
