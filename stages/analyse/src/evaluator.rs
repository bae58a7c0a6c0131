//! What finds the best move of a position: a program that speaks UCI, or our own engine.

use cwm_contract::{Context, Failure};
use cwm_encoding::PlainMove;
use cwm_evaluations::{Line, Score, Source};
use cwm_game::GameState;
use cwm_search::{MATE, candidates};
use cwm_uci::{Answer, Engine, Limit, Question, Settings, digest};
use shakmaty::{Move, Position};

use crate::config::Config;

/// For each ply that our own engine looks ahead, so many times the nodes of a ply less.
const NODES_A_PLY: f64 = 30.0;

/// One of them, ready for questions.
pub enum Evaluator {
    /// A program, and the nodes of each search.
    Program(Box<(Engine, u64)>),
    /// Our own engine.
    Own {
        /// Plies that it looks ahead before it follows captures.
        depth: u32,
        /// Whether it values a second move, and finds out from which depth it chose the first.
        finds_puzzles: bool,
    },
}

/// What was found of a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// One line, and for puzzles a second where there is another move; the best first.
    pub lines: Vec<Line>,
    /// Nodes after which the engine held to the best move; of our own, what a program may have searched by then.
    pub effort: f64,
}

impl Evaluator {
    /// As the parameters have it.
    ///
    /// # Errors
    /// The program cannot be used.
    pub fn start(config: &Config, context: &Context) -> Result<Self, Failure> {
        let Some(program) = &config.engine else {
            return Ok(Evaluator::Own { depth: config.depth, finds_puzzles: config.puzzles });
        };
        let lines = if config.puzzles { 2 } else { 1 };
        let (options, cancellation) = (config.options.clone(), context.cancellation().clone());
        let engine = Engine::start(&program.0, Settings { lines, options, cancellation, ..Settings::default() })?;
        Ok(Evaluator::Program(Box::new((engine, config.nodes))))
    }

    /// What the evaluations are made by.
    ///
    /// # Errors
    /// The program cannot be read.
    pub fn source(&self, config: &Config) -> Result<Source, Failure> {
        Ok(match self {
            Evaluator::Program(program) => Source {
                made_by: program.0.name().to_owned(),
                nodes: Some(config.nodes),
                digest: config.engine.as_ref().map(|program| digest(&program.0)).transpose()?,
                options: config.options.clone(),
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
    pub fn find(&mut self, question: &Question) -> Result<Found, Failure> {
        match self {
            Evaluator::Program(program) => {
                let (engine, nodes) = &mut **program;
                engine.ask(question, &Limit::nodes(*nodes)).map(|answer| found(answer, *nodes))
            }
            Evaluator::Own { depth, finds_puzzles } => own(question, *depth, *finds_puzzles),
        }
    }
}

/// The label of a position, and the first line of another move: with two lines there is one. An engine that reported another move
/// last held to its own only when the `nodes` of the search were spent.
fn found(answer: Answer, nodes: u64) -> Found {
    let other = answer.lines.iter().find(|line| line.moves.first().is_some_and(|first| *first != answer.best));
    let other =
        other.map(|line| Line { score: Some(line.score), depth: Some(line.depth), moves: packed(line.moves.clone()) });
    let effort = answer.held_since.unwrap_or(nodes) as f64;
    Found { lines: std::iter::once(line(answer)).chain(other).collect(), effort }
}

fn packed(moves: Vec<Move>) -> Vec<u16> {
    moves.into_iter().map(|played| PlainMove::from(played).packed()).collect()
}

/// The label of a position: the move that the engine plays, and the last exact score that it reported.
fn line(answer: Answer) -> Line {
    let Answer { best, exact, .. } = answer;
    let score = exact.as_ref().map(|line| line.score);
    let depth = exact.as_ref().map(|line| line.depth);
    // Where the search ended within an iteration, the engine may play another move than that of the last exact line.
    let moves = exact.map(|line| line.moves).filter(|moves| moves.first() == Some(&best)).unwrap_or_else(|| vec![best]);
    Line { score, depth, moves: packed(moves) }
}

/// The first of the moves that our own engine values most, and for puzzles the next one.
fn own(question: &Question, depth: u32, finds_puzzles: bool) -> Result<Found, Failure> {
    let (position, game) = (question.chess(), GameState::from(question.chess().clone()));
    let moves = position.legal_moves();
    let best = |depth, margin| candidates(&game, &moves, depth, margin);
    let (count, margin) = if finds_puzzles { (2, 2 * MATE) } else { (1, 0) };
    let candidates = best(depth, margin);
    let first =
        candidates.first().ok_or_else(|| Failure::internal(format!("no move is best in `{}`", question.fen())))?;
    let lines = candidates.iter().take(count).map(|candidate| Line {
        score: Some(candidate.mate().map_or(Score::Centipawns(candidate.value), Score::Mate)),
        depth: Some(depth),
        moves: vec![PlainMove::from(candidate.chosen).packed()],
    });
    let is_best = |depth: &u32| best(*depth, 0).first().is_some_and(|other| other.chosen == first.chosen);
    let held = if finds_puzzles { (1..depth).rev().take_while(is_best).last().unwrap_or(depth) } else { depth };
    Ok(Found { lines: lines.collect(), effort: 1_000.0 * NODES_A_PLY.powi(held as i32 - 1) })
}
