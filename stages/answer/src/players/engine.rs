//! Answers of an engine: its best move, or the option nearest to its evaluation.

use cwm_contract::{Context, Failure, FailureKind};
use cwm_game::GameState;
use cwm_questions::truth::{chess_of_fen, grid, nearest};
use cwm_questions::{Form, Item};
use cwm_search::candidates;
use cwm_uci::{Limit, Score, SearchRoot, Settings};
use shakmaty::{CastlingMode, Chess, Move, Position};

use super::by_rules;
use crate::config::Config;

/// A UCI program, or our own engine.
pub struct Engine<'c> {
    config: &'c Config,
    context: &'c Context,
    /// The running program.
    program: Option<cwm_uci::Engine>,
}

impl<'c> Engine<'c> {
    /// Starts it.
    ///
    /// # Errors
    /// The program cannot be used.
    pub fn start(config: &'c Config, context: &'c Context) -> Result<Self, Failure> {
        let mut engine = Engine { config, context, program: None };
        engine.restart()?;
        Ok(engine)
    }

    fn restart(&mut self) -> Result<(), Failure> {
        let settings = || Settings { cancellation: self.context.cancellation().clone(), ..Settings::default() };
        let program = self.config.engine.as_ref();
        self.program = program.map(|program| cwm_uci::Engine::start(&program.0, settings())).transpose()?;
        Ok(())
    }

    /// The answer to an item; of tasks without a best move or a value, that of the rules.
    ///
    /// # Errors
    /// The input is no position, or the program failed twice.
    pub fn answer(&mut self, item: &Item) -> Result<String, Failure> {
        let form = item.task().map(|task| task.form());
        if !matches!(form, Some(Form::Move | Form::Centipawns)) {
            return by_rules(item, self.config.keys());
        }
        let position = position(item)?;
        // An engine has no best move at the end of a game.
        if position.legal_moves().is_empty() {
            return by_rules(item, self.config.keys());
        }
        let named = |failure: Failure| located(item, failure);
        let (best, score) = self.evaluate(&position).map_err(named)?;
        match (form, score) {
            (Some(Form::Move), _) => Ok(best.to_uci(CastlingMode::Standard).to_string()),
            (_, Some(score)) => {
                let options = grid(item).map_err(|wrong| named(Failure::input(wrong)))?;
                Ok(nearest(&options, centipawns(score, &position)).map(|option| option.to_string()).unwrap_or_default())
            }
            // After few nodes a program may have no score.
            (_, None) => by_rules(item, self.config.keys()),
        }
    }

    /// The best move, and the value for the side to move.
    fn evaluate(&mut self, position: &Chess) -> Result<(Move, Option<Score>), Failure> {
        if self.config.engine.is_none() {
            let found = candidates(&GameState::from(position.clone()), &position.legal_moves(), self.config.depth, 0);
            let best = found.first().ok_or_else(|| Failure::internal("no move is best where one is legal"))?;
            return Ok((best.chosen, Some(Score::Centipawns(best.value))));
        }
        match self.query(position) {
            Err(failure) if failure.kind != FailureKind::Cancelled => {
                self.context.log(format!("{}; it is started again", failure.message));
                self.restart()?;
                self.query(position)
            }
            answer => answer,
        }
    }

    fn query(&mut self, position: &Chess) -> Result<(Move, Option<Score>), Failure> {
        let program = self.program.as_mut().ok_or_else(|| Failure::internal("no program runs"))?;
        let answer = program.query(&SearchRoot::position(position)?, &Limit::nodes(self.config.nodes))?;
        Ok((answer.best, answer.exact.map(|line| line.score)))
    }
}

/// The position of an item.
///
/// # Errors
/// The input is none.
pub fn position(item: &Item) -> Result<Chess, Failure> {
    let found = chess_of_fen(&item.input).map_err(|wrong| located(item, Failure::input(wrong)))?;
    Ok(found.0)
}

fn located(item: &Item, failure: Failure) -> Failure {
    Failure { message: format!("{}: {}", item.task_id, failure.message), ..failure }
}

/// A score from White's side; mates are worth more than all else.
fn centipawns(score: Score, position: &Chess) -> i64 {
    let of_mover = match score {
        Score::Centipawns(centipawns) => i64::from(centipawns),
        Score::Mate(moves) => i64::from(cwm_search::MATE) * i64::from(moves.signum()),
    };
    of_mover * position.turn().fold_wb(1, -1)
}
