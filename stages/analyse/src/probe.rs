//! The probe: the openings of two games, or a few placed positions, with few nodes.

use cwm_chess::sample;
use cwm_contract::{Failure, Label, ProbeContext, ProbeOutput, Value};

use crate::Analyse;

/// Runs `analyse` with the engine of the parameters on two short games, or without games.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let of = |name: &str| context.values().get(name).cloned().unwrap_or_default();
    let nodes = ("nodes", context.at_most("nodes", 100));
    if of("place") != Value::Null {
        let values = context.values_with([nodes, ("place", context.at_most("place", 20))]);
        return context.run(&Analyse, "run", &values, &[]);
    }
    let folder = context.folder().join("games");
    let games: Vec<_> = sample::games().iter().take(2).map(|game| game[..6].to_vec()).collect();
    sample::write_games(&folder, &games)?;
    // The openings have no other full moves, and all pieces.
    let shares =
        Value::Map([("1-1", 0.5), ("2-4", 0.5)].map(|(name, share)| (name.to_owned(), Value::Float(share))).into());
    let is_drawn = matches!(of("fullmoves"), Value::Map(wanted) if !wanted.is_empty());
    let fullmoves = if is_drawn { shares } else { of("fullmoves") };
    let others =
        [nodes, ("from_ply", context.at_most("from_ply", 4)), ("fullmoves", fullmoves), ("max_pieces", Value::Int(32))];
    context.run(&Analyse, "run", &context.values_with(others), &[("games", Label::stage("corpus"), folder)])
}
