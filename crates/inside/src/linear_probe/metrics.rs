//! Metrics of predicted boards, and their confidence intervals by games.

use cwm_bootstrap::{Addend, Draws, LANES, confidence_interval, totals};
use cwm_models::worker_pool::WorkerPool;

use super::SQUARES;

/// The most classes that a target has.
const CLASSES: usize = 13;

/// Sums that all metrics are made of: support, predictions and hits of each class, rows, boards and losses.
const SUMS: usize = 3 * CLASSES + 3;

/// Counts of predictions; those of several games add up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counts([f64; SUMS]);

impl Default for Counts {
    fn default() -> Self {
        Counts([0.0; SUMS])
    }
}

impl Counts {
    /// Adds a row: the true and the predicted classes of its squares, and the sum of their cross-entropies.
    pub fn add_row(&mut self, labels: &[u8], predicted: &[u8], loss: f64) {
        let mut right = 0;
        for (&label, &predicted) in labels.iter().zip(predicted) {
            self.0[usize::from(label)] += 1.0;
            self.0[CLASSES + usize::from(predicted)] += 1.0;
            if label == predicted {
                self.0[2 * CLASSES + usize::from(label)] += 1.0;
                right += 1;
            }
        }
        let rest = [1.0, f64::from(u8::from(right == SQUARES)), loss];
        self.0[3 * CLASSES..].iter_mut().zip(rest).for_each(|(sum, value)| *sum += value);
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Counts) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, value)| *sum += value);
    }

    /// Rows.
    pub fn rows(&self) -> u64 {
        self.0[3 * CLASSES] as u64
    }
}

/// Metrics over all squares and rows; a precision without a prediction is 0, and what has nothing below its line is NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metrics {
    /// Share of squares that are right.
    pub accuracy: f64,
    /// Precision of the classes, weighted by their support.
    pub precision: f64,
    /// F1 of the classes, weighted by their support.
    pub f1: f64,
    /// F1 of the classes that occur or are predicted, all alike.
    pub macro_f1: f64,
    /// Share of the squares with a piece that are right.
    pub occupied: f64,
    /// Share of rows with all 64 squares right.
    pub boards: f64,
    /// Mean cross-entropy of a square, in nats.
    pub loss: f64,
}

impl Metrics {
    /// The metrics of counts.
    pub fn of(counts: &Counts) -> Self {
        let sums = &counts.0;
        let (support, predicted, right) = (&sums[..CLASSES], &sums[CLASSES..2 * CLASSES], &sums[2 * CLASSES..]);
        let (mut squares, mut hits) = (0.0, 0.0);
        let (mut precisions, mut f1s, mut f1_sum, mut present) = (0.0, 0.0, 0.0, 0.0);
        for class in 0..CLASSES {
            let (support, predicted, right) = (support[class], predicted[class], right[class]);
            squares += support;
            hits += right;
            if support + predicted > 0.0 {
                // 2PR/(P+R), which is 2 tp/(2 tp + fp + fn).
                let f1 = 2.0 * right / (support + predicted);
                precisions += support * if predicted > 0.0 { right / predicted } else { 0.0 };
                f1s += support * f1;
                f1_sum += f1;
                present += 1.0;
            }
        }
        let rows = sums[3 * CLASSES];
        Metrics {
            accuracy: hits / squares,
            precision: precisions / squares,
            f1: f1s / squares,
            macro_f1: f1_sum / present,
            occupied: (hits - right[0]) / (squares - support[0]),
            boards: sums[3 * CLASSES + 1] / rows,
            loss: sums[3 * CLASSES + 2] / squares,
        }
    }

    /// Names and values. The recall weighted by support is the accuracy.
    pub fn named(&self) -> [(&'static str, f64); 8] {
        [
            ("accuracy", self.accuracy),
            ("precision", self.precision),
            ("recall", self.accuracy),
            ("f1", self.f1),
            ("macro_f1", self.macro_f1),
            ("occupied", self.occupied),
            ("boards", self.boards),
            ("loss", self.loss),
        ]
    }
}

/// An interval of a metric that holds 95 of 100 resamples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The metric.
    pub name: &'static str,
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// Intervals by games: `resamples` times as many games are drawn as there are, with replacement. Metrics that are not finite in a
/// resample have none.
pub fn intervals(games: &[Counts], resamples: u64, seed: u64, workers: &WorkerPool) -> Vec<Interval> {
    let addends: Vec<Addend<SUMS>> = games.iter().enumerate().map(|(game, counts)| (game, counts.0).into()).collect();
    let draws = Draws::new(seed, games.len());
    let drawn = workers.map(resamples.div_ceil(LANES as u64) as usize, |part| {
        let mut times = vec![[0.0; LANES]; games.len()];
        draws.count((part * LANES) as u64, &mut times);
        let sums = totals(&addends, &times);
        std::array::from_fn::<_, LANES, _>(|lane| Metrics::of(&Counts(sums.map(|sum| sum[lane]))).named())
    });
    let drawn: Vec<[(&'static str, f64); 8]> = drawn.into_iter().flatten().take(resamples as usize).collect();
    let names = drawn.first().map(|named| named.map(|(name, _)| name)).unwrap_or_default();
    let interval = |(place, name): (usize, &'static str)| {
        let mut results: Vec<f64> = drawn.iter().map(|named| named[place].1).collect();
        let (low, high) = confidence_interval(&mut results, 0.95)?;
        Some(Interval { name, low, high })
    };
    names.into_iter().enumerate().filter_map(interval).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_that_never_occur_have_no_part() {
        let mut counts = Counts::default();
        let (mut labels, mut predicted) = ([0; SQUARES], [0; SQUARES]);
        (labels[0], labels[1], predicted[0], predicted[1]) = (3, 3, 3, 5);
        counts.add_row(&labels, &predicted, 6.4);
        let metrics = Metrics::of(&counts);
        assert_eq!((metrics.accuracy, metrics.occupied, metrics.boards), (63.0 / 64.0, 0.5, 0.0));
        assert!((metrics.precision - 1.0).abs() < 1e-12 && (metrics.loss - 0.1).abs() < 1e-12);
        // Classes 0, 3 and 5: F1 of 1, 2/3 and 0.
        assert!((metrics.macro_f1 - 5.0 / 9.0).abs() < 1e-12);
        assert!((metrics.f1 - (62.0 + 4.0 / 3.0) / 64.0).abs() < 1e-12);
    }

    #[test]
    fn intervals_hold_the_metric_and_do_not_depend_on_workers() {
        let games: Vec<Counts> = (0..40)
            .map(|game| {
                let mut counts = Counts::default();
                for row in 0..3usize {
                    let labels: Vec<u8> = (0..SQUARES).map(|square| ((square * 7 + game + row) % 13) as u8).collect();
                    let guess = |(square, label): (usize, &u8)| if (square + game) % 5 < 3 { *label } else { 0 };
                    let predicted: Vec<u8> = labels.iter().enumerate().map(guess).collect();
                    counts.add_row(&labels, &predicted, game as f64);
                }
                counts
            })
            .collect();
        let of = |workers| intervals(&games, 100, 3, &WorkerPool::new(workers).unwrap());
        let found = of(1);
        assert_eq!(found, of(3));
        let mut all = Counts::default();
        games.iter().for_each(|game| all.add(game));
        for (interval, (name, value)) in found.iter().zip(Metrics::of(&all).named()) {
            assert_eq!(interval.name, name);
            assert!(interval.low <= value && value <= interval.high, "{interval:?} {value}");
        }
        assert_eq!(found.len(), 8);
    }
}
