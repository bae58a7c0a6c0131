//! The statistic, its null distribution and its effect.

use super::Units;
use super::units::dot;

/// The mean cosine of all pairs of each class, c_i. `classes` has the places of each class, at least two; `order` the row at each
/// place, if rows have changed places.
pub fn cohesion(units: &Units, classes: &[Vec<u32>], order: Option<&[u32]>) -> Vec<f64> {
    let mut sum = vec![0.0; units.width()];
    let mut mean_of = |places: &Vec<u32>| {
        sum.fill(0.0);
        for &place in places {
            let row = order.map_or(place, |order| order[place as usize]);
            sum.iter_mut().zip(units.row(row as usize)).for_each(|(sum, value)| *sum += value);
        }
        let rows = places.len() as f64;
        // The square of the sum has each pair twice, and each row with itself, whose cosine is 1.
        (dot(&sum, &sum) - rows) / (rows * (rows - 1.0))
    };
    classes.iter().map(&mut mean_of).collect()
}

/// Mean, and standard deviation with n - 1 (0 for one value).
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (values.len() as f64 - 1.0).max(1.0)).sqrt())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The largest difference that rounding can cause between equal cosines.
const ROUNDING: f64 = 1e-9;

/// The similarity of rows of one class, compared with that of pairs of different classes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alignment {
    /// Mean of c_i over the classes.
    pub within: f64,
    /// Mean cosine of the pairs, μ.
    pub mu: f64,
    /// Standard deviation of the cosine of the pairs, σ.
    pub sigma: f64,
    /// The statistic: mean of c_i less μ.
    pub statistic: f64,
    /// The effect: the statistic in units of σ. NaN if all cosines are equal.
    pub effect: f64,
}

impl Alignment {
    /// Compares classes with pairs of rows of different classes, at least one.
    pub fn new(units: &Units, classes: &[Vec<u32>], pairs: &[[u32; 2]]) -> Self {
        let within = mean(&cohesion(units, classes, None));
        let cosines: Vec<f64> = pairs.iter().map(|&[a, b]| units.cosine(a as usize, b as usize)).collect();
        let (mu, sigma) = mean_and_deviation(&cosines);
        // Of equal cosines the deviation is 0, and not what rounding makes of it.
        let sigma = if sigma < ROUNDING { 0.0 } else { sigma };
        let statistic = within - mu;
        let alignment = Alignment { within, mu, sigma, statistic, effect: 0.0 };
        Alignment { effect: alignment.effect_of(statistic), ..alignment }
    }

    /// A statistic in units of σ. NaN if all cosines are equal.
    pub fn effect_of(&self, statistic: f64) -> f64 {
        if self.sigma == 0.0 && statistic.abs() < ROUNDING { f64::NAN } else { statistic / self.sigma }
    }

    /// The statistic after rows have changed places as `order` has it.
    pub fn permuted(&self, units: &Units, classes: &[Vec<u32>], order: &[u32]) -> f64 {
        mean(&cohesion(units, classes, Some(order))) - self.mu
    }
}

/// The distribution of the statistic under random permutations of the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Null {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
    /// The share of permutations, the identity among them, whose statistic is not below that of the rows in their own
    /// order: never below 1 / (permutations + 1).
    pub p: f64,
}

impl Null {
    /// The distribution from the statistic of each permutation, at least one.
    pub fn new(statistic: f64, permuted: &[f64]) -> Self {
        let (mean, deviation) = mean_and_deviation(permuted);
        let not_below = permuted.iter().filter(|&&other| other >= statistic).count();
        Null { mean, deviation, p: (1 + not_below) as f64 / (1 + permuted.len()) as f64 }
    }
}
