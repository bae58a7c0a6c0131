//! Intervals by the bootstrap: how far each mean would move with other games of the same kind.

use cwm_bootstrap::{Addend, Draws, LANES, Lanes, confidence_interval, totals};
use cwm_contract::Failure;

/// Share of the resamples that an interval holds.
const CONFIDENCE: f64 = 0.95;
/// Labels of a position.
const LABELS: f64 = 75.0;

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
    let mut placed: Vec<Vec<Addend<4>>> = Vec::with_capacity(bins.len());
    for bin in bins {
        let place = |sums: &GameSums| addend(sums, games.partition_point(|game| *game < sums.game));
        let addends: Vec<_> = bin.iter().map(place).collect();
        for (addend, sums) in addends.iter().zip(bin) {
            is_exact[addend.game] &= sums.exact == sums.positions;
        }
        placed.push(addends);
    }
    let exact_games = (0..).zip(&is_exact).filter(|(_, is_exact)| **is_exact);
    let exact_games: Vec<_> = exact_games.map(|(place, _)| Addend::from((place, [1.0]))).collect();

    let draws = Draws::new(seed, games.len());
    let mut results: Vec<Results> = bins.iter().map(|bin| Results::of(bin.iter())).collect();
    let mut overall = Results::of(bins.iter().flatten());
    overall.games = games.len();
    let mut trajectory = Vec::new();
    let mut drawn = vec![[0.0; LANES]; games.len()];
    for first in (0..resamples).step_by(LANES) {
        check()?;
        let lanes = LANES.min((resamples - first) as usize);
        draws.count(first, &mut drawn);
        let mut all = [[0.0; LANES]; 4];
        for (bin, results) in placed.iter().zip(&mut results) {
            let of_bin = totals(bin, &drawn);
            results.add(&of_bin, lanes);
            for (all, of_bin) in all.iter_mut().flatten().zip(of_bin.iter().flatten()) {
                *all += of_bin;
            }
        }
        overall.add(&all, lanes);
        let [exact] = totals(&exact_games, &drawn);
        trajectory.extend(exact[..lanes].iter().map(|exact| exact / games.len() as f64));
    }
    Ok(Spread {
        trajectory: confidence_interval(&mut trajectory, CONFIDENCE).filter(|_| games.len() > 1),
        overall: overall.intervals(),
        bins: results.into_iter().map(Results::intervals).collect(),
    })
}

/// Positions, loss, labels that are right, exact positions; a loss that is not finite or not there counts as 0.
fn addend(sums: &GameSums, place: usize) -> Addend<4> {
    let loss = sums.loss.filter(|loss| loss.is_finite()).unwrap_or(0.0);
    Addend { game: place, values: [sums.positions, loss, sums.correct, sums.exact] }
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

    /// Adds the first `lanes` resamples of what [`addend`] summed up to.
    fn add(&mut self, [positions, loss, correct, exact]: &[Lanes; 4], lanes: usize) {
        for lane in (0..lanes).filter(|lane| positions[*lane] > 0.0) {
            self.loss.push(loss[lane] / positions[lane]);
            self.labelwise.push(correct[lane] / (LABELS * positions[lane]));
            self.exact.push(exact[lane] / positions[lane]);
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
