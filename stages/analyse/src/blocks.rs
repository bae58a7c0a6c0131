//! Blocks of games or of placed positions, each evaluated by one engine and kept in files, so that an interruption loses the open
//! ones alone.

use std::ops::Range;
use std::path::{Path, PathBuf};

use cwm_contract::{Context, Failure};
use cwm_encoding::{PlainMove, legal};
use cwm_evaluations::{Evaluation, Evaluations, EvaluationsWriter, Source};
use cwm_uci::SearchRoot;
use shakmaty::{Chess, Move, Position};

use crate::evaluator::{Evaluator, FoundLines};
use crate::origin::{GamePositionSource, Origin};
use crate::puzzles::{AnalysedPosition, find};

/// Games of a block: some seconds of work.
const GAMES: usize = 16;

/// SetUp positions of a block.
const POSITIONS: usize = 256;

/// The blocks of a run, each evaluated and read by its number.
pub struct Blocks<'a> {
    /// The stage's context.
    pub context: &'a Context,
    /// The positions.
    pub origin: &'a Origin,
    /// Centipawns that decide about puzzles, if they are looked for.
    pub margin: Option<u32>,
}

/// The engine and the open file of a block that is being evaluated.
struct BlockWork<'a> {
    evaluator: &'a mut Evaluator,
    writer: EvaluationsWriter,
    /// Called after each position.
    on_position: &'a dyn Fn(),
}

impl Blocks<'_> {
    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.origin.len().div_ceil(self.units())
    }

    /// The number of games, or of placed positions, in a block.
    fn units(&self) -> usize {
        match self.origin {
            Origin::Games(_) => GAMES,
            Origin::SetUp(_) => POSITIONS,
        }
    }

    fn units_of(&self, block: usize) -> Range<usize> {
        block * self.units()..self.origin.len().min((block + 1) * self.units())
    }

    /// The rows of a block that is finished, whose records are not numbered yet; `None` if it is not.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn finished(&self, block: usize) -> Result<Option<Evaluations>, Failure> {
        let path = self.path(block);
        if path.try_exists()? { Evaluations::open(&path).map(Some) } else { Ok(None) }
    }

    /// Evaluates a block and keeps it. `on_position` is called after each position.
    ///
    /// # Errors
    /// The engine fails, an operation on the disk fails, or the stage was cancelled.
    pub fn evaluate(
        &self,
        block: usize,
        evaluator: &mut Evaluator,
        source: &Source,
        on_position: &dyn Fn(),
    ) -> Result<(), Failure> {
        let path = self.path(block);
        let open = path.with_extension("open");
        let mut work = BlockWork { evaluator, writer: EvaluationsWriter::create(&open, source)?, on_position };
        let mut puzzles = String::new();
        for unit in self.units_of(block) {
            match self.origin {
                Origin::Games(of_games) => self.evaluate_game(of_games, unit, &mut work, &mut puzzles)?,
                Origin::SetUp(positions) => self.evaluate_placed(unit, &positions[unit], &mut work)?,
            }
        }
        work.writer.finish()?;
        if self.margin.is_some() {
            // Before the block's file gets its name, which marks both as finished.
            let open = path.with_extension("open-csv");
            fs_err::write(&open, puzzles)?;
            keep(&open, &path.with_extension("csv"))?;
        }
        keep(&open, &path)
    }

    fn evaluate_game(
        &self,
        of_games: &GamePositionSource,
        index: usize,
        work: &mut BlockWork<'_>,
        puzzles: &mut String,
    ) -> Result<(), Failure> {
        let game = of_games.games.get(index)?;
        let game = game.ok_or_else(|| Failure::internal(format!("there is no game {index}")))?;
        let game = game.row();
        let mut last: Option<AnalysedPosition> = None;
        for (t, position) in of_games.of_game(index)? {
            self.context.check_cancelled()?;
            let root = SearchRoot::position(&position)?;
            let located = |failure: Failure| {
                let message = format!("game {} ({:?}), ply {t}: {}", game.index, game.id, failure.message);
                Failure { message, ..failure }
            };
            let found = work.evaluator.find(&root).map_err(located)?;
            if let Some(margin) = self.margin {
                let analysed = analysed(&root, &found)?;
                if let Some(before) = last {
                    let analyse = |position: &Chess| analyse_position(work.evaluator, position);
                    let played = played_at(&before, game.moves, t - 1)?;
                    let puzzle = find(&before, played, &analysed, margin as i32, analyse).map_err(located)?;
                    puzzles.extend(puzzle.map(|puzzle| puzzle.row()));
                }
                last = Some(analysed);
            }
            if of_games.is_written(t) {
                work.writer.push(Evaluation {
                    record: 0,
                    game: Some(game.index),
                    id: game.id.to_owned(),
                    t: Some(t),
                    fen: root.fen(),
                    lines: found.lines,
                })?;
            }
            (work.on_position)();
        }
        Ok(())
    }

    fn evaluate_placed(&self, index: usize, position: &Chess, work: &mut BlockWork<'_>) -> Result<(), Failure> {
        self.context.check_cancelled()?;
        let root = SearchRoot::position(position)?;
        let located = |failure: Failure| {
            let message = format!("placed position {}: {}", index + 1, failure.message);
            Failure { message, ..failure }
        };
        let lines = work.evaluator.find(&root).map_err(located)?.lines;
        let fen = root.fen();
        work.writer.push(Evaluation { record: 0, game: None, id: String::new(), t: None, fen, lines })?;
        (work.on_position)();
        Ok(())
    }

    /// The number of positions of a block that are evaluated.
    ///
    /// # Errors
    /// A game cannot be read.
    pub fn position_count(&self, block: usize) -> Result<u64, Failure> {
        self.origin.position_count(self.units_of(block))
    }

    /// The rows of the puzzles of a block that is finished.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn puzzles(&self, block: usize) -> Result<String, Failure> {
        Ok(fs_err::read_to_string(self.path(block).with_extension("csv"))?)
    }

    fn path(&self, block: usize) -> PathBuf {
        self.context.checkpoint_dir().join(format!("block-{block:07}.parquet"))
    }
}

/// Returns the lines that an engine finds in a position; `None` if the game is over.
fn analyse_position(evaluator: &mut Evaluator, position: &Chess) -> Result<Option<AnalysedPosition>, Failure> {
    if position.legal_moves().is_empty() {
        return Ok(None);
    }
    let root = SearchRoot::position(position)?;
    analysed(&root, &evaluator.find(&root)?).map(Some)
}

fn analysed(root: &SearchRoot, found: &FoundLines) -> Result<AnalysedPosition, Failure> {
    let position = root.chess().clone();
    let moves = found.lines.iter().map(|line| unpacked(&position, line.moves[0]).map(|played| (played, line.score)));
    Ok(AnalysedPosition { moves: moves.collect::<Result<_, Failure>>()?, effort: found.effort, position })
}

/// The move of the game that leads on from a position of it.
fn played_at(before: &AnalysedPosition, moves: &[u16], ply: u32) -> Result<Move, Failure> {
    unpacked(&before.position, moves[ply as usize])
}

/// A move that is known to be legal.
fn unpacked(position: &Chess, packed: u16) -> Result<Move, Failure> {
    let played = PlainMove::from_packed(packed).and_then(|plain| legal(position, plain));
    played.ok_or_else(|| Failure::internal(format!("an illegal move: {packed}")))
}

/// Gives a file its final name once its bytes are on the disk.
fn keep(open: &Path, path: &Path) -> Result<(), Failure> {
    fs_err::File::open(open)?.sync_all()?;
    fs_err::rename(open, path)?;
    Ok(())
}
