//! A UCI program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cwm_contract::{Cancellation, Failure, FailureKind};
use cwm_reasoning::board::{BoardForm, board_text};
use cwm_uci::{Engine, Limit, SearchResult, SearchRoot, Settings};
use shakmaty::{Chess, Position};

use super::{BestPlay, MoveScore};

/// MiB of its hash table.
const HASH: u32 = 16;

/// A program. One process runs for each number of lines that is requested, and is started again where it fails.
pub struct Program {
    path: PathBuf,
    cancellation: Cancellation,
    name: String,
    /// By number of lines.
    engines: BTreeMap<usize, Engine>,
}

impl Program {
    /// Starts it for searches of so many lines.
    ///
    /// # Errors
    /// It cannot be used.
    pub fn start(path: &Path, lines: usize, cancellation: Cancellation) -> Result<Program, Failure> {
        let mut program =
            Program { path: path.to_owned(), cancellation, name: String::new(), engines: BTreeMap::new() };
        let engine = program.engine(lines)?;
        program.name = engine.name().to_owned();
        program.engines.insert(lines, engine);
        Ok(program)
    }

    /// Its own name, by UCI.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The line of its last exact score, of which the first move is the one that it plays.
    pub fn best_play(&mut self, position: &Chess, plies: usize, limit: &Limit) -> Result<BestPlay, Failure> {
        let result = self.query(position, 1, limit)?;
        let line = result.exact.filter(|line| line.moves.first() == Some(&result.best)).ok_or_else(|| {
            let fen = board_text(position, BoardForm::Fen);
            let program = self.path.display();
            Failure::input(format!(
                "the engine {program} gives no exact value of its best move, in the position `{fen}`"
            ))
        })?;
        Ok(BestPlay { moves: line.moves.into_iter().take(plies).collect(), value: line.score })
    }

    /// Its lines; none if it leaves some out.
    pub fn best_moves(
        &mut self,
        position: &Chess,
        count: usize,
        limit: &Limit,
    ) -> Result<Option<Vec<MoveScore>>, Failure> {
        let result = self.query(position, count, limit)?;
        let lines = result.lines.iter().filter_map(|line| Some((*line.moves.first()?, line.score)));
        let lines: Vec<MoveScore> = lines.take(count).collect();
        Ok((lines.len() == count.min(position.legal_moves().len())).then_some(lines))
    }

    /// Searches a position; after a failure a new process tries once more.
    fn query(&mut self, position: &Chess, lines: usize, limit: &Limit) -> Result<SearchResult, Failure> {
        let root = SearchRoot::position(position)?;
        let ready = self.engines.remove(&lines);
        let mut engine = ready.map_or_else(|| self.engine(lines), Ok)?;
        let mut result = engine.query(&root, limit);
        if result.as_ref().is_err_and(|failure| failure.kind != FailureKind::Cancelled) {
            engine = self.engine(lines)?;
            result = engine.query(&root, limit);
        }
        self.engines.insert(lines, engine);
        result
    }

    fn engine(&self, lines: usize) -> Result<Engine, Failure> {
        let cancellation = self.cancellation.clone();
        Engine::start(&self.path, Settings { hash: HASH, lines: lines as u32, cancellation, ..Settings::default() })
    }
}
