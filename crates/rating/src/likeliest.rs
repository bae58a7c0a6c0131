//! The rating by maximum likelihood.

use crate::level::{Level, RATING_LIMIT, RatingError, check, expected, odds};

/// The probability of the results at the bound that [`Rating::Below`] or [`Rating::Above`] gives.
pub const CHANCE: f64 = 0.05;

/// Ratings are found to this many Elo.
const PRECISION: f64 = 1e-9;

/// A rating, or a bound of it where all games were lost or won. It is finite.
///
/// Displayed as `1742`, `< 1742` and `> 1742`, with as many decimals as the format has. Bounds are rounded outwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rating {
    /// The likeliest rating.
    Likeliest {
        /// The rating, in Elo.
        rating: f64,
        /// One standard error, in Elo, from the curvature of the likelihood.
        standard_error: f64,
    },
    /// All games were lost. A player of this rating, in Elo, loses all of them with probability [`CHANCE`].
    Below(f64),
    /// All games were won. A player of this rating, in Elo, wins all of them with probability [`CHANCE`].
    Above(f64),
}

/// The rating at which the results against `levels` are likeliest, if a draw is half a win and half a loss: there the expected
/// points equal those that were made. The order of the levels makes no difference, not even in the last bit.
///
/// # Errors
/// There are no games, or a level's rating is out of range.
pub fn likeliest(levels: &[Level]) -> Result<Rating, RatingError> {
    check(levels)?;
    let mut points = Points::without_games(levels);
    levels.iter().for_each(|level| points.add(points.place(level.rating), level));
    Ok(points.rating())
}

/// The Elo by which its results place the player above the level, with the bounds of [`likeliest`].
///
/// # Errors
/// There are no games.
pub fn difference(level: &Level) -> Result<Rating, RatingError> {
    likeliest(&[Level { rating: 0.0, ..*level }])
}

/// The points of the player and of its opponents against each rating. They are whole halves, so sums are exact.
#[derive(Clone, Debug)]
pub(crate) struct Points(Vec<RatingPoints>);

/// One rating's share.
#[derive(Clone, Copy, Debug)]
struct RatingPoints {
    rating: f64,
    won: f64,
    lost: f64,
}

impl Points {
    /// A place for each rating of `levels`, in rising order.
    pub fn without_games(levels: &[Level]) -> Self {
        let mut ratings: Vec<f64> = levels.iter().map(|level| level.rating).collect();
        ratings.sort_unstable_by(f64::total_cmp);
        ratings.dedup();
        Points(ratings.into_iter().map(|rating| RatingPoints { rating, won: 0.0, lost: 0.0 }).collect())
    }

    /// The place of a rating.
    pub fn place(&self, rating: f64) -> usize {
        self.0.partition_point(|against| against.rating < rating)
    }

    /// Adds results to those of a place.
    pub fn add(&mut self, place: usize, results: &Level) {
        self.0[place].won += results.points();
        self.0[place].lost += results.points_lost();
    }

    /// Removes all results.
    pub fn clear(&mut self) {
        for against in &mut self.0 {
            (against.won, against.lost) = (0.0, 0.0);
        }
    }

    fn sum(&self, of: impl Fn(&RatingPoints) -> f64) -> f64 {
        self.0.iter().map(of).sum()
    }

    /// The likeliest rating; there is at least one game.
    pub fn rating(&self) -> Rating {
        let (won, lost) = (self.sum(|against| against.won), self.sum(|against| against.lost));
        // At such a distance from all levels either side expects less than a hundredth of a point.
        let far = RATING_LIMIT + 400.0 * libm::log10(100.0 * (won + lost) + 100.0);
        let most = -libm::log(CHANCE);
        if won == 0.0 {
            let unlikely = |at: f64| self.sum(|against| against.lost * libm::log1p(odds(at - against.rating)));
            return Rating::Below(bisect(far, |at| unlikely(at) < most));
        }
        if lost == 0.0 {
            let unlikely = |at: f64| self.sum(|against| against.won * libm::log1p(odds(against.rating - at)));
            return Rating::Above(bisect(far, |at| unlikely(at) > most));
        }
        // The derivative of the likelihood's logarithm. Two sums of positive terms lose no digits where E is almost 0 or 1.
        let above = |at: f64| self.sum(|against| against.won * expected(against.rating, at));
        let below = |at: f64| self.sum(|against| against.lost * expected(at, against.rating));
        let rating = bisect(far, |at| above(at) > below(at));
        let variance = |against: &RatingPoints| {
            (against.won + against.lost) * expected(rating, against.rating) * expected(against.rating, rating)
        };
        let standard_error = 400.0 / std::f64::consts::LN_10 / self.sum(variance).sqrt();
        Rating::Likeliest { rating, standard_error }
    }
}

/// The point between `-far` and `far` at which `is_too_low` changes from true to false.
fn bisect(far: f64, is_too_low: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (-far, far);
    while high - low > PRECISION {
        let middle = f64::midpoint(low, high);
        *(if is_too_low(middle) { &mut low } else { &mut high }) = middle;
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The rating or bound.
    fn elo(rating: Rating) -> f64 {
        match rating {
            Rating::Likeliest { rating, .. } | Rating::Below(rating) | Rating::Above(rating) => rating,
        }
    }

    fn level(rating: f64, wins: u32, draws: u32, losses: u32) -> Level {
        Level { rating, wins, draws, losses }
    }

    #[test]
    fn a_difference_has_a_closed_form() {
        for (wins, draws, losses) in [(1, 0, 1), (3, 0, 1), (17, 3, 80), (0, 1, 999), (u32::MAX, 1, 0)] {
            let level = level(2_000.0, wins, draws, losses);
            let odds = level.points() / level.points_lost();
            let difference = elo(difference(&level).unwrap());
            assert!((difference - 400.0 * odds.log10()).abs() < 1e-8, "{level:?}: {difference}");
        }
        assert_eq!(difference(&level(1.0, 0, 0, 0)), Err(RatingError::NoGames));
    }

    #[test]
    fn at_a_bound_what_was_seen_has_the_probability_0_05() {
        for games in [1, 20, 1_000, u32::MAX] {
            // E = 1 - 0.05^(1/N), written without loss of digits.
            let expected = -(0.05f64.ln() / f64::from(games)).exp_m1();
            let distance = 400.0 * (expected / (1.0 - expected)).log10();
            let Rating::Below(below) = likeliest(&[level(1_320.0, 0, 0, games)]).unwrap() else { panic!("all lost") };
            let Rating::Above(above) = likeliest(&[level(1_320.0, games, 0, 0)]).unwrap() else { panic!("all won") };
            assert!((below - 1_320.0 - distance).abs() < 1e-8, "{games}: {below}");
            assert!((above - 1_320.0 + distance).abs() < 1e-8, "{games}: {above}");
        }
        let Rating::Below(bound) = likeliest(&[level(1_320.0, 0, 0, 20), level(1_467.0, 0, 0, 30)]).unwrap() else {
            panic!("all lost")
        };
        let chance = (1.0 - expected(bound, 1_320.0)).powi(20) * (1.0 - expected(bound, 1_467.0)).powi(30);
        assert!((chance - CHANCE).abs() < 1e-9, "{chance}");
    }

    fn levels() -> impl Strategy<Value = Vec<Level>> {
        let count = || prop_oneof![Just(0), 0u32..5, 0u32..2_000, Just(u32::MAX)];
        let rating = prop_oneof![-RATING_LIMIT..=RATING_LIMIT, 1_300f64..2_800.0, Just(1_742.0), Just(-0.0), Just(0.0)];
        let level = (rating, count(), count(), count()).prop_map(|(rating, w, d, l)| level(rating, w, d, l));
        let played = |levels: &Vec<Level>| levels.iter().any(|level| level.games() > 0);
        prop::collection::vec(level, 1..12).prop_filter("games", played)
    }

    proptest! {
        #[test]
        fn every_rating_is_finite(levels in levels()) {
            let rating = likeliest(&levels).unwrap();
            prop_assert!(elo(rating).abs() < RATING_LIMIT + 6_000.0, "{rating:?}");
            if let Rating::Likeliest { standard_error, .. } = rating {
                prop_assert!(standard_error > 0.0 && standard_error.is_finite(), "{rating:?}");
            }
            let won: f64 = levels.iter().map(Level::points).sum();
            let lost: f64 = levels.iter().map(Level::points_lost).sum();
            prop_assert_eq!(matches!(rating, Rating::Below(_)), won == 0.0);
            prop_assert_eq!(matches!(rating, Rating::Above(_)), lost == 0.0);
        }

        #[test]
        fn the_order_of_levels_makes_no_difference((levels, other) in levels().prop_flat_map(|levels| {
            (Just(levels.clone()), Just(levels).prop_shuffle())
        })) {
            prop_assert_eq!(likeliest(&levels), likeliest(&other));
        }

        #[test]
        fn a_level_in_two_rows_is_one_level(levels in levels(), at: prop::sample::Index) {
            let (mut other, at) = (levels.clone(), at.index(levels.len()));
            other[at].losses -= levels[at].losses / 3;
            other.push(Level { losses: levels[at].losses / 3, wins: 0, draws: 0, ..levels[at] });
            prop_assert_eq!(likeliest(&levels), likeliest(&other));
        }

        #[test]
        fn a_better_result_never_lowers_the_rating(levels in levels(), at: prop::sample::Index, change in 0..5) {
            let at = at.index(levels.len());
            let mut better = levels.clone();
            let Level { wins, draws, losses, .. } = &mut better[at];
            let (from, to) = match change {
                0 => (Some(losses), Some(wins)),
                1 => (Some(losses), Some(draws)),
                2 => (Some(draws), Some(wins)),
                3 => (Some(losses), None),
                _ => (None, Some(wins)),
            };
            prop_assume!(from.as_ref().is_none_or(|from| **from > 0) && to.as_ref().is_none_or(|to| **to < u32::MAX));
            from.into_iter().for_each(|from| *from -= 1);
            to.into_iter().for_each(|to| *to += 1);
            prop_assume!(better.iter().any(|level| level.games() > 0));
            let (before, after) = (likeliest(&levels).unwrap(), likeliest(&better).unwrap());
            // A bound and a rating say different things: only their order of kinds is compared.
            let kind = |rating| match rating { Rating::Below(_) => 0, Rating::Likeliest { .. } => 1, Rating::Above(_) => 2 };
            prop_assert!(kind(before) <= kind(after), "{before:?}, {after:?}");
            if kind(before) == kind(after) {
                prop_assert!(elo(after) >= elo(before) - 1e-6, "{before:?}, {after:?}");
            }
        }
    }
}
