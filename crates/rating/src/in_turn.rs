//! The paper's rule.

use crate::level::{Level, RatingError, check, expected};

/// The rating before the first level, in Elo.
pub const START: f64 = 1300.0;

/// Elo for each point above or below the expected ones.
pub const STEP: f64 = 16.0;

/// The points of a draw in the paper.
pub const PAPERS_DRAW: f64 = 0.9;

/// The paper's rating after each of `levels`, in Elo; the last one is the result. A draw is worth `draw` points:
/// [`PAPERS_DRAW`], or the usual 0.5.
///
/// The rule, R ← R + 16 (W + `draw` D - N E), corrects the rating once a level by all of its N games. So the result depends on
/// the order of the levels, and with many games a level it oscillates without bound; the paper's order is the weakest
/// level first.
///
/// # Errors
/// There are no games, or a level's rating is out of range.
pub fn in_turn(levels: &[Level], draw: f64) -> Result<Vec<f64>, RatingError> {
    check(levels)?;
    let mut rating = START;
    let after = |level: &Level| {
        let points = f64::from(level.wins) + draw * f64::from(level.draws);
        rating += STEP * (points - level.games() as f64 * expected(rating, level.rating));
        rating
    };
    Ok(levels.iter().map(after).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_games_against_an_equal_change_nothing() {
        let level = Level { rating: START, wins: 3, draws: 0, losses: 3 };
        assert_eq!(in_turn(&[level, Level::default()], PAPERS_DRAW), Ok(vec![START, START]));
        let drawn = Level { rating: START, wins: 0, draws: 10, losses: 0 };
        assert_eq!(in_turn(&[drawn], 0.5), Ok(vec![START]));
        assert_eq!(in_turn(&[drawn], PAPERS_DRAW), Ok(vec![START + 64.0]));
        assert_eq!(in_turn(&[], 0.5), Err(RatingError::NoGames));
    }
}
