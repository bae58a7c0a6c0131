//! What is built of a position.

use cwm_contract::Failure;
use cwm_evaluations::Score;
use cwm_reasoning::{Draws, Example, MATE, ScoredMove, Verbalised, best_line, best_move, factual, verbalised};
use serde::{Deserialize, Serialize};
use shakmaty::Chess;

use crate::config::Config;
use crate::engine::{BestPlay, Scored, Searcher};
use crate::positions::Place;

/// Lines of a search of `verbalised`.
pub const LINES: usize = 30;

/// The most plies that `best_line` asks for.
const PLIES: usize = 6;

/// What was built of a position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Built {
    /// An example, which has no id yet.
    Example(Box<Example>, Tree),
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
    /// It has no best move.
    NoBestMove,
    /// The line is too short, or a mate is seen and not reached.
    NoLine,
    /// There are fewer questions than were drawn.
    FewQuestions,
    /// By the rules the game can be claimed as a draw.
    Draw,
    /// The engine left out moves.
    Incomplete,
}

impl Reason {
    /// All of them.
    pub const ALL: [Reason; 5] =
        [Reason::NoBestMove, Reason::NoLine, Reason::FewQuestions, Reason::Draw, Reason::Incomplete];

    /// Its name in counts.
    pub fn name(self) -> &'static str {
        match self {
            Reason::NoBestMove => "no_best_move",
            Reason::NoLine => "no_line",
            Reason::FewQuestions => "few_questions",
            Reason::Draw => "draw",
            Reason::Incomplete => "incomplete",
        }
    }
}

/// Builds an example of a position.
///
/// # Errors
/// The engine fails.
pub fn build(config: &Config, place: &Place, searcher: &mut Searcher) -> Result<Built, Failure> {
    let mut draws = Draws::new(&config.builder, config.seed, place.number);
    let (position, form) = (&place.position, config.board());
    let (built, reason) = match config.builder.as_str() {
        "best_move" => (place.best.as_ref().map(|best| best_move(position, form, best)), Reason::NoBestMove),
        "factual" => (factual(position, form, &mut draws), Reason::FewQuestions),
        "best_line" => {
            let BestPlay { moves, value } = searcher.best_play(position, PLIES)?;
            let end = |end: &Chess| searcher.best_play(end, 1).map(|play| play.value);
            (best_line(position, form, &moves, value, &mut draws, end)?, Reason::NoLine)
        }
        _ => return searched(config, place, searcher, &mut draws),
    };
    Ok(match built {
        Some(example) => Built::Example(Box::new(example.at(place.game, place.ply)), Tree::default()),
        None => Built::Nothing(reason),
    })
}

/// Why a verbalised search ends.
enum Stop {
    Failed(Failure),
    Incomplete,
}

fn searched(config: &Config, place: &Place, searcher: &mut Searcher, draws: &mut Draws) -> Result<Built, Failure> {
    let lines = |position: &Chess| match searcher.best_moves(position, LINES) {
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

fn in_centipawns((played, score): Scored) -> ScoredMove {
    let centipawns = match score {
        Score::Centipawns(centipawns) => centipawns,
        Score::Mate(moves) => MATE * moves.signum(),
    };
    ScoredMove { played, centipawns }
}
