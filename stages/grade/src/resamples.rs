//! The items of each task drawn anew, so that accuracies have intervals.

use cwm_bootstrap::{Addend, Draws, LANES, confidence_interval, totals};
use cwm_contract::{Context, Failure};
use rayon::prelude::*;

use crate::answers::RunGrades;
use crate::config::Config;
use crate::items::{Items, Task};

/// Share of the resamples that an interval holds.
pub const CONFIDENCE: f64 = 0.95;

/// Accuracies of the items that each resample draws; the same draws for all runs.
pub struct Resamples {
    /// By task, then by run: the sum of the drawn items' shares of correct answers, a number a resample; none where the
    /// run was not asked the task.
    correct: Vec<Vec<Option<Vec<f64>>>>,
    /// Items of each task.
    items: Vec<f64>,
    count: usize,
}

impl Resamples {
    /// Draws the items of every task. The draws of a task do not depend on the other tasks.
    ///
    /// # Errors
    /// It was cancelled.
    pub fn draw(context: &Context, items: &Items, runs: &[RunGrades], config: &Config) -> Result<Self, Failure> {
        let of_task = |task: &Task| {
            context.check_cancelled()?;
            let correct: Vec<Option<Vec<Addend<1>>>> = runs.iter().map(|run| correct(task, run)).collect();
            Ok(sums(task, &correct, config).into_iter().map(|sums| sums.map(|[sums]| sums)).collect())
        };
        let drawn: Vec<Result<_, Failure>> = items.tasks.par_iter().map(of_task).collect();
        Ok(Resamples {
            correct: drawn.into_iter().collect::<Result<_, _>>()?,
            items: items.tasks.iter().map(|task| task.places.len() as f64).collect(),
            count: config.resamples as usize,
        })
    }

    /// Returns true if the run was asked the task; both by their places.
    pub fn is_asked(&self, run: usize, task: usize) -> bool {
        self.correct[task][run].is_some()
    }

    /// The interval of a run's accuracy in some tasks, all of which it was asked.
    ///
    /// # Errors
    /// There are none.
    pub fn interval(&self, run: usize, tasks: &[usize]) -> Result<(f64, f64), Failure> {
        interval(self.accuracies(run, tasks))
    }

    /// The interval of the accuracy of one run less that of another, in tasks that both were asked.
    ///
    /// # Errors
    /// There are none.
    pub fn difference(&self, run: usize, other: usize, tasks: &[usize]) -> Result<(f64, f64), Failure> {
        let others = self.accuracies(other, tasks);
        interval(self.accuracies(run, tasks).into_iter().zip(others).map(|(one, other)| one - other).collect())
    }

    fn accuracies(&self, run: usize, tasks: &[usize]) -> Vec<f64> {
        let mut sums = vec![0.0; self.count];
        for correct in tasks.iter().filter_map(|task| self.correct[*task][run].as_ref()) {
            sums.iter_mut().zip(correct).for_each(|(sum, correct)| *sum += correct);
        }
        let items: f64 = tasks.iter().map(|task| self.items[*task]).sum();
        sums.into_iter().map(|sum| sum / items).collect()
    }
}

fn interval(mut results: Vec<f64>) -> Result<(f64, f64), Failure> {
    confidence_interval(&mut results, CONFIDENCE).ok_or_else(|| Failure::internal("an interval of no items"))
}

/// The sums of each list of addends, whose places are those of the items in the task, over what each resample draws.
pub fn sums<const N: usize>(
    task: &Task,
    lists: &[Option<Vec<Addend<N>>>],
    config: &Config,
) -> Vec<Option<[Vec<f64>; N]>> {
    let draws = Draws::new(seed(config.seed, &task.name), task.places.len());
    let mut results: Vec<Option<[Vec<f64>; N]>> =
        lists.iter().map(|list| list.as_ref().map(|_| std::array::from_fn(|_| Vec::new()))).collect();
    let mut times = vec![[0.0; LANES]; task.places.len()];
    for first in (0..config.resamples).step_by(LANES) {
        draws.count(first, &mut times);
        for (list, results) in lists.iter().zip(&mut results) {
            if let (Some(list), Some(results)) = (list, results) {
                let sums = totals(list, &times);
                results.iter_mut().zip(sums).for_each(|(results, sums)| results.extend(sums));
            }
        }
    }
    for results in results.iter_mut().flatten().flatten() {
        results.truncate(config.resamples as usize);
    }
    results
}

/// The items of the task of which the run has answers right, by their places in the task, with the share of these; none if it was
/// not asked.
fn correct(task: &Task, run: &RunGrades) -> Option<Vec<Addend<1>>> {
    let shares: Vec<f64> = task.places.iter().map(|place| run.correct_share(*place)).collect::<Option<_>>()?;
    let correct = shares.into_iter().enumerate().filter(|(_, share)| *share > 0.0);
    Some(correct.map(|(at, share)| Addend::from((at, [share]))).collect())
}

/// A seed for each task, so that tasks with as many items are drawn differently.
fn seed(seed: u64, task: &str) -> u64 {
    let digest = blake3::hash(format!("{seed} {task}").as_bytes());
    digest.as_bytes()[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
