//! Finds puzzles: their first positions and their solutions.

use cwm_contract::Failure;
use cwm_evaluations::Score;
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Move, Position};

use super::row::Puzzle;
use super::themes::themes;

/// Mate in n moves is worth this, less n; centipawns are worth less.
const MATE: i32 = 30_000;

/// A position with its best lines.
#[derive(Clone, Debug)]
pub struct AnalysedPosition {
    /// The position.
    pub position: Chess,
    /// The first moves of its lines, each with its value for the side to move; the best first, two at most.
    pub moves: Vec<(Move, Option<Score>)>,
    /// Nodes after which the best move did not change any more.
    pub effort: f64,
}

impl AnalysedPosition {
    fn best(&self) -> Option<(Move, i32)> {
        self.moves.first().and_then(|&(best, score)| Some((best, worth(score?))))
    }

    /// The best move and its value, if it wins at least `margin` and all others are at least that much worse.
    fn only(&self, margin: i32) -> Option<(Move, i32)> {
        let (best, value) = self.best()?;
        let second = worth(self.moves.get(1)?.1?);
        (value >= margin && value - second >= margin).then_some((best, value))
    }

    /// The best move, if it mates at once.
    fn mate(&self) -> Option<Move> {
        self.best().filter(|(_, value)| *value == MATE - 1).map(|(best, _)| best)
    }
}

fn worth(score: Score) -> i32 {
    match score {
        Score::Centipawns(value) => value.clamp(10_000 - MATE, MATE - 10_000),
        Score::Mate(moves) if moves > 0 => MATE - moves,
        Score::Mate(moves) => -MATE - moves,
    }
}

/// The puzzle that begins after the mistake `played` in `before`, if there is one: in `after` the mistake has cost at least
/// `margin` centipawns, and one move alone wins as much. It has a second move of the solver's if that is such a move too, or mates.
/// `analyse` gives a position's lines, none where the game is over.
///
/// # Errors
///
/// `analyse` fails.
pub fn find(
    before: &AnalysedPosition,
    played: Move,
    after: &AnalysedPosition,
    margin: i32,
    mut analyse: impl FnMut(&Chess) -> Result<Option<AnalysedPosition>, Failure>,
) -> Result<Option<Puzzle>, Failure> {
    let (Some((_, old)), Some((first, value))) = (before.best(), after.only(margin)) else { return Ok(None) };
    if value + old < margin {
        return Ok(None);
    }
    let mut solution = vec![first];
    let mut effort = after.effort;
    let mut position = after.position.clone();
    position.play_unchecked(first);
    if let Some(reply) = analyse(&position)?.and_then(|lines| lines.best()).map(|(reply, _)| reply) {
        position.play_unchecked(reply);
        let last = analyse(&position)?;
        let second =
            last.as_ref().and_then(|lines| lines.mate().or_else(|| lines.only(margin).map(|(second, _)| second)));
        if let (Some(lines), Some(second)) = (last, second) {
            solution.extend([reply, second]);
            effort = effort.max(lines.effort);
        }
    }
    let moves = std::iter::once(&played).chain(&solution);
    Ok(Some(Puzzle {
        fen: Fen::from_position(&before.position, EnPassantMode::Legal).to_string(),
        moves: moves.map(|one| one.to_uci(CastlingMode::Standard).to_string()).collect(),
        effort,
        themes: themes(&after.position, &solution),
    }))
}
