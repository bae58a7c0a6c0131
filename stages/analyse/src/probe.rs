//! The probe: the openings of two games, with few nodes.

use cwm_chess::sample;
use cwm_contract::{Failure, Label, ProbeContext, ProbeOutput};

use crate::Analyse;

/// Runs `analyse` with the engine of the parameters on two short games.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let folder = context.folder().join("games");
    let games: Vec<_> = sample::games().iter().take(2).map(|game| game[..6].to_vec()).collect();
    sample::write_games(&folder, &games)?;
    let others = [("nodes", context.at_most("nodes", 100)), ("from_ply", context.at_most("from_ply", 4))];
    let values = context.values_with(others);
    context.run(&Analyse, "run", &values, &[("games", Label::stage("corpus"), folder)])
}
