//! A program that speaks UCI.

use std::path::{Path, PathBuf};

use cwm_contract::{Cancellation, Failure, FailureKind};
use cwm_uci::{Answer, Engine, Limit, Question, Settings};
use shakmaty::{Chess, Position};

use super::{BestPlay, Scored};
use crate::builders::LINES;
use crate::config::Config;

/// MiB of its hash table.
const HASH: u32 = 16;

/// A program; it is started again where it fails.
pub struct Program {
    path: PathBuf,
    settings: Settings,
    limit: Limit,
    engine: Engine,
}

impl Program {
    /// Starts it with the limit and the number of lines that the builder needs.
    ///
    /// # Errors
    /// It cannot be used.
    pub fn start(path: &Path, config: &Config, cancellation: Cancellation) -> Result<Program, Failure> {
        let (lines, limit) = match config.builder.as_str() {
            "verbalised" => (LINES as u32, Limit::nodes(config.nodes)),
            _ => (1, Limit::depth(config.depth())),
        };
        let settings = Settings { hash: HASH, lines, cancellation, ..Settings::default() };
        let engine = Engine::start(path, settings.clone())?;
        Ok(Program { path: path.to_owned(), settings, limit, engine })
    }

    /// Its name for itself.
    pub fn name(&self) -> &str {
        self.engine.name()
    }

    /// The line of its last exact score, of which the first move is the one that it plays.
    pub fn best_play(&mut self, position: &Chess, plies: usize) -> Result<BestPlay, Failure> {
        let answer = self.ask(position)?;
        let line = answer.exact.filter(|line| line.moves.first() == Some(&answer.best)).ok_or_else(|| {
            Failure::input(format!(
                "the engine {} gives no exact value of its best move in `{}`",
                self.path.display(),
                fen(position)
            ))
        })?;
        Ok(BestPlay { moves: line.moves.into_iter().take(plies).collect(), value: line.score })
    }

    /// Its lines; none if it leaves some out.
    pub fn best_moves(&mut self, position: &Chess, count: usize) -> Result<Option<Vec<Scored>>, Failure> {
        let answer = self.ask(position)?;
        let lines = answer.lines.iter().filter_map(|line| Some((*line.moves.first()?, line.score)));
        let lines: Vec<Scored> = lines.take(count).collect();
        Ok((lines.len() == count.min(position.legal_moves().len())).then_some(lines))
    }

    /// Asks twice, the second time another process, before it fails.
    fn ask(&mut self, position: &Chess) -> Result<Answer, Failure> {
        let question = Question::position(position)?;
        match self.engine.ask(&question, &self.limit) {
            Err(failure) if failure.kind != FailureKind::Cancelled => {
                self.engine = Engine::start(&self.path, self.settings.clone())?;
                self.engine.ask(&question, &self.limit)
            }
            answer => answer,
        }
    }
}

fn fen(position: &Chess) -> String {
    cwm_reasoning::board::board_text(position, cwm_reasoning::board::BoardForm::Fen)
}
