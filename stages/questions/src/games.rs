//! Items from games.

use std::path::Path;

use cwm_chess::{GameRow, Games};
use cwm_contract::{Context, Failure};
use cwm_encoding::{PlainMove, legal};
use cwm_questions::Item;
use cwm_questions::build::{Origin, Positions, StateTracking};
use shakmaty::{Chess, Position};

use crate::counts::SourceCounts;

/// Reads games until no task needs more. `positions` is absent where positions are from elsewhere.
pub fn read(
    context: &Context,
    folder: &Path,
    mut positions: Option<Positions>,
    mut tracking: StateTracking,
) -> Result<(Vec<Item>, SourceCounts), Failure> {
    context.activity("reading games");
    let games = Games::open(folder)?;
    let mut counts = SourceCounts::new(["other_rules"]);
    for game in games.iter() {
        context.check_cancelled()?;
        if tracking.is_full() && positions.as_ref().is_none_or(Positions::is_full) {
            break;
        }
        let game = game?;
        let row = game.row();
        counts.count_read();
        context.progress(counts.read(), Some(games.len() as u64), "games");
        if row.labels.is_some() {
            counts.log_dropped("other_rules", &format!("game {} ({:?})", row.index, row.id), context);
            continue;
        }
        tracking.add_candidate(row.id, row.moves)?;
        if let Some(positions) = &mut positions {
            add_positions(positions, &row)?;
        }
    }
    let mut items = positions.map(Positions::finish).unwrap_or_default();
    items.extend(tracking.finish());
    Ok((items, counts))
}

/// Adds the positions after each move of a game.
fn add_positions(positions: &mut Positions, game: &GameRow<'_>) -> Result<(), Failure> {
    let mut position = Chess::default();
    let mut moves = Vec::with_capacity(game.moves.len());
    for &packed in game.moves {
        let plain = PlainMove::from_packed(packed);
        let played = plain.and_then(|plain| legal(&position, plain));
        let (Some(plain), Some(played)) = (plain, played) else {
            let message = format!("move {} of game {} ({:?}) is not legal", moves.len() + 1, game.index, game.id);
            return Err(Failure::input(message));
        };
        position.play_unchecked(played);
        moves.push(plain.to_string());
        positions.add_candidate(&position, Origin::Game { id: game.id, moves: &moves })?;
    }
    Ok(())
}
