//! Finds the best moves of a position, by a UCI program or our own engine.

use cwm_contract::{Cancellation, Failure};
use cwm_encoding::PlainMove;
use cwm_evaluations::{Line, Score, Source};
use cwm_game::GameState;
use cwm_search::{Candidate, MATE, candidates, values};
use cwm_uci::{Engine, Limit, SearchResult, SearchRoot, Settings, digest};
use shakmaty::{Move, Position};

use crate::config::Config;

/// The factor of nodes for each ply that our own engine looks further ahead.
const NODES_A_PLY: f64 = 30.0;

/// A running UCI program, or our own engine.
pub enum Evaluator {
    /// A program.
    Program(Box<Program>),
    /// Our own engine.
    Own {
        /// Plies that it looks ahead before it follows captures.
        depth: u32,
        /// The lines to find of a position.
        wanted: RequestedLines,
    },
}

/// A running UCI program, with the settings of its searches.
pub struct Program {
    engine: Engine,
    /// Nodes of each search.
    nodes: u64,
    /// True if it searches the position after each move by itself.
    each: bool,
    wanted: RequestedLines,
}

/// The lines to find of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestedLines {
    /// The best move.
    Best,
    /// For puzzles: the best move, the next one, and the nodes after which the best did not change any more.
    Pair,
    /// The values of so many moves.
    Moves(u32),
}

/// The lines found of a position.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundLines {
    /// As many lines as are wanted, or as the position has moves; the best first.
    pub lines: Vec<Line>,
    /// Nodes after which the best move did not change any more; for our own engine, an estimate of those of a program.
    pub effort: f64,
}

impl Evaluator {
    /// Starts the engine of the parameters. A cancellation ends its searches.
    ///
    /// # Errors
    /// The program cannot be used.
    pub fn start(config: &Config, cancellation: Cancellation) -> Result<Self, Failure> {
        let wanted = match config.moves() {
            _ if config.puzzles => RequestedLines::Pair,
            Some(1) if !config.each => RequestedLines::Best,
            Some(moves) => RequestedLines::Moves(moves),
            None => return Err(Failure::internal("`multipv` is no number of moves")),
        };
        let Some(program) = &config.engine else { return Ok(Evaluator::Own { depth: config.depth, wanted }) };
        let lines = match wanted {
            RequestedLines::Pair => 2,
            RequestedLines::Moves(moves) if !config.each => moves,
            RequestedLines::Best | RequestedLines::Moves(_) => 1,
        };
        let settings = Settings { hash: config.hash, lines, options: config.options.clone(), cancellation };
        let engine = Engine::start(&program.0, settings)?;
        Ok(Evaluator::Program(Box::new(Program { engine, nodes: config.nodes, each: config.each, wanted })))
    }

    /// The engine and its settings, as the evaluations name their source.
    ///
    /// # Errors
    /// The program cannot be read.
    pub fn source(&self, config: &Config) -> Result<Source, Failure> {
        Ok(match self {
            Evaluator::Program(program) => Source {
                made_by: program.engine.name().to_owned(),
                nodes: Some(config.nodes),
                digest: config.engine.as_ref().map(|program| digest(&program.0)).transpose()?,
                options: config.options.clone().into_iter().chain(config.hash_option()).collect(),
            },
            Evaluator::Own { depth, .. } => {
                Source { made_by: format!("cwm's own engine, depth {depth}"), ..Source::default() }
            }
        })
    }

    /// The best moves of a position, with what follows them.
    ///
    /// # Errors
    /// The program fails.
    pub fn find(&mut self, root: &SearchRoot) -> Result<FoundLines, Failure> {
        match self {
            Evaluator::Program(program) => match program.wanted {
                RequestedLines::Moves(moves) => {
                    let lines = if program.each { program.each(root) } else { program.at_once(root) }?;
                    Ok(valued(lines, moves, program.nodes as f64))
                }
                RequestedLines::Best | RequestedLines::Pair => {
                    let result = program.engine.query(root, &Limit::nodes(program.nodes))?;
                    Ok(found(result, program.nodes))
                }
            },
            Evaluator::Own { depth, wanted: RequestedLines::Moves(moves) } => {
                Ok(valued(own_values(root, *depth), *moves, 0.0))
            }
            Evaluator::Own { depth, wanted } => own(root, *depth, *wanted == RequestedLines::Pair),
        }
    }
}

fn valued(mut lines: Vec<Line>, moves: u32, effort: f64) -> FoundLines {
    lines.truncate(moves as usize);
    FoundLines { lines, effort }
}

impl Program {
    /// The moves that one search values, the one that the engine plays first.
    fn at_once(&mut self, root: &SearchRoot) -> Result<Vec<Line>, Failure> {
        let result = self.engine.query(root, &Limit::nodes(self.nodes))?;
        let best = result.best;
        let of =
            |line: cwm_uci::Line| Line { score: Some(line.score), depth: Some(line.depth), moves: packed(line.moves) };
        let mut lines = result.lines.clone();
        lines.retain(|line| !line.moves.is_empty());
        if lines.iter().all(|line| line.moves[0] != best) {
            return Ok(vec![self::line(result)]);
        }
        lines.sort_by_key(|line| line.moves[0] != best);
        Ok(lines.into_iter().map(of).collect())
    }

    /// All moves, each by a search of the position after it; the best first, and equal ones as they are generated.
    fn each(&mut self, root: &SearchRoot) -> Result<Vec<Line>, Failure> {
        let mut lines = Vec::new();
        for played in root.chess().legal_moves() {
            let mut next = root.chess().clone();
            next.play_unchecked(played);
            let mut found = if next.legal_moves().is_empty() {
                let score = if next.is_check() { Score::Mate(0) } else { Score::Centipawns(0) };
                Line { score: Some(score), depth: None, moves: Vec::new() }
            } else {
                line(self.engine.query(&SearchRoot::position(&next)?, &Limit::nodes(self.nodes))?)
            };
            found.score = found.score.map(before);
            found.moves.insert(0, PlainMove::from(played).packed());
            lines.push(found);
        }
        lines.sort_by_key(|line| std::cmp::Reverse(line.score.map(rank)));
        Ok(lines)
    }
}

/// The value of a move for the side that plays it, by the value after it for the other side.
fn before(after: Score) -> Score {
    match after {
        Score::Centipawns(centipawns) => Score::Centipawns(-centipawns),
        // This move is one more of the side that mates.
        Score::Mate(moves) if moves <= 0 => Score::Mate(1 - moves),
        Score::Mate(moves) => Score::Mate(-moves),
    }
}

/// Greater for greater values.
fn rank(score: Score) -> (i32, i32) {
    match score {
        Score::Centipawns(centipawns) => (0, centipawns),
        Score::Mate(moves) => (moves.signum(), -moves),
    }
}

/// All moves, as our own engine values them.
fn own_values(root: &SearchRoot, depth: u32) -> Vec<Line> {
    let game = GameState::from(root.chess().clone());
    let line = |candidate: Candidate| Line {
        score: Some(own_score(&candidate)),
        depth: Some(depth),
        moves: vec![PlainMove::from(candidate.chosen).packed()],
    };
    values(&game, &root.chess().legal_moves(), depth).into_iter().map(line).collect()
}

/// The label of a position, and the first line of another move: with two lines there is one. An engine that reported another move
/// last held to its own only when the `nodes` of the search were spent.
fn found(result: SearchResult, nodes: u64) -> FoundLines {
    let other = result.lines.iter().find(|line| line.moves.first().is_some_and(|first| *first != result.best));
    let other =
        other.map(|line| Line { score: Some(line.score), depth: Some(line.depth), moves: packed(line.moves.clone()) });
    let effort = result.best_since_nodes.unwrap_or(nodes) as f64;
    FoundLines { lines: std::iter::once(line(result)).chain(other).collect(), effort }
}

fn packed(moves: Vec<Move>) -> Vec<u16> {
    moves.into_iter().map(|played| PlainMove::from(played).packed()).collect()
}

/// The label of a position: the move that the engine plays, and the last exact score that it reported.
fn line(result: SearchResult) -> Line {
    let SearchResult { best, exact, .. } = result;
    let score = exact.as_ref().map(|line| line.score);
    let depth = exact.as_ref().map(|line| line.depth);
    // Where the search ended within an iteration, the engine may play another move than that of the last exact line.
    let moves = exact.map(|line| line.moves).filter(|moves| moves.first() == Some(&best)).unwrap_or_else(|| vec![best]);
    Line { score, depth, moves: packed(moves) }
}

/// The first of the moves that our own engine values most, and for puzzles the next one.
fn own(root: &SearchRoot, depth: u32, finds_puzzles: bool) -> Result<FoundLines, Failure> {
    let (position, game) = (root.chess(), GameState::from(root.chess().clone()));
    let moves = position.legal_moves();
    let best = |depth, margin| candidates(&game, &moves, depth, margin);
    let (count, margin) = if finds_puzzles { (2, 2 * MATE) } else { (1, 0) };
    let candidates = best(depth, margin);
    let first = candidates.first().ok_or_else(|| Failure::internal(format!("no move is best in `{}`", root.fen())))?;
    let lines = candidates.iter().take(count).map(|candidate| Line {
        score: Some(own_score(candidate)),
        depth: Some(depth),
        moves: vec![PlainMove::from(candidate.chosen).packed()],
    });
    let is_best = |depth: &u32| best(*depth, 0).first().is_some_and(|other| other.chosen == first.chosen);
    let held = if finds_puzzles { (1..depth).rev().take_while(is_best).last().unwrap_or(depth) } else { depth };
    Ok(FoundLines { lines: lines.collect(), effort: 1_000.0 * NODES_A_PLY.powi(held as i32 - 1) })
}

fn own_score(candidate: &Candidate) -> Score {
    candidate.mate().map_or(Score::Centipawns(candidate.value), Score::Mate)
}
