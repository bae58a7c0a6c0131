//! Means over games, and their intervals by the bootstrap.

use cwm_bootstrap::{Addend, Draws, LANES, confidence_interval, totals};
use cwm_findings::{Finding, Kind};
use cwm_inside_rows::Legality;
use cwm_models::worker_pool::WorkerPool;
use cwm_policy::inputs::words::Phase;

/// Sums over some words: the number of words, the number before the end of their games, then the numerators of
/// [`VALUES`].
type Sums = [f64; 7];

/// The means: name, numerator and denominator among the sums.
const VALUES: [(&str, usize, usize); 5] =
    [("accuracy", 2, 0), ("legal", 3, 1), ("loose", 4, 1), ("loss", 5, 0), ("mass", 6, 1)];

/// The share of resamples within an interval.
const CONFIDENCE: f64 = 0.95;

/// All words, then those of each phase.
const GROUPS: usize = 1 + Phase::ALL.len();

/// Sums of each game, by group.
#[derive(Debug, Default)]
pub struct Totals {
    games: Vec<[Sums; GROUPS]>,
    /// The number of answered plies of each game whose moves were answered, and the number of legal answers.
    moves: Vec<[u64; 2]>,
}

impl Totals {
    /// Adds a game's rows.
    pub fn add(&mut self, rows: &[Legality]) {
        let mut game = [Sums::default(); GROUPS];
        for row in rows {
            let share = |flag: Option<bool>| f64::from(u8::from(flag == Some(true)));
            let has_moves = f64::from(u8::from(row.legal.is_some()));
            let sums = [
                1.0,
                has_moves,
                share(Some(row.right)),
                share(row.legal),
                share(row.loose),
                row.loss,
                row.mass.unwrap_or_default(),
            ];
            for group in [0, 1 + usize::from(row.phase)] {
                game[group].iter_mut().zip(sums).for_each(|(sum, value)| *sum += value);
            }
        }
        self.games.push(game);
    }

    /// Adds games whose moves were answered: the number of plies, and of legal answers.
    pub fn add_moves(&mut self, counts: Vec<[u64; 2]>) {
        self.moves.extend(counts);
    }

    /// Number of games.
    pub fn games(&self) -> u64 {
        self.games.len() as u64
    }

    /// The mean over all words that [`VALUES`] has under this name, if there are words.
    pub fn mean(&self, name: &str) -> Option<f64> {
        let sums = self.sums(0);
        let (_, above, below) = VALUES.into_iter().find(|(other, ..)| *other == name)?;
        (sums[below] > 0.0).then(|| sums[above] / sums[below])
    }

    /// The findings of a model: all words, each phase that occurs, and whole moves if there are any.
    pub fn findings(&self, model: &str, resamples: u64, seed: u64, workers: &WorkerPool) -> Vec<Finding> {
        let new = |of: &str, n: f64| Finding::new(Kind::Legality, model, "trained", None, n as u64).name("of", of);
        let mut findings = Vec::new();
        for group in 0..GROUPS {
            let sums = self.sums(group);
            if sums[0] == 0.0 {
                continue;
            }
            let addends: Vec<Addend<7>> =
                self.games.iter().enumerate().map(|(game, by_group)| (game, by_group[group]).into()).collect();
            let drawn = resampled(&addends, self.games.len(), resamples, seed, workers);
            let mut finding = new(&name(group), sums[0]);
            for (name, above, below) in VALUES.into_iter().filter(|(.., below)| sums[*below] > 0.0) {
                let interval = interval(&drawn, above, below);
                finding = finding.estimate(name, sums[above] / sums[below], interval);
                if name == "loss" {
                    let exp = |(low, high): (f64, f64)| (low.exp(), high.exp());
                    finding = finding.estimate("perplexity", (sums[above] / sums[below]).exp(), interval.map(exp));
                }
            }
            findings.push(finding);
        }
        let counts = |counts: &[u64; 2]| counts.map(|count| count as f64);
        let addends: Vec<Addend<2>> = self.moves.iter().map(counts).enumerate().map(Addend::from).collect();
        let [plies, legal] = addends.iter().fold([0.0; 2], |sum, one| [sum[0] + one.values[0], sum[1] + one.values[1]]);
        if plies > 0.0 {
            let drawn = resampled(&addends, addends.len(), resamples, seed, workers);
            findings.push(new("moves", plies).estimate("legal", legal / plies, interval(&drawn, 1, 0)));
        }
        findings
    }

    fn sums(&self, group: usize) -> Sums {
        let mut sums = Sums::default();
        for game in &self.games {
            sums.iter_mut().zip(game[group]).for_each(|(sum, value)| *sum += value);
        }
        sums
    }
}

/// Returns the name of a group in findings: `all`, or the phase's number. Words right after a promotion have a name of
/// their own.
fn name(group: usize) -> String {
    match group.checked_sub(1).map(|phase| Phase::ALL[phase]) {
        None => "all".to_owned(),
        Some(Phase::Promotion) => "after_promotion".to_owned(),
        Some(phase) => phase.number().to_string(),
    }
}

/// The sums of each resample.
fn resampled<const N: usize>(
    addends: &[Addend<N>],
    games: usize,
    resamples: u64,
    seed: u64,
    workers: &WorkerPool,
) -> Vec<[f64; N]> {
    let draws = Draws::new(seed, games);
    let drawn = workers.map(resamples.div_ceil(LANES as u64) as usize, |part| {
        let mut times = vec![[0.0; LANES]; games];
        draws.count((part * LANES) as u64, &mut times);
        let sums = totals(addends, &times);
        std::array::from_fn::<_, LANES, _>(|lane| sums.map(|sum| sum[lane]))
    });
    drawn.into_iter().flatten().take(resamples as usize).collect()
}

/// The interval of a mean; none where a resample has no word.
fn interval<const N: usize>(drawn: &[[f64; N]], above: usize, below: usize) -> Option<(f64, f64)> {
    let mut means: Vec<f64> = drawn.iter().map(|sums| sums[above] / sums[below]).collect();
    confidence_interval(&mut means, CONFIDENCE)
}
