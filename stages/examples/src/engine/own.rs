//! Our own engine.

use cwm_contract::Failure;
use cwm_evaluations::Score;
use cwm_game::GameState;
use cwm_search::{Candidate, candidates, values};
use shakmaty::{Chess, Position};

use super::{BestPlay, MoveScore};

/// Our own engine, which keeps nothing from one position to the next.
pub struct OwnEngine {
    /// Plies that it looks ahead before it follows captures.
    pub depth: u32,
}

impl OwnEngine {
    /// The best move, then the best answer, and so on.
    pub fn best_play(&self, position: &Chess, plies: usize) -> Result<BestPlay, Failure> {
        let (first, value) = self.best(position)?;
        let (mut moves, mut reached) = (vec![first], position.clone());
        reached.play_unchecked(first);
        while moves.len() < plies && !reached.legal_moves().is_empty() {
            let (next, _) = self.best(&reached)?;
            moves.push(next);
            reached.play_unchecked(next);
        }
        Ok(BestPlay { moves, value })
    }

    /// The best moves, whose values are exact.
    pub fn best_moves(&self, position: &Chess, count: usize) -> Vec<MoveScore> {
        let game = GameState::from(position.clone());
        values(&game, &position.legal_moves(), self.depth).iter().take(count).map(scored).collect()
    }

    fn best(&self, position: &Chess) -> Result<MoveScore, Failure> {
        let game = GameState::from(position.clone());
        let best = candidates(&game, &position.legal_moves(), self.depth, 0);
        best.first().map(scored).ok_or_else(|| Failure::internal("no move is best"))
    }
}

fn scored(candidate: &Candidate) -> MoveScore {
    (candidate.chosen, candidate.mate().map_or(Score::Centipawns(candidate.value), Score::Mate))
}
