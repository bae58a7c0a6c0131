//! The probe: the sample's games, each a second time with its first and third move in each other's place where that is legal,
//! and all of them cut to a few plies, so that classes of both kinds of sequences exist.

use cwm_chess::sample;
use cwm_contract::{Failure, Label, ProbeContext, ProbeOutput};
use cwm_encoding::{PlainMove, legal};
use shakmaty::{Chess, Position};

use crate::Transpositions;

/// Runs `transpositions` on made-up games.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let games = context.folder().join("games");
    sample::write_dataset(&games, &games_with_transpositions())?;
    let inputs = [("games", Label::stage("tokens"), games)];
    context.run(&Transpositions, "run", context.values(), &inputs)
}

/// Games of which many end in the same position.
pub fn games_with_transpositions() -> Vec<Vec<PlainMove>> {
    let mut games = Vec::new();
    for game in sample::games() {
        for first in 0..game.len().min(16).saturating_sub(2) {
            let mut other = game.clone();
            other.swap(first, first + 2);
            other.truncate(first + 3);
            if is_legal(&other) {
                games.push(other);
                games.push(game[..first + 3].to_vec());
            }
        }
        games.push(game);
    }
    games
}

fn is_legal(game: &[PlainMove]) -> bool {
    let mut position = Chess::default();
    game.iter().all(|&plain| legal(&position, plain).map(|played| position.play_unchecked(played)).is_some())
}
