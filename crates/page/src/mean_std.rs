//! Mean and standard deviation over runs.

/// Mean and standard deviation of one number over several runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanStd {
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (n - 1); `None` for a single run, and where a run is not finite.
    pub deviation: Option<f64>,
    /// For a single run, the interval around its number, where one is known.
    pub interval: Option<(f64, f64)>,
}

impl MeanStd {
    /// Computes mean and deviation of the runs' values, added in their order.
    pub fn of(values: &[f64]) -> Self {
        let number = values.len() as f64;
        let mean = values.iter().sum::<f64>() / number;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let deviation = (values.len() > 1 && squares.is_finite()).then(|| (squares / (number - 1.0)).sqrt());
        MeanStd { mean, deviation, interval: None }
    }

    /// Combines several runs; a single one keeps its interval.
    pub fn over(runs: &[MeanStd]) -> Self {
        match runs {
            [one] => *one,
            several => MeanStd::of(&several.iter().map(|run| run.mean).collect::<Vec<_>>()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_sample_deviation() {
        let found = MeanStd::of(&[1.0, 2.0, 4.0]);
        assert_eq!(found.mean, 7.0 / 3.0);
        // By hand: squares 16/9 + 1/9 + 25/9 = 42/9, halved 7/3.
        assert!((found.deviation.unwrap() - (7.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(MeanStd::of(&[0.5]), MeanStd { mean: 0.5, deviation: None, interval: None });
        assert_eq!(
            MeanStd::of(&[0.5, f64::INFINITY]),
            MeanStd { mean: f64::INFINITY, deviation: None, interval: None }
        );
        assert!(MeanStd::of(&[0.5, f64::NAN]).mean.is_nan());
    }
}
