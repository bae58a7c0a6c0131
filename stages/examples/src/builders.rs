//! Builds an example, or an item, of a position.

use cwm_contract::Failure;
use cwm_reasoning::{Example, RandomChoices, VerbalisedSearch, best_line, best_move, factual, verbalised};
use cwm_uci::Limit;
use shakmaty::Chess;

use crate::build_result::{BuildResult, Reason, TreeCounts};
use crate::config::Config;
use crate::engine::{BestPlay, Searcher, in_centipawns};
use crate::guided::guided;
use crate::positions::Place;

/// Lines of a search of `verbalised`.
const LINES: usize = 30;

/// The most plies that `best_line` requests.
const PLIES: usize = 6;

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
pub fn build(config: &Config, place: &Place, searcher: &mut Searcher) -> Result<BuildResult, Failure> {
    let mut draws = RandomChoices::new(&config.builder, config.seed, place.number);
    let (position, form) = (&place.position, config.board());
    let example = |example: Example, tree| BuildResult::Example(Box::new(example.at(place.game, place.ply)), tree);
    let (built, reason) = match config.builder.as_str() {
        "best_move" => {
            let best = place.best.as_ref().ok_or_else(|| Failure::internal("an evaluation has no best move"))?;
            return Ok(example(best_move(position, form, best), TreeCounts::default()));
        }
        "factual" => {
            let weights = config.weights().map_err(Failure::input)?;
            (factual(position, place.values.as_ref(), form, &weights, &mut draws), Reason::FewQuestions)
        }
        "best_line" => {
            let limit = Limit::depth(config.depth());
            let BestPlay { moves, value } = searcher.best_play(position, PLIES, &limit)?;
            let end = |end: &Chess| searcher.best_play(end, 1, &limit).map(|play| play.value);
            (best_line(position, form, &moves, value, &mut draws, end)?, Reason::NoLine)
        }
        "guided" => {
            return Ok(match guided(config, position, searcher, &mut draws)? {
                Ok(item) => BuildResult::Item(Box::new(item)),
                Err(reason) => BuildResult::Nothing(reason),
            });
        }
        _ => return build_verbalised(config, place, searcher, &mut draws),
    };
    Ok(match built {
        Some(built) => example(built, TreeCounts::default()),
        None => BuildResult::Nothing(reason),
    })
}

/// The reason why a verbalised search ends early.
enum Stop {
    Failed(Failure),
    Incomplete,
}

fn build_verbalised(
    config: &Config,
    place: &Place,
    searcher: &mut Searcher,
    draws: &mut RandomChoices,
) -> Result<BuildResult, Failure> {
    let limit = Limit::nodes(config.nodes);
    let lines = |position: &Chess| match searcher.best_moves(position, LINES, &limit) {
        Ok(Some(lines)) => Ok(lines.into_iter().map(in_centipawns).collect()),
        Ok(None) => Err(Stop::Incomplete),
        Err(failure) => Err(Stop::Failed(failure)),
    };
    match verbalised(&place.position, config.board(), config.wording(), draws, lines) {
        Ok(Some(VerbalisedSearch { example, nodes, contradicted })) => {
            Ok(BuildResult::Example(Box::new(example.at(place.game, place.ply)), TreeCounts { nodes, contradicted }))
        }
        Ok(None) => Ok(BuildResult::Nothing(Reason::Draw)),
        Err(Stop::Incomplete) => Ok(BuildResult::Nothing(Reason::Incomplete)),
        Err(Stop::Failed(failure)) => Err(failure),
    }
}
