//! A game of random moves, whatever decides how likely each is: to mate, to the first draw that can be claimed, or to
//! a limit of plies.

use cwm_game::{DrawRules, Ending, GameState};
use cwm_random::Random;
use shakmaty::{Move, MoveList};

use crate::move_order;

/// A random game.
pub struct RandomGame {
    /// Its moves.
    pub moves: Vec<Move>,
    /// The rule that ended it; `None` where the limit of plies did.
    pub ending: Option<Ending>,
    /// `1-0`, `0-1`, `1/2-1/2`, or `*` where no rule ended it.
    pub result: &'static str,
}

/// Plays one game of at most `max_plies`. `choose` is called once for each ply, also where there is only one move; it
/// is given the legal moves in python-chess's order, at least one. Without a limit fifty moves end every game at last.
pub fn play<R: Random>(
    random: &mut R,
    max_plies: Option<u32>,
    mut choose: impl FnMut(&GameState, &MoveList, &mut R) -> Move,
) -> RandomGame {
    let mut play = GameState::new();
    let mut moves = Vec::new();
    loop {
        let legal = move_order::legal_moves(play.position());
        if let Some(ending) = play.ending(&legal, DrawRules::Claimable) {
            return RandomGame { moves, ending: Some(ending), result: play.result(ending) };
        }
        if max_plies.is_some_and(|most| moves.len() >= most as usize) {
            return RandomGame { moves, ending: None, result: "*" };
        }
        let m = choose(&play, &legal, random);
        moves.push(m);
        play.play(m);
    }
}
