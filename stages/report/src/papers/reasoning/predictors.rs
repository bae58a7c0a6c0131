//! Predicts the model after reinforcement learning from measures of the fine-tuned one: lines by least squares.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::facts::Facts;
use super::measured::{BEST, LEGAL, MeasuredRun, Measurements, PREDICT, Phase, WORST};

/// A measure, its task, and its column in the paper's tables.
pub(super) struct Predictor {
    pub(super) name: &'static str,
    task: &'static str,
    measure: &'static str,
    fact: &'static str,
}

const fn predictor(name: &'static str, task: &'static str, measure: &'static str, fact: &'static str) -> Predictor {
    Predictor { name, task, measure, fact }
}

/// The measures that lines are fitted to. The mean of the first five is predicted.
static PREDICTORS: [Predictor; 10] = [
    predictor("Legal moves", PREDICT, "legal", "predict_legal"),
    predictor("Average rank", PREDICT, "rank", "predict_rank"),
    predictor("Legal moves IoU", LEGAL, "iou", "legal_iou"),
    predictor("Best move", BEST, "accuracy", "best_accuracy"),
    predictor("Worst move", WORST, "accuracy", "worst_accuracy"),
    predictor("Trivial moves", PREDICT, "trivial", "trivial"),
    predictor("True move claims", PREDICT, "referenced_accuracy", "referenced_accuracy"),
    predictor("Grounded answers", PREDICT, "grounded", ""),
    predictor("Mean reward", PREDICT, "reward", ""),
    predictor("Reasoning quality", PREDICT, "quality", "reasoning_quality"),
];

/// Measures in the mean.
const OF_MEAN: usize = 5;

/// The source of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Ours,
    /// The printed numbers of Tables 1 and 2.
    Paper,
}

/// The points of a predictor: name, the measure after fine-tuning, the mean after reinforcement learning.
pub(super) struct Points {
    pub(super) predictor: &'static Predictor,
    pub(super) source: Source,
    pub(super) points: Vec<(String, f64, f64)>,
    pub(super) line: Option<Line>,
}

/// A line by least squares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) slope: f64,
    pub(super) intercept: f64,
    /// The share of the variance that it explains.
    pub(super) r2: f64,
    /// The probability of a slope at least as far from 0 if there were none.
    pub(super) p: f64,
}

/// Points and lines of every predictor, of our runs and of the paper's tables.
pub(super) fn predictors(measured: &Measurements, facts: &Facts) -> Vec<Points> {
    let ours = measured.experiments.iter().filter(|experiment| !experiment.alone);
    let ours: Vec<_> =
        ours.filter_map(|one| Some((one.name.clone(), one.of(Phase::Before)?, one.of(Phase::After)?))).collect();
    let of_player = |player: &MeasuredRun, at: usize| {
        let Predictor { task, measure, .. } = PREDICTORS[at];
        player.measure(task, measure).map(|measure| measure.value)
    };
    let printed = |model: &str, phase: Phase, at: usize| facts.share(model, PREDICTORS[at].fact, phase);
    let mut all = Vec::new();
    for (at, predictor) in PREDICTORS.iter().enumerate() {
        let of_ours = ours.iter().filter_map(|(name, before, after)| {
            Some((name.clone(), of_player(before, at)?, mean(|measure| of_player(after, measure))?))
        });
        let of_paper = facts.models().into_iter().filter_map(|model| {
            let after = mean(|measure| printed(model, Phase::After, measure))?;
            Some((model.to_owned(), printed(model, Phase::Before, at)?, after))
        });
        for (source, points) in [(Source::Ours, of_ours.collect::<Vec<_>>()), (Source::Paper, of_paper.collect())] {
            if !points.is_empty() {
                let line = fit(&points.iter().map(|(_, x, y)| (*x, *y)).collect::<Vec<_>>());
                all.push(Points { predictor, source, points, line });
            }
        }
    }
    all
}

/// The mean of the first five measures, if all are there.
fn mean(value: impl Fn(usize) -> Option<f64>) -> Option<f64> {
    let sum: Option<f64> = (0..OF_MEAN).map(value).sum();
    sum.map(|sum| sum / OF_MEAN as f64)
}

/// Fits the line of least squares to points of x and y; `None` for fewer than three, or where all x or all y are equal.
fn fit(points: &[(f64, f64)]) -> Option<Line> {
    let number = points.len() as f64;
    if points.len() < 3 {
        return None;
    }
    let (mean_x, mean_y) =
        (points.iter().map(|(x, _)| x).sum::<f64>() / number, points.iter().map(|(_, y)| y).sum::<f64>() / number);
    let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|(x, y)| of(x - mean_x, y - mean_y)).sum::<f64>();
    let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
    if xx <= 0.0 || yy <= 0.0 {
        return None;
    }
    let (slope, r2) = (xy / xx, (xy * xy / (xx * yy)).min(1.0));
    let freedom = number - 2.0;
    let t = (r2 * freedom / (1.0 - r2)).sqrt();
    let p = if t.is_finite() { 2.0 * StudentsT::new(0.0, 1.0, freedom).ok()?.sf(t) } else { 0.0 };
    Some(Line { slope, intercept: mean_y - slope * mean_x, r2, p })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Anscombe's first set: slope .5001, intercept 3.0001, r² .6665, p .00217 (as published).
    #[test]
    fn a_line_has_its_published_numbers() {
        let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
        let line = fit(&x.into_iter().zip(y).collect::<Vec<_>>()).unwrap();
        let near = |value: f64, expected: f64, within: f64| assert!((value - expected).abs() < within, "{line:?}");
        near(line.slope, 0.50009, 1e-5);
        near(line.intercept, 3.00009, 1e-5);
        near(line.r2, 0.66654, 1e-5);
        near(line.p, 0.00217, 1e-5);
    }

    #[test]
    fn without_spread_there_is_no_line() {
        assert_eq!(fit(&[(1.0, 2.0), (2.0, 3.0)]), None);
        assert_eq!(fit(&[(1.0, 2.0), (1.0, 3.0), (1.0, 4.0)]), None);
        let exact = fit(&[(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)]).unwrap();
        assert!((exact.slope - 2.0).abs() < 1e-12 && exact.r2 > 1.0 - 1e-12 && exact.p < 1e-6, "{exact:?}");
    }

    /// The paper's tables have 12 models with both phases.
    #[test]
    fn the_papers_tables_have_points() {
        let points = predictors(&Measurements::default(), &Facts::load());
        assert!(points.iter().all(|points| points.source == Source::Paper && points.points.len() == 12));
        assert_eq!(points.len(), 8);
    }
}
