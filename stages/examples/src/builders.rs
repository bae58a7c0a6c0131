//! What is built of a position.

use cwm_contract::Failure;
use cwm_evaluations::Score;
use cwm_questions::Item;
use cwm_reasoning::{Draws, Example, MATE, ScoredMove, Verbalised, best_line, best_move, factual, verbalised};
use cwm_uci::Limit;
use serde::{Deserialize, Serialize};
use shakmaty::Chess;

use crate::config::Config;
use crate::engine::{BestPlay, Scored, Searcher};
use crate::guided::guided;
use crate::positions::Place;

/// Lines of a search of `verbalised`.
const LINES: usize = 30;

/// The most plies that `best_line` asks for.
const PLIES: usize = 6;

/// What was built of a position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Built {
    /// An example, which has no id yet.
    Example(Box<Example>, Tree),
    /// An item of `guided`, which has no `task_id` yet.
    Item(Box<Item>),
    /// Nothing, for this reason.
    Nothing(Reason),
}

/// The nodes of a verbalised search, and those whose minimax contradicts their value; none of other builders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tree {
    /// Nodes.
    pub nodes: usize,
    /// Nodes with a contradiction.
    pub contradicted: usize,
}

/// Why nothing was built of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The line is too short, or a mate is seen and not reached.
    NoLine,
    /// There are fewer questions than were drawn.
    FewQuestions,
    /// By the rules the game can be claimed as a draw.
    Draw,
    /// The engine left out moves.
    Incomplete,
    /// No line is one to explain.
    NotExplained,
}

impl Reason {
    /// All of them.
    pub const ALL: [Reason; 5] =
        [Reason::NoLine, Reason::FewQuestions, Reason::Draw, Reason::Incomplete, Reason::NotExplained];

    /// Its name in counts.
    pub fn name(self) -> &'static str {
        match self {
            Reason::NoLine => "no_line",
            Reason::FewQuestions => "few_questions",
            Reason::Draw => "draw",
            Reason::Incomplete => "incomplete",
            Reason::NotExplained => "not_explained",
        }
    }
}

/// The lines of the first search of a position.
pub fn lines_at_first(config: &Config) -> usize {
    match config.builder.as_str() {
        "verbalised" => LINES,
        "guided" => config.mode().search().first_moves,
        _ => 1,
    }
}

/// Builds an example, or an item, of a position.
///
/// # Errors
/// The engine fails.
pub fn build(config: &Config, place: &Place, searcher: &mut Searcher) -> Result<Built, Failure> {
    let mut draws = Draws::new(&config.builder, config.seed, place.number);
    let (position, form) = (&place.position, config.board());
    let example = |example: Example, tree| Built::Example(Box::new(example.at(place.game, place.ply)), tree);
    let (built, reason) = match config.builder.as_str() {
        "best_move" => {
            let best = place.best.as_ref().ok_or_else(|| Failure::internal("an evaluation has no best move"))?;
            return Ok(example(best_move(position, form, best), Tree::default()));
        }
        "factual" => {
            let tickets = config.tickets().map_err(Failure::input)?;
            (factual(position, place.values.as_ref(), form, &tickets, &mut draws), Reason::FewQuestions)
        }
        "best_line" => {
            let limit = Limit::depth(config.depth());
            let BestPlay { moves, value } = searcher.best_play(position, PLIES, &limit)?;
            let end = |end: &Chess| searcher.best_play(end, 1, &limit).map(|play| play.value);
            (best_line(position, form, &moves, value, &mut draws, end)?, Reason::NoLine)
        }
        "guided" => {
            return Ok(match guided(config, position, searcher, &mut draws)? {
                Ok(item) => Built::Item(Box::new(item)),
                Err(reason) => Built::Nothing(reason),
            });
        }
        _ => return searched(config, place, searcher, &mut draws),
    };
    Ok(match built {
        Some(built) => example(built, Tree::default()),
        None => Built::Nothing(reason),
    })
}

/// Why a verbalised search ends.
enum Stop {
    Failed(Failure),
    Incomplete,
}

fn searched(config: &Config, place: &Place, searcher: &mut Searcher, draws: &mut Draws) -> Result<Built, Failure> {
    let limit = Limit::nodes(config.nodes);
    let lines = |position: &Chess| match searcher.best_moves(position, LINES, &limit) {
        Ok(Some(lines)) => Ok(lines.into_iter().map(in_centipawns).collect()),
        Ok(None) => Err(Stop::Incomplete),
        Err(failure) => Err(Stop::Failed(failure)),
    };
    match verbalised(&place.position, config.board(), config.wording(), draws, lines) {
        Ok(Some(Verbalised { example, nodes, contradicted })) => {
            Ok(Built::Example(Box::new(example.at(place.game, place.ply)), Tree { nodes, contradicted }))
        }
        Ok(None) => Ok(Built::Nothing(Reason::Draw)),
        Err(Stop::Incomplete) => Ok(Built::Nothing(Reason::Incomplete)),
        Err(Stop::Failed(failure)) => Err(failure),
    }
}

/// A move with its value in centipawns; a mate is worth [`MATE`].
pub fn in_centipawns((played, score): Scored) -> ScoredMove {
    ScoredMove { played, centipawns: centipawns(score) }
}

/// A value in centipawns; a mate is worth [`MATE`].
pub fn centipawns(score: Score) -> i32 {
    match score {
        Score::Centipawns(centipawns) => centipawns,
        Score::Mate(moves) => MATE * moves.signum(),
    }
}
