//! The lines that a teacher explains: a drawn first move, then best play of the engine.

use cwm_contract::Failure;
use cwm_questions::Item;
use cwm_reasoning::{GuidedLine, GuidedSearch, MATE, RandomChoices, guided_item};
use cwm_uci::Limit;
use shakmaty::{Chess, Move, Position};

use crate::build_result::Reason;
use crate::config::Config;
use crate::engine::{Searcher, centipawns, in_centipawns};

/// The item about a position: of the first move, in the order in which they are drawn, whose line is to be explained.
///
/// # Errors
/// The engine fails.
pub fn guided(
    config: &Config,
    position: &Chess,
    searcher: &mut Searcher,
    draws: &mut RandomChoices,
) -> Result<Result<Item, Reason>, Failure> {
    let mode = config.mode();
    let search = mode.search();
    let first_limit = Limit::depth(search.first_depth as u8);
    let Some(lines) = searcher.best_moves(position, search.first_moves, &first_limit)? else {
        return Ok(Err(Reason::Incomplete));
    };
    let lines: Vec<_> = lines.into_iter().map(in_centipawns).collect();
    let Some(start) = lines.iter().map(|line| line.centipawns).max() else { return Ok(Err(Reason::Incomplete)) };
    for first in mode.first_moves(&lines, draws) {
        let (moves, end) = line(position, first, &search, searcher)?;
        let gain = value(position, &end, searcher, &first_limit)? - start;
        if mode.keeps(gain) {
            let mut after = position.clone();
            after.play_unchecked(first);
            let first_gain = value(position, &after, searcher, &first_limit)? - start;
            let item = guided_item(position, config.board(), mode, &GuidedLine { moves, first_gain, gain });
            return Ok(item.ok_or(Reason::NotExplained));
        }
    }
    Ok(Err(Reason::NotExplained))
}

/// The line that begins with a move, and the position at its end.
fn line(
    position: &Chess,
    first: Move,
    search: &GuidedSearch,
    searcher: &mut Searcher,
) -> Result<(Vec<Move>, Chess), Failure> {
    let (mut moves, mut reached) = (vec![first], position.clone());
    reached.play_unchecked(first);
    while moves.len() < search.plies && !reached.is_game_over() {
        let depth = if moves.len().is_multiple_of(2) { search.own_depth } else { search.opponent_depth };
        let play = searcher.best_play(&reached, 1, &Limit::depth(depth as u8))?;
        let Some(&next) = play.moves.first() else { break };
        moves.push(next);
        reached.play_unchecked(next);
    }
    Ok((moves, reached))
}

/// The value of a position for the side to move in `start`, in centipawns.
fn value(start: &Chess, reached: &Chess, searcher: &mut Searcher, limit: &Limit) -> Result<i32, Failure> {
    let of_mover = if reached.is_checkmate() {
        -MATE
    } else if reached.is_game_over() {
        0
    } else {
        centipawns(searcher.best_play(reached, 1, limit)?.value)
    };
    Ok(if reached.turn() == start.turn() { of_mover } else { -of_mover })
}
