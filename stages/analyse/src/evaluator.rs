//! What finds the best move of a position: a program that speaks UCI, or our own engine.

use cwm_contract::{Context, Failure};
use cwm_encoding::PlainMove;
use cwm_evaluations::{Line, Score, Source};
use cwm_game::GameState;
use cwm_search::{MATE, candidates};
use cwm_uci::{Answer, Engine, Limit, Question, Settings, digest};
use shakmaty::Position;

use crate::config::Config;

/// Values of our own engine from here on are mates.
const LEAST_MATE: i32 = MATE - 1_000;

/// One of them, ready for questions.
pub enum Evaluator {
    /// A program, and the limit of each search.
    Program(Box<(Engine, Limit)>),
    /// Our own engine, which looks so many plies ahead before it follows captures.
    Own(u32),
}

impl Evaluator {
    /// As the parameters have it.
    ///
    /// # Errors
    /// The program cannot be used.
    pub fn start(config: &Config, context: &Context) -> Result<Self, Failure> {
        let Some(program) = &config.engine else { return Ok(Evaluator::Own(config.depth)) };
        let (options, cancellation) = (config.options.clone(), context.cancellation().clone());
        let engine = Engine::start(&program.0, Settings { options, cancellation, ..Settings::default() })?;
        Ok(Evaluator::Program(Box::new((engine, Limit::nodes(config.nodes)))))
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
            Evaluator::Own(depth) => {
                Source { made_by: format!("cwm's own engine, depth {depth}"), ..Source::default() }
            }
        })
    }

    /// The best move of a position, with what follows it.
    ///
    /// # Errors
    /// The program fails.
    pub fn line(&mut self, question: &Question) -> Result<Line, Failure> {
        match self {
            Evaluator::Program(program) => {
                let (engine, limit) = &mut **program;
                engine.ask(question, limit).map(line)
            }
            Evaluator::Own(depth) => own_line(question, *depth),
        }
    }
}

/// The label of a position: the move that the engine plays, and the last exact score that it reported.
fn line(answer: Answer) -> Line {
    let Answer { best, exact, lines: _ } = answer;
    let score = exact.as_ref().map(|line| line.score);
    let depth = exact.as_ref().map(|line| line.depth);
    // Where the search ended within an iteration, the engine may play another move than that of the last exact line.
    let moves = exact.map(|line| line.moves).filter(|moves| moves.first() == Some(&best)).unwrap_or_else(|| vec![best]);
    Line { score, depth, moves: moves.into_iter().map(|played| PlainMove::from(played).packed()).collect() }
}

/// The first of the moves that our own engine values most.
fn own_line(question: &Question, depth: u32) -> Result<Line, Failure> {
    let position = question.chess();
    let found = candidates(&GameState::from(position.clone()), &position.legal_moves(), depth, 0);
    let best = found.first().ok_or_else(|| Failure::internal(format!("no move is best in `{}`", question.fen())))?;
    let moves = vec![PlainMove::from(best.chosen).packed()];
    Ok(Line { score: Some(score(best.value)), depth: Some(depth), moves })
}

/// A mate in n plies is worth [`MATE`] less n.
fn score(value: i32) -> Score {
    match (MATE - value.abs() + 1) / 2 {
        _ if value.abs() < LEAST_MATE => Score::Centipawns(value),
        moves => Score::Mate(moves * value.signum()),
    }
}
