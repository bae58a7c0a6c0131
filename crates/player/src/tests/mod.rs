//! Players of every form, with fresh weights or those of the golden model.

mod faults;
mod golden;
mod invariants;

use std::path::Path;

use cwm_contract::Failure;
use cwm_models::device;
use cwm_policy::actions::legal_actions;
use cwm_policy::inputs::board::Board;
use shakmaty::Position;

use super::*;

/// A player of this form with fresh weights.
fn player(form: Form) -> Player {
    let folder = tempfile::tempdir().unwrap();
    let mask = if form == Form::Board { "none" } else { "causal" };
    sample::write_checkpoint(folder.path(), form, "d32/l2", mask, 5).unwrap();
    open(folder.path()).unwrap()
}

fn open(folder: &Path) -> Result<Player, Failure> {
    Player::open(folder, &device::cpu())
}

/// A game of so many plies, each the legal move at a place that varies.
fn game(plies: usize) -> GamePrefix {
    let mut game = GamePrefix::default();
    for ply in 0..plies {
        let legal = game.position().legal_moves();
        game.push(legal[ply * 7 % legal.len()]);
    }
    game
}

/// A question of a game, with one of its legal moves as the right answer.
fn question(player: &Player, game: &GamePrefix, place: usize) -> Question {
    let board = Board::of(game.position()).unwrap();
    let legal = legal_actions(game.position());
    player.question(&board, Some(game), legal[place % legal.len()]).unwrap()
}
