//! Means and their intervals, by the bootstrap over games.

use cwm_bootstrap::{Draws, confidence_interval};

/// The share of resamples within an interval.
pub const CONFIDENCE: f64 = 0.95;

/// A mean over positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Its interval by the bootstrap over games; `None` of a single game, and where a resample has no position.
    pub interval: Option<(f64, f64)>,
    /// Positions in the mean.
    pub positions: u64,
    /// Games that they are from; positions without games count as one each.
    pub games: u64,
}

/// The games that each resample draws, the same for all means over the same games.
#[derive(Clone, Debug)]
pub struct Resamples {
    number: usize,
    /// The number of times that each resample draws a game, game by game.
    times: Vec<u8>,
}

impl Resamples {
    /// Draws `number` resamples of `games` games.
    pub fn draw(games: usize, number: u64, seed: u64) -> Self {
        let draws = Draws::new(seed, games);
        let number_of = number as usize;
        let mut times = vec![0u8; games * number_of];
        for resample in 0..number_of {
            // A game is drawn once on average; more than 255 times is out of reach.
            draws.resample(resample as u64, |game| {
                let times = &mut times[game * number_of + resample];
                *times = times.saturating_add(1);
            });
        }
        Resamples { number: number_of, times }
    }

    /// The mean of values, each with the place of its game, in the order of the places; `None` without values.
    pub fn estimate(&self, values: impl Iterator<Item = (usize, f64)>) -> Option<Estimate> {
        // Sum and number of values of each game.
        let mut games: Vec<(usize, f64, f64)> = Vec::new();
        for (game, value) in values {
            match games.last_mut() {
                Some((last, sum, number)) if *last == game => (*sum, *number) = (*sum + value, *number + 1.0),
                _ => games.push((game, value, 1.0)),
            }
        }
        let (sum, number) = games.iter().fold((0.0, 0.0), |(sum, number), game| (sum + game.1, number + game.2));
        let mut drawn = vec![(0.0, 0.0); self.number];
        for (game, sum, number) in &games {
            let times = &self.times[game * self.number..][..self.number];
            for (drawn, times) in drawn.iter_mut().zip(times) {
                let times = f64::from(*times);
                *drawn = (drawn.0 + times * sum, drawn.1 + times * number);
            }
        }
        let mut means: Vec<f64> = drawn.into_iter().map(|(sum, number)| sum / number).collect();
        let interval = if games.len() < 2 { None } else { confidence_interval(&mut means, CONFIDENCE) };
        let estimate = Estimate { mean: sum / number, interval, positions: number as u64, games: games.len() as u64 };
        (number > 0.0).then_some(estimate)
    }
}
