//! The results against one level.

/// The results of a player against opponents of one rating.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Level {
    /// The opponents' rating, in Elo: at most [`RATING_LIMIT`] from 0.
    pub rating: f64,
    /// Games that the player won.
    pub wins: u32,
    /// Games that were drawn.
    pub draws: u32,
    /// Games that the player lost.
    pub losses: u32,
}

/// Ratings of levels are at most this far from 0, in Elo. So every result of this crate is finite.
pub const RATING_LIMIT: f64 = 10_000.0;

/// The reason why there is no rating.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RatingError {
    /// There are no games.
    #[error("a rating needs at least one game")]
    NoGames,
    /// A level's rating is too far from 0, or not a number.
    #[error("a level has the rating {0}: give it a number from -{RATING_LIMIT} to {RATING_LIMIT}")]
    LevelRating(f64),
}

impl Level {
    /// The number of games.
    pub fn games(&self) -> u64 {
        [self.wins, self.draws, self.losses].map(u64::from).iter().sum()
    }

    /// The points a game, from 0 to 1: a win is a point, a draw half a point. `None` without games.
    pub fn score(&self) -> Option<f64> {
        (self.games() > 0).then(|| self.points() / self.games() as f64)
    }

    /// The player's points.
    pub(crate) fn points(&self) -> f64 {
        f64::from(self.wins) + 0.5 * f64::from(self.draws)
    }

    /// The opponents' points.
    pub(crate) fn points_lost(&self) -> f64 {
        f64::from(self.losses) + 0.5 * f64::from(self.draws)
    }
}

/// Checks that all of `levels` have a possible rating, and one of them games.
pub(crate) fn check(levels: &[Level]) -> Result<(), RatingError> {
    match levels.iter().find(|level| level.rating.is_nan() || level.rating.abs() > RATING_LIMIT) {
        Some(level) => Err(RatingError::LevelRating(level.rating)),
        None if levels.iter().all(|level| level.games() == 0) => Err(RatingError::NoGames),
        None => Ok(()),
    }
}

/// The odds against the weaker of two that are `distance` Elo apart; below 1 if `distance` is negative.
pub(crate) fn odds(distance: f64) -> f64 {
    // Not the C library's, so that each machine computes the same bits.
    libm::pow(10.0, distance / 400.0)
}

/// The points that a player of `rating` is expected to make in a game against `opponent`.
pub(crate) fn expected(rating: f64, opponent: f64) -> f64 {
    1.0 / (1.0 + odds(opponent - rating))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_points_by_games() {
        assert_eq!(Level { wins: 1, draws: 1, losses: 2, ..Level::default() }.score(), Some(0.375));
        assert_eq!(Level::default().score(), None);
    }

    #[test]
    fn what_has_no_rating_is_refused_in_words() {
        let level = |rating| Level { rating, wins: 1, ..Level::default() };
        assert_eq!(check(&[level(-RATING_LIMIT), level(RATING_LIMIT)]), Ok(()));
        assert_eq!(check(&[]), Err(RatingError::NoGames));
        assert_eq!(check(&[Level::default()]), Err(RatingError::NoGames));
        assert!(matches!(check(&[level(0.0), level(f64::NAN)]), Err(RatingError::LevelRating(_))));
        let error = check(&[level(10_001.0)]).unwrap_err().to_string();
        assert_eq!(error, "a level has the rating 10001: give it a number from -10000 to 10000");
    }
}
