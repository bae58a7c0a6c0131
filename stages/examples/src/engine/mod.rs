//! The engines that search positions: a UCI program, or our own.

mod own;
mod program;

use cwm_contract::{Context, Failure};
use cwm_evaluations::Score;
use cwm_reasoning::{MATE, ScoredMove};
use cwm_uci::Limit;
use shakmaty::{Chess, Move};

use crate::config::Config;
use own::OwnEngine;
use program::Program;

/// A program or our own engine, started.
pub enum Searcher {
    /// A program.
    Program(Box<Program>),
    /// Our own engine.
    Own(OwnEngine),
}

/// A legal move and its value for the side that makes it.
pub type MoveScore = (Move, Score);

/// Best play, and the value of the position in which it begins, for its side to move.
pub struct BestPlay {
    /// The moves.
    pub moves: Vec<Move>,
    /// The value.
    pub value: Score,
}

impl Searcher {
    /// Starts the one that the parameters name; `lines` is the number of lines of the first search.
    ///
    /// # Errors
    /// The program cannot be used.
    pub fn start(context: &Context, config: &Config, lines: usize) -> Result<Searcher, Failure> {
        match config.engine.as_ref().filter(|_| config.searches()) {
            Some(program) => {
                let program = Program::start(&program.0, lines, context.cancellation().clone())?;
                Ok(Searcher::Program(Box::new(program)))
            }
            None => Ok(Searcher::Own(OwnEngine { depth: config.depth().into() })),
        }
    }

    /// Its name in counts.
    pub fn name(&self) -> String {
        match self {
            Searcher::Program(program) => program.name().to_owned(),
            Searcher::Own(own) => format!("cwm's own engine, depth {}", own.depth),
        }
    }

    /// Best play from a position with a legal move: so many plies, less if the game ends or the engine does not look so
    /// far. `limit` is a program's.
    ///
    /// # Errors
    /// The program fails.
    pub fn best_play(&mut self, position: &Chess, plies: usize, limit: &Limit) -> Result<BestPlay, Failure> {
        match self {
            Searcher::Program(program) => program.best_play(position, plies, limit),
            Searcher::Own(own) => own.best_play(position, plies),
        }
    }

    /// The best moves of a position with a legal move, so many of them if there are; none if the program leaves some out.
    ///
    /// # Errors
    /// The program fails.
    pub fn best_moves(
        &mut self,
        position: &Chess,
        count: usize,
        limit: &Limit,
    ) -> Result<Option<Vec<MoveScore>>, Failure> {
        match self {
            Searcher::Program(program) => program.best_moves(position, count, limit),
            Searcher::Own(own) => Ok(Some(own.best_moves(position, count))),
        }
    }
}

/// A move with its value in centipawns; a mate is worth [`MATE`].
pub fn in_centipawns((played, score): MoveScore) -> ScoredMove {
    ScoredMove { played, centipawns: centipawns(score) }
}

/// A value in centipawns; a mate is worth [`MATE`].
pub fn centipawns(score: Score) -> i32 {
    match score {
        Score::Centipawns(centipawns) => centipawns,
        Score::Mate(moves) => MATE * moves.signum(),
    }
}
