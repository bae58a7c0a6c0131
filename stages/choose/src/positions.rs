//! The positions in which moves are chosen.

use cwm_contract::{Context, Failure};
use cwm_evaluations::{Evaluation, Evaluations};
use cwm_player::GamePrefix;
use cwm_policy::actions::legal_actions;
use cwm_policy::inputs::board::Board;
use cwm_policy::inputs::{characters, moves, prompt};
use cwm_policy::replay::best_action;

use crate::config::Config;
use crate::counts::{Counts, Reason};
use crate::games::GamesInOrder;

/// A position in which a move is chosen.
pub struct Position {
    /// Its record: its origin and its best lines.
    pub evaluation: Evaluation,
    /// The board as the evaluations write it.
    pub board: Board,
    /// The game before it, if the games are given.
    pub game: Option<GamePrefix>,
    /// Number of legal moves.
    pub legal_moves: u16,
    /// The best move, by its id.
    pub best: u16,
}

/// The positions of the evaluations that every form has room for, in their order.
pub struct Positions {
    evaluations: Evaluations,
    games: Option<GamesInOrder>,
    limit: u64,
    counts: Counts,
}

impl Positions {
    /// Opens the positions of the inputs.
    ///
    /// # Errors
    /// An input cannot be read.
    pub fn open(context: &Context, config: &Config) -> Result<Self, Failure> {
        Ok(Positions {
            evaluations: Evaluations::open(context.input("evaluations")?)?,
            games: context.optional_input("games").map(GamesInOrder::open).transpose()?,
            limit: config.limit.unwrap_or(u64::MAX),
            counts: Counts::default(),
        })
    }

    /// Number of positions in the file.
    pub fn total(&self) -> u64 {
        self.evaluations.total()
    }

    /// The counts of positions read so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Reads at most `count` further positions.
    ///
    /// # Errors
    /// A record is no position, its best move is not legal, or it is not of the games.
    pub fn take(&mut self, count: usize) -> Result<Vec<Position>, Failure> {
        let mut taken = Vec::new();
        while taken.len() < count && self.counts.positions < self.limit {
            let Some(evaluation) = self.evaluations.next().transpose()? else { break };
            match self.check(evaluation)? {
                Ok(position) => {
                    self.counts.positions += 1;
                    taken.push(position);
                }
                Err(reason) => self.counts.exclude(reason),
            }
        }
        Ok(taken)
    }

    /// The position of a record, or the reason for which it is dropped, which is the same for all forms.
    fn check(&mut self, evaluation: Evaluation) -> Result<Result<Position, Reason>, Failure> {
        let wrong = |what: String| {
            Failure::input(format!("record {} of the evaluations, {:?}: {what}", evaluation.record, evaluation.fen))
        };
        let board = Board::parse(&evaluation.fen).map_err(|error| wrong(error.to_string()))?;
        let best = best_action(board.position(), evaluation.best()).map_err(wrong)?;
        let legal_moves = legal_actions(board.position()).len();
        let game = self.games.as_mut().map(|games| games.find_game(&evaluation)).transpose()?;
        let dropped = match &game {
            _ if legal_moves > prompt::MOST_MOVES => Some(Reason::LegalMoves),
            Some((_, t)) if t + 1 > moves::CONTEXT => Some(Reason::Moves),
            Some((game, t)) if game.characters_before(*t) + characters::MOST_ANSWER > characters::MOST_CHARACTERS => {
                Some(Reason::Characters)
            }
            _ => None,
        };
        if let Some(reason) = dropped {
            return Ok(Err(reason));
        }
        let game = game.map(|(game, t)| game.until(t));
        Ok(Ok(Position { evaluation, board, game, legal_moves: legal_moves as u16, best }))
    }
}
