//! Standard deviations and Welch's test.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Welch's one-sided test of whether the first mean is the larger one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Welch {
    /// The statistic.
    pub t: f64,
    /// Degrees of freedom, by Welch and Satterthwaite.
    pub df: f64,
    /// Probability of such a statistic, or a larger one, if the means are equal.
    pub p: f64,
}

/// The standard deviation of a sample (n - 1); `None` of fewer than two values.
pub fn deviation(values: &[f64]) -> Option<f64> {
    variance(values).map(f64::sqrt)
}

/// Welch's test of two samples; `None` where one has fewer than two values, or neither varies.
pub fn welch(one: &[f64], two: &[f64]) -> Option<Welch> {
    let (a, b) = (variance(one)? / one.len() as f64, variance(two)? / two.len() as f64);
    let t = (mean(one) - mean(two)) / (a + b).sqrt();
    let df = (a + b).powi(2) / (a * a / (one.len() as f64 - 1.0) + b * b / (two.len() as f64 - 1.0));
    let students = StudentsT::new(0.0, 1.0, df).ok()?;
    t.is_finite().then(|| Welch { t, df, p: students.sf(t) })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| squares / (values.len() as f64 - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of SciPy's test: `cwm model parity` compares them, and its tests (crates/model-tools).
    #[test]
    fn of_too_few_values_and_of_equal_ones_there_is_no_test() {
        assert_eq!(welch(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(welch(&[1.0, 1.0], &[1.0, 1.0]), None);
    }
}
