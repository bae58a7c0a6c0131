//! Intervals by the bootstrap: how far each mean would move with other games of the same kind.

use cwm_bootstrap::{Addend, Draws, LANES, Lanes, confidence_interval, totals};
use cwm_contract::Failure;
use cwm_scores::metrics::{self, GAME_METRICS, METRICS};

/// Share of the resamples that an interval holds.
const CONFIDENCE: f64 = 0.95;
/// Positions, and the sum of each metric.
const SUMS: usize = 1 + METRICS;

/// The sums that one game adds to one bin. Counts are floats, since they are multiplied and added; they are exact up to
/// 2^53.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GameSums {
    /// Its number in the dataset.
    pub(crate) game: u32,
    pub(crate) positions: f64,
    /// In the order of [`metrics::ALL`]; `None` where the scores have none.
    pub(crate) sums: [Option<f64>; METRICS],
}

/// The games that reach one bin, by their numbers.
pub(crate) type BinSums = Vec<GameSums>;

/// An interval from low to high; `None` if there are fewer than two games or resamples, or a result is not finite.
pub(crate) type Interval = Option<(f64, f64)>;

/// Intervals of the metrics of a bin, or of all positions, in the order of [`metrics::ALL`].
pub(crate) type Intervals = [Interval; METRICS];

/// Intervals of everything that one scores file gives.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ScoreIntervals {
    pub(crate) overall: Intervals,
    /// In the order of [`metrics::OF_GAMES`].
    pub(crate) of_games: [Interval; GAME_METRICS],
    /// In the order of the bins.
    pub(crate) bins: Vec<Intervals>,
}

/// The percentile bootstrap: games are drawn anew `resamples` times, and each metric is computed of what was drawn. A
/// resample without any game that reaches a bin does not count for that bin. `check` is called now and then.
///
/// # Errors
/// The error of `check`.
pub(crate) fn bootstrap_intervals(
    bins: &[BinSums],
    resamples: u64,
    seed: u64,
    check: &dyn Fn() -> Result<(), Failure>,
) -> Result<ScoreIntervals, Failure> {
    let mut games: Vec<u32> = bins.iter().flatten().map(|sums| sums.game).collect();
    games.sort_unstable();
    games.dedup();
    // Of each metric of games, which games count.
    let mut is_whole = metrics::OF_GAMES.map(|_| vec![true; games.len()]);
    let mut placed: Vec<Vec<Addend<SUMS>>> = Vec::with_capacity(bins.len());
    for bin in bins {
        let place = |sums: &GameSums| addend(sums, games.partition_point(|game| *game < sums.game));
        let addends: Vec<_> = bin.iter().map(place).collect();
        for (addend, sums) in addends.iter().zip(bin) {
            for (is_whole, metric) in is_whole.iter_mut().zip(&metrics::OF_GAMES) {
                let whole = metrics::ALL[metric.of].whole * sums.positions;
                is_whole[addend.game] &= sums.sums[metric.of] == Some(whole);
            }
        }
        placed.push(addends);
    }
    let whole_games = is_whole.map(|is_whole| -> Vec<Addend<1>> {
        let whole = (0..).zip(is_whole).filter(|(_, is_whole)| *is_whole);
        whole.map(|(place, _)| Addend::from((place, [1.0]))).collect()
    });

    let draws = Draws::new(seed, games.len());
    let mut results: Vec<Results> = bins.iter().map(|bin| Results::of(bin.iter())).collect();
    let mut overall = Results::of(bins.iter().flatten());
    overall.games = games.len();
    let mut of_games = metrics::OF_GAMES.map(|_| Vec::new());
    let mut drawn = vec![[0.0; LANES]; games.len()];
    for first in (0..resamples).step_by(LANES) {
        check()?;
        let lanes = LANES.min((resamples - first) as usize);
        draws.count(first, &mut drawn);
        let mut all = [[0.0; LANES]; SUMS];
        for (bin, results) in placed.iter().zip(&mut results) {
            let of_bin = totals(bin, &drawn);
            results.add(&of_bin, lanes);
            for (all, of_bin) in all.iter_mut().flatten().zip(of_bin.iter().flatten()) {
                *all += of_bin;
            }
        }
        overall.add(&all, lanes);
        for (shares, whole) in of_games.iter_mut().zip(&whole_games) {
            let [whole] = totals(whole, &drawn);
            shares.extend(whole[..lanes].iter().map(|whole| whole / games.len() as f64));
        }
    }
    Ok(ScoreIntervals {
        of_games: of_games.map(|mut shares| confidence_interval(&mut shares, CONFIDENCE).filter(|_| games.len() > 1)),
        overall: overall.intervals(),
        bins: results.into_iter().map(Results::intervals).collect(),
    })
}

/// A sum that is not finite or not there counts as 0.
fn addend(sums: &GameSums, place: usize) -> Addend<SUMS> {
    let mut values = [sums.positions; SUMS];
    for (value, sum) in values[1..].iter_mut().zip(sums.sums) {
        *value = sum.filter(|sum| sum.is_finite()).unwrap_or(0.0);
    }
    Addend { game: place, values }
}

/// The metrics of the resamples so far.
struct Results {
    games: usize,
    /// For each metric, true if every game has a finite sum of it.
    is_known: [bool; METRICS],
    values: [Vec<f64>; METRICS],
}

impl Results {
    fn of<'a>(sums: impl Iterator<Item = &'a GameSums>) -> Self {
        let mut results = Results { games: 0, is_known: [true; METRICS], values: Default::default() };
        for sums in sums {
            results.games += 1;
            for (is_known, sum) in results.is_known.iter_mut().zip(sums.sums) {
                *is_known &= sum.is_some_and(f64::is_finite);
            }
        }
        results
    }

    /// Adds the first `lanes` resamples of what [`addend`] summed up to.
    fn add(&mut self, [positions, sums @ ..]: &[Lanes; SUMS], lanes: usize) {
        for lane in (0..lanes).filter(|lane| positions[*lane] > 0.0) {
            for ((values, sum), metric) in self.values.iter_mut().zip(sums).zip(&metrics::ALL) {
                values.push(sum[lane] / (metric.whole * positions[lane]));
            }
        }
    }

    fn intervals(mut self) -> Intervals {
        // With one game all resamples that draw it are equal.
        if self.games < 2 {
            return Intervals::default();
        }
        std::array::from_fn(|metric| {
            confidence_interval(&mut self.values[metric], CONFIDENCE).filter(|_| self.is_known[metric])
        })
    }
}
