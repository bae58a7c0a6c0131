//! The interval of a rating, by the bootstrap.

use cwm_bootstrap::{Draws, confidence_interval};

use crate::level::{Level, RatingError, check};
use crate::likeliest::{Points, Rating};

/// The interval of a rating, in Elo. An end that the games do not bound is `None`.
///
/// Displayed as `1700 to 1790`, `< 1790`, `> 1700` or `any rating`, with as many decimals as the format has. Ends are
/// rounded outwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// The interval that holds the share `confidence` (above 0, below 1) of the likeliest ratings of `resamples` resamples. Each
/// draws as many pairs as there are, with replacement, whatever their levels. Arms with as many pairs are drawn alike.
///
/// `pairs` has the results of each pair: of two games of one opening with changed colours. Where games are not played in pairs,
/// each is a pair of its own. Pairs without games are left out. A resample whose games were all lost (or won) is lower (higher)
/// than every rating; an end that is such a resample is not bounded, nor is anything by a single pair. Pairs that are all alike
/// have an interval of no width: resamples have no other results.
///
/// # Errors
/// There are no games, or a level's rating is out of range.
pub fn interval(pairs: &[Vec<Level>], resamples: u64, seed: u64, confidence: f64) -> Result<Interval, RatingError> {
    let levels: Vec<Level> = pairs.iter().flatten().copied().collect();
    check(&levels)?;
    let mut points = Points::without_games(&levels);
    let placed = |level: &Level| (level.games() > 0).then(|| (points.place(level.rating), *level));
    let pairs = pairs.iter().map(|pair| pair.iter().filter_map(placed).collect::<Vec<_>>());
    let pairs: Vec<Vec<(usize, Level)>> = pairs.filter(|pair| !pair.is_empty()).collect();
    if pairs.len() < 2 {
        return Ok(Interval { low: None, high: None });
    }
    let draws = Draws::new(seed, pairs.len());
    let rating = |number| {
        points.clear();
        draws.resample(number, |pair| pairs[pair].iter().for_each(|(place, results)| points.add(*place, results)));
        match points.rating() {
            Rating::Likeliest { rating, .. } => rating,
            Rating::Below(_) => f64::MIN,
            Rating::Above(_) => f64::MAX,
        }
    };
    let ends = confidence_interval(&mut (0..resamples).map(rating).collect::<Vec<_>>(), confidence);
    let bounded = |end: f64| Some(end).filter(|end| end.abs() < f64::MAX);
    Ok(Interval { low: ends.and_then(|(low, _)| bounded(low)), high: ends.and_then(|(_, high)| bounded(high)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likeliest;

    /// Pairs against one level: the wins of each, the other games lost.
    fn pairs(wins: &[u32]) -> Vec<Vec<Level>> {
        wins.iter().map(|&wins| vec![Level { rating: 1_500.0, wins, draws: 0, losses: 2 - wins }]).collect()
    }

    fn of(wins: &[u32]) -> Interval {
        interval(&pairs(wins), 1_000, 0, 0.95).unwrap()
    }

    /// Independent games: the interval is about 2 x 1.96 standard errors wide.
    #[test]
    fn its_width_is_that_of_the_standard_error() {
        // Of 400 games in pairs 100 pairs share the points, 50 are won and 50 lost, as coins fall.
        let wins: Vec<u32> = (0..200).map(|pair| [1, 0, 1, 2][pair % 4]).collect();
        let all: Vec<Level> = pairs(&wins).concat();
        let Rating::Likeliest { rating, standard_error } = likeliest(&all).unwrap() else { panic!("a rating") };
        let Interval { low: Some(low), high: Some(high) } = of(&wins) else { panic!("an interval") };
        assert!(low < rating && rating < high);
        assert!(((high - low) / (3.92 * standard_error) - 1.0).abs() < 0.1, "{low} to {high}, ± {standard_error}");
        assert_eq!(of(&[1; 200]).low, of(&[1; 200]).high, "all pairs are alike");
    }

    #[test]
    fn an_end_without_a_bound_is_open() {
        assert_eq!(of(&[0; 20]), Interval { low: None, high: None });
        let mut wins = [0; 20];
        wins[3] = 1;
        let Interval { low: None, high: Some(high) } = of(&wins) else { panic!("more than a third lost all") };
        assert!(high < 1_500.0);
        let Interval { low: Some(_), high: None } = of(&wins.map(|wins| 2 - wins)) else { panic!("all won") };
        assert_eq!(of(&[1]), Interval { low: None, high: None });
        assert_eq!(interval(&pairs(&[1, 1]), 0, 0, 0.95), Ok(Interval { low: None, high: None }));
        assert_eq!(interval(&[vec![]], 10, 0, 0.95), Err(RatingError::NoGames));
    }

    #[test]
    fn it_depends_on_the_seed_and_not_on_pairs_without_games() {
        let wins: Vec<u32> = (0..50).map(|pair| [1, 0, 2, 0, 0][pair % 5]).collect();
        let mut others = pairs(&wins);
        others.insert(7, vec![]);
        others.insert(9, vec![Level { rating: 900.0, ..Level::default() }]);
        assert_eq!(interval(&others, 1_000, 0, 0.95), Ok(of(&wins)));
        assert_ne!(interval(&others, 1_000, 1, 0.95), Ok(of(&wins)));
    }
}
