//! Positions that are drawn from those of games: so many of a game, and in wanted shares of full moves and sides.

use std::collections::{BTreeMap, HashSet};

use cwm_chess::Games;
use cwm_contract::{Context, Failure};
use cwm_game::GameStream;
use cwm_random::Random;
use cwm_shares::{Fullmoves, numbers, rake};
use shakmaty::{Chess, Position};

use crate::config::Config;
use crate::place::board;
use crate::positions::{GamePositions, Selection};

/// The plies of each game whose positions were drawn, in rising order.
pub type Plies = Vec<Vec<u32>>;

/// A position that can be drawn.
struct Candidate {
    game: usize,
    ply: u32,
    /// The row and the column of the table of full moves and sides.
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
    let table = Table::new(config)?;
    let mut boards = HashSet::new();
    let mut drawn = Vec::new();
    for (game, row) in games.iter().take(count).enumerate() {
        context.check_cancelled()?;
        let mut positions = selection.of_game(&row?.row())?;
        let mut draws = GameStream::new("analyse draw", &config.seed.to_string(), game as u64);
        let mut asked = std::mem::take(&mut positions.asked);
        draws.shuffle(&mut asked);
        let most = config.per_game.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let mut taken = 0;
        for (ply, position) in &asked {
            let reason = match table.cell(position) {
                _ if taken == most => "not_drawn",
                None => "fullmoves",
                Some(_) if !boards.insert(board(position)) => "twice",
                Some(cell) => {
                    taken += 1;
                    drawn.push(Candidate { game, ply: *ply, cell });
                    continue;
                }
            };
            positions.leave_out(reason);
        }
        seen.add(positions);
    }
    let drawn = table.balance(drawn, config.seed, seen)?;
    let mut plies: Plies = vec![Vec::new(); count];
    for candidate in drawn {
        plies[candidate.game].push(candidate.ply);
    }
    plies.iter_mut().for_each(|plies| plies.sort_unstable());
    Ok(plies)
}

/// Ranges of full moves, and sides; each one only if it has wanted shares.
struct Table {
    fullmoves: Option<Fullmoves>,
    is_balanced: bool,
}

impl Table {
    fn new(config: &Config) -> Result<Self, Failure> {
        let fullmoves = config.fullmove_shares().map_err(|wrong| Failure::input(format!("`fullmoves`: {wrong}")))?;
        Ok(Table { fullmoves, is_balanced: config.is_balanced() })
    }

    /// The cell that a position is in; none if it is in no range.
    fn cell(&self, position: &Chess) -> Option<usize> {
        let row = match &self.fullmoves {
            Some(ranges) => ranges.range_of(position.fullmoves().get())?,
            None => 0,
        };
        Some(if self.is_balanced { 2 * row + position.turn().fold_wb(0, 1) } else { row })
    }

    /// As many of the candidates as have the wanted shares, drawn from each cell alike.
    fn balance(&self, drawn: Vec<Candidate>, seed: u64, seen: &mut GamePositions) -> Result<Vec<Candidate>, Failure> {
        if self.fullmoves.is_none() && !self.is_balanced {
            return Ok(drawn);
        }
        let rows = self.fullmoves.as_ref().map_or_else(|| vec![1.0], Fullmoves::shares);
        let columns = if self.is_balanced { vec![1.0, 1.0] } else { vec![1.0] };
        let mut cells: BTreeMap<usize, Vec<Candidate>> = BTreeMap::new();
        for candidate in drawn {
            cells.entry(candidate.cell).or_default().push(candidate);
        }
        let there = |cell: usize| cells.get(&cell).map_or(0, |cell| cell.len() as u64);
        let supply: Vec<u64> = (0..rows.len() * columns.len()).map(there).collect();
        self.check(&rows, &columns, &supply)?;
        let wanted = numbers(&supply, &rake(&supply, &rows, &columns));
        let mut taken = Vec::new();
        for (cell, mut candidates) in cells {
            let mut draws = GameStream::new("analyse balance", &seed.to_string(), cell as u64);
            draws.shuffle(&mut candidates);
            let wanted = wanted[cell] as usize;
            for _ in wanted..candidates.len() {
                seen.leave_out("not_drawn");
            }
            candidates.truncate(wanted);
            taken.append(&mut candidates);
        }
        Ok(taken)
    }

    /// Checks that each row and column of which a share is wanted has positions.
    fn check(&self, rows: &[f64], columns: &[f64], supply: &[u64]) -> Result<(), Failure> {
        let width = columns.len();
        for (row, cells) in supply.chunks(width).enumerate() {
            if rows[row] > 0.0 && cells.iter().all(|&there| there == 0) {
                let name = self.fullmoves.as_ref().map_or_else(String::new, |ranges| format!(" {}", ranges.name(row)));
                return Err(Failure::input(format!("no position is there of the full moves{name}"))
                    .hint("give more or longer games, or leave this range out of `fullmoves`"));
            }
        }
        for (column, side) in ["White", "Black"].iter().enumerate().take(if width == 2 { 2 } else { 0 }) {
            if supply.iter().skip(column).step_by(width).all(|&there| there == 0) {
                return Err(Failure::input(format!("no position is there in which {side} moves"))
                    .hint("give more games, or leave out `sides: balanced`"));
            }
        }
        Ok(())
    }
}
