//! Intervals by the bootstrap: how far each mean would move with other games of the same kind.

use cwm_bootstrap::{Draws, confidence_interval};
use cwm_contract::Failure;

/// Share of the resamples that an interval holds.
const CONFIDENCE: f64 = 0.95;
/// Labels of a position.
const LABELS: f64 = 75.0;
/// Resamples that are summed side by side.
const LANES: usize = 8;

/// What one game adds to one bin. Counts are floats, since they are multiplied and added; they are exact up to 2^53.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GameSums {
    /// Its number in the dataset.
    pub(crate) game: u32,
    pub(crate) positions: f64,
    /// `None` where the scores tell none.
    pub(crate) loss: Option<f64>,
    pub(crate) correct: f64,
    pub(crate) exact: f64,
}

/// The games that reach one bin, by their numbers.
pub(crate) type BinSums = Vec<GameSums>;

/// From low to high; `None` where fewer than two games or resamples tell, or a result is not finite.
pub(crate) type Interval = Option<(f64, f64)>;

/// Intervals of the metrics of a bin, or of all positions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Intervals {
    pub(crate) loss: Interval,
    pub(crate) labelwise: Interval,
    pub(crate) exact: Interval,
}

/// Intervals of everything that one scores file gives.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) overall: Intervals,
    pub(crate) trajectory: Interval,
    /// In the order of the bins.
    pub(crate) bins: Vec<Intervals>,
}

/// The percentile bootstrap: games are drawn anew `resamples` times, and each metric is computed of what was drawn. A
/// resample without any game that reaches a bin says nothing of that bin. `check` is asked now and then.
///
/// # Errors
/// What `check` fails with.
pub(crate) fn spread(
    bins: &[BinSums],
    resamples: u64,
    seed: u64,
    check: &dyn Fn() -> Result<(), Failure>,
) -> Result<Spread, Failure> {
    let mut games: Vec<u32> = bins.iter().flatten().map(|sums| sums.game).collect();
    games.sort_unstable();
    games.dedup();
    let mut is_exact = vec![true; games.len()];
    let mut placed: Vec<Vec<Placed>> = Vec::with_capacity(bins.len());
    for bin in bins {
        let place = |sums: &GameSums| Placed::of(sums, games.partition_point(|game| *game < sums.game));
        let bin: Vec<Placed> = bin.iter().map(place).collect();
        bin.iter().for_each(|sums| is_exact[sums.place] &= sums.exact == sums.positions);
        placed.push(bin);
    }

    let draws = Draws::new(seed, games.len());
    let mut results: Vec<Results> = bins.iter().map(|bin| Results::of(bin.iter())).collect();
    let mut overall = Results::of(bins.iter().flatten());
    overall.games = games.len();
    let mut trajectory = Vec::new();
    let mut drawn = vec![[0.0; LANES]; games.len()];
    for first in (0..resamples).step_by(LANES) {
        check()?;
        let lanes = LANES.min((resamples - first) as usize);
        drawn.fill([0.0; LANES]);
        for (lane, number) in (0..lanes).zip(first..) {
            draws.resample(number, |game| drawn[game][lane] += 1.0);
        }
        let mut all = Totals::default();
        for (bin, results) in placed.iter().zip(&mut results) {
            let totals = Totals::over(bin, &drawn);
            results.add(&totals, lanes);
            all.add(&totals);
        }
        overall.add(&all, lanes);
        for lane in 0..lanes {
            let exact: f64 =
                drawn.iter().zip(&is_exact).filter(|(_, exact)| **exact).map(|(drawn, _)| drawn[lane]).sum();
            trajectory.push(exact / games.len() as f64);
        }
    }
    Ok(Spread {
        trajectory: confidence_interval(&mut trajectory, CONFIDENCE).filter(|_| games.len() > 1),
        overall: overall.intervals(),
        bins: results.into_iter().map(Results::intervals).collect(),
    })
}

/// [`GameSums`] with the game's place among all games; a loss that is not finite or not there counts as 0.
struct Placed {
    place: usize,
    positions: f64,
    loss: f64,
    correct: f64,
    exact: f64,
}

impl Placed {
    fn of(sums: &GameSums, place: usize) -> Self {
        let GameSums { positions, correct, exact, .. } = *sums;
        let loss = sums.loss.filter(|loss| loss.is_finite()).unwrap_or(0.0);
        Placed { place, positions, loss, correct, exact }
    }
}

/// Sums over what each of [`LANES`] resamples drew.
#[derive(Default)]
struct Totals {
    positions: [f64; LANES],
    loss: [f64; LANES],
    correct: [f64; LANES],
    exact: [f64; LANES],
}

impl Totals {
    /// In the order of `games`, whatever else is computed beside it: the same bits everywhere.
    fn over(games: &[Placed], drawn: &[[f64; LANES]]) -> Self {
        let mut totals = Totals::default();
        for game in games {
            let times = &drawn[game.place];
            for lane in 0..LANES {
                totals.positions[lane] += game.positions * times[lane];
                totals.loss[lane] += game.loss * times[lane];
                totals.correct[lane] += game.correct * times[lane];
                totals.exact[lane] += game.exact * times[lane];
            }
        }
        totals
    }

    fn add(&mut self, other: &Totals) {
        for lane in 0..LANES {
            self.positions[lane] += other.positions[lane];
            self.loss[lane] += other.loss[lane];
            self.correct[lane] += other.correct[lane];
            self.exact[lane] += other.exact[lane];
        }
    }
}

/// The metrics of the resamples so far.
struct Results {
    games: usize,
    /// Whether every game tells a finite loss.
    has_loss: bool,
    loss: Vec<f64>,
    labelwise: Vec<f64>,
    exact: Vec<f64>,
}

impl Results {
    fn of<'a>(sums: impl Iterator<Item = &'a GameSums>) -> Self {
        let (mut games, mut has_loss) = (0, true);
        for sums in sums {
            games += 1;
            has_loss &= sums.loss.is_some_and(f64::is_finite);
        }
        Results { games, has_loss, loss: Vec::new(), labelwise: Vec::new(), exact: Vec::new() }
    }

    fn add(&mut self, totals: &Totals, lanes: usize) {
        for lane in (0..lanes).filter(|lane| totals.positions[*lane] > 0.0) {
            let positions = totals.positions[lane];
            self.loss.push(totals.loss[lane] / positions);
            self.labelwise.push(totals.correct[lane] / (LABELS * positions));
            self.exact.push(totals.exact[lane] / positions);
        }
    }

    fn intervals(mut self) -> Intervals {
        // Of one game nothing can be known but itself: every resample that draws it says the same.
        if self.games < 2 {
            return Intervals::default();
        }
        Intervals {
            loss: confidence_interval(&mut self.loss, CONFIDENCE).filter(|_| self.has_loss),
            labelwise: confidence_interval(&mut self.labelwise, CONFIDENCE),
            exact: confidence_interval(&mut self.exact, CONFIDENCE),
        }
    }
}
