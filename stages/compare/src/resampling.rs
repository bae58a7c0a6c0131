//! Every model of a test set, resampled: the same games drawn anew for all, and the same signs.
//!
//! A difference of two models is the difference of their sums in every resample, so each model is summed once, however
//! many pairs there are.

use cwm_bootstrap::{Addend, Draws, LANES, Lanes, confidence_interval, totals};
use cwm_contract::{Context, Failure};
use cwm_scores::metrics::METRICS;

use crate::config::Config;
use crate::on_cores::on_cores;
use crate::runs::Runs;

/// The rounding error that sums of floats may have, as a share of them.
const ROUNDING: f64 = 1e-12;

/// The resamples of one model; arrays have a place a metric.
pub struct ResampledModel {
    /// Means over all positions.
    pub means: [f64; METRICS],
    /// Means over the positions of the games that were drawn.
    drawn: [Vec<f64>; METRICS],
    /// Sums over all positions, the games with the signs that were drawn, by the number of positions.
    flipped: [Vec<f64>; METRICS],
}

/// The resamples of the difference of two models.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TestedDifference {
    /// The mean of the one less that of the other.
    pub difference: f64,
    /// The interval of that, where it is finite.
    pub interval: Option<(f64, f64)>,
    /// The probability of a difference at least as large, in either direction, if chance decides in each game which
    /// model did what, where it is finite.
    pub p: Option<f64>,
}

impl ResampledModel {
    /// Returns this model less `other`, by the metric of that index.
    pub fn difference_from(&self, other: &ResampledModel, metric: usize, confidence: f64) -> TestedDifference {
        let differences = |one: &[f64], another: &[f64]| -> Vec<f64> {
            one.iter().zip(another).map(|(one, another)| one - another).collect()
        };
        let difference = self.means[metric] - other.means[metric];
        let mut drawn = differences(&self.drawn[metric], &other.drawn[metric]);
        let flipped = differences(&self.flipped[metric], &other.flipped[metric]);
        // Games are few or counts are whole, so draws may equal what was seen; rounding must not make them less.
        let rounding = ROUNDING * (self.means[metric].abs() + other.means[metric].abs());
        let extreme = flipped.iter().filter(|flipped| flipped.abs() + rounding >= difference.abs()).count();
        let is_finite = difference.is_finite() && flipped.iter().all(|flipped| flipped.is_finite());
        TestedDifference {
            difference,
            interval: confidence_interval(&mut drawn, confidence).filter(|_| is_finite),
            // What was seen counts as one of the draws, so the probability is never 0.
            p: is_finite.then(|| (extreme + 1) as f64 / (flipped.len() + 1) as f64),
        }
    }
}

/// The models of one test set, all scored on the same games, in their order; `done` receives the number of resamples,
/// as they come.
///
/// # Errors
/// It was cancelled.
pub fn resample(
    context: &Context,
    models: &[&Runs],
    config: &Config,
    done: impl Fn(u64) + Sync,
) -> Result<Vec<ResampledModel>, Failure> {
    let addends = |runs: &Runs| -> Vec<Addend<METRICS>> { (0..).zip(runs.sums()).map(Addend::from).collect() };
    let sums: Vec<Vec<Addend<METRICS>>> = models.iter().map(|runs| addends(runs)).collect();
    let positions: Vec<Addend<1>> = models.first().map_or(Vec::new(), |runs| {
        (0..).zip(runs.positions()).map(|(game, positions)| Addend::from((game, [positions as f64]))).collect()
    });
    let all_positions: f64 = positions.iter().map(|game| game.values[0]).sum();
    let draws = Draws::new(config.seed, positions.len());
    let blocks = config.resamples.div_ceil(LANES as u64) as usize;
    let resampled = on_cores(blocks, context.cores(), |block| {
        context.check_cancelled()?;
        let first = block as u64 * LANES as u64;
        let mut times = vec![[0.0; LANES]; positions.len()];
        draws.count(first, &mut times);
        let [drawn_positions] = totals(&positions, &times);
        let over_drawn = |sum: Lanes| std::array::from_fn::<f64, LANES, _>(|lane| sum[lane] / drawn_positions[lane]);
        let drawn: Vec<[Lanes; METRICS]> = sums.iter().map(|sums| totals(sums, &times).map(over_drawn)).collect();
        draws.signs(first, &mut times);
        let over_all = |sum: Lanes| sum.map(|sum| sum / all_positions);
        let flipped: Vec<[Lanes; METRICS]> = sums.iter().map(|sums| totals(sums, &times).map(over_all)).collect();
        done(config.resamples.min(first + LANES as u64) - first);
        Ok((drawn, flipped))
    })?;
    let every = vec![[1.0; LANES]; positions.len()];
    let collect = |read: &dyn Fn(&(Vec<[Lanes; METRICS]>, Vec<[Lanes; METRICS]>)) -> Lanes| -> Vec<f64> {
        resampled.iter().flat_map(read).take(config.resamples as usize).collect()
    };
    Ok((0..models.len())
        .map(|model| ResampledModel {
            means: totals(&sums[model], &every).map(|sum| sum[0] / all_positions),
            drawn: std::array::from_fn(|metric| collect(&|(drawn, _)| drawn[model][metric])),
            flipped: std::array::from_fn(|metric| collect(&|(_, flipped)| flipped[model][metric])),
        })
        .collect())
}
