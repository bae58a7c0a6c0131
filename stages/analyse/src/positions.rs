//! The positions of a game that are evaluated.

use std::collections::BTreeMap;

use cwm_chess::GameRow;
use cwm_contract::Failure;
use cwm_encoding::{PlainMove, legal};
use shakmaty::{Chess, Color, Position};

use crate::config::Config;

/// The rules by which positions are selected.
#[derive(Clone, Copy, Debug)]
pub struct Selection {
    side: Option<Color>,
    from_ply: u64,
    every: u64,
    max_pieces: usize,
    min_legal: usize,
    /// True if positions that are not written are evaluated too.
    includes_unwritten: bool,
}

/// The positions of a game that are evaluated, and the counts of those dropped.
#[derive(Debug, Default)]
pub struct GamePositions {
    /// Plies before the position, and the position.
    pub positions: Vec<(u32, Chess)>,
    /// Positions in which the game has ended.
    pub game_over: u64,
    /// Positions that were dropped for another reason: `many_pieces`, `few_moves`, or one of those that draw positions.
    pub dropped: BTreeMap<&'static str, u64>,
}

impl GamePositions {
    /// Counts a position that is dropped.
    pub fn count_dropped(&mut self, reason: &'static str) {
        *self.dropped.entry(reason).or_default() += 1;
    }

    /// Adds what was counted in another game.
    pub fn add(&mut self, other: GamePositions) {
        self.game_over += other.game_over;
        for (reason, number) in other.dropped {
            *self.dropped.entry(reason).or_default() += number;
        }
    }
}

impl Selection {
    /// The selection of the parameters.
    pub fn of(config: &Config) -> Self {
        let side = match config.side.as_str() {
            "white" => Some(Color::White),
            "black" => Some(Color::Black),
            _ => None,
        };
        Selection {
            side,
            from_ply: config.from_ply,
            every: config.every,
            max_pieces: config.max_pieces as usize,
            min_legal: usize::try_from(config.min_legal).unwrap_or(usize::MAX),
            includes_unwritten: config.puzzles,
        }
    }

    /// True if the evaluation of a position with so many plies before it is written.
    pub fn is_written(self, ply: u32) -> bool {
        u64::from(ply).checked_sub(self.from_ply).is_some_and(|plies| plies % self.every == 0)
    }

    /// The positions of a game, the first and the last included.
    ///
    /// # Errors
    /// A move is not legal.
    pub fn of_game(self, game: &GameRow<'_>) -> Result<GamePositions, Failure> {
        let mut found = GamePositions::default();
        let mut position = Chess::default();
        for ply in 0..=game.moves.len() {
            let is_selected = self.side.is_none_or(|side| position.turn() == side)
                && ply as u64 >= self.from_ply
                && (self.includes_unwritten || self.is_written(ply as u32));
            if is_selected {
                match position.legal_moves().len() {
                    0 => found.game_over += 1,
                    _ if position.board().occupied().count() > self.max_pieces => found.count_dropped("many_pieces"),
                    moves if moves < self.min_legal => found.count_dropped("few_moves"),
                    _ => found.positions.push((ply as u32, position.clone())),
                }
            }
            let Some(&packed) = game.moves.get(ply) else { break };
            let played = PlainMove::from_packed(packed).and_then(|plain| legal(&position, plain)).ok_or_else(|| {
                Failure::input(format!("move {} of game {} ({:?}) is not legal", ply + 1, game.index, game.id))
                    .hint("positions of games by other rules than standard chess cannot be evaluated")
            })?;
            position.play_unchecked(played);
        }
        Ok(found)
    }
}
