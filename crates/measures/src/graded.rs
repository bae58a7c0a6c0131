//! Graded answers of several runs to the same items, and the differences between runs.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_answers::{Grade, Grades};
use cwm_contract::{Failure, Label};

use crate::{Estimate, Resamples};

/// A number of each graded answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GradeMeasure {
    /// The reward of reinforcement learning.
    Reward,
    /// The score of the answer, before penalties; an answer without a score counts 0.
    Score,
    /// 1 if it is a legal move, else 0; of `reasoning_predict_move` alone.
    Legal,
    /// 1 if it is the right candidate, else 0; of the tasks with candidates.
    Right,
}

/// Answers of runs, by run and task.
#[derive(Clone, Debug, Default)]
pub struct GradedRuns(BTreeMap<String, BTreeMap<String, Task>>);

/// A run's answers to the items of a task: sums over the samples of each item, and their number.
type Task = BTreeMap<String, ([Option<f64>; GradeMeasure::ALL.len()], u64)>;

impl GradeMeasure {
    /// All of them.
    pub const ALL: [GradeMeasure; 4] =
        [GradeMeasure::Reward, GradeMeasure::Score, GradeMeasure::Legal, GradeMeasure::Right];

    /// Its name in claims.
    pub fn name(self) -> &'static str {
        match self {
            GradeMeasure::Reward => "reward",
            GradeMeasure::Score => "score",
            GradeMeasure::Legal => "legal",
            GradeMeasure::Right => "right",
        }
    }

    /// The measure of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.name() == name)
    }

    fn of(self, grade: &Grade) -> Option<f64> {
        let is = |verdicts: &[&str], verdict: &str| {
            let known = grade.verdict == "unreadable" || verdicts.contains(&grade.verdict.as_str());
            known.then(|| f64::from(grade.verdict == verdict))
        };
        match self {
            GradeMeasure::Reward => grade.reward,
            GradeMeasure::Score => grade.reward.map(|_| grade.score.unwrap_or(0.0)),
            GradeMeasure::Legal => is(&["legal", "illegal"], "legal"),
            GradeMeasure::Right => is(&["right", "wrong", "not_a_candidate"], "right"),
        }
    }
}

impl GradedRuns {
    /// Adds the grades of a file that have a reward.
    ///
    /// # Errors
    /// It is no file of grades, or has a run that another file had.
    pub fn add(&mut self, path: &Path) -> Result<(), Failure> {
        let mut runs: BTreeMap<String, BTreeMap<String, Task>> = BTreeMap::new();
        for grade in Grades::open(path)? {
            let grade = grade?;
            if grade.reward.is_none() {
                continue;
            }
            let values = GradeMeasure::ALL.map(|measure| measure.of(&grade));
            let task = runs.entry(grade.run).or_default().entry(grade.task).or_default();
            let (sums, number) = task.entry(grade.task_id).or_insert(([Some(0.0); GradeMeasure::ALL.len()], 0));
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum = sum.zip(value).map(|(sum, value)| sum + value));
            *number += 1;
        }
        if let Some(run) = runs.keys().find(|run| self.0.contains_key(*run)) {
            let message = format!("the grades {} have the run {run}, which other grades have as well", path.display());
            return Err(Failure::input(message).hint("give the grades of one `grade`, or runs with different names"));
        }
        self.0.append(&mut runs);
        Ok(())
    }

    /// Full names of the runs.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The runs of a stage, each with the coordinates of its cell.
    pub fn of_stage(&self, stage: &str) -> Vec<(&str, Vec<(String, String)>)> {
        let of_name = |name: &str| name.parse::<Label>().unwrap_or_else(|_| Label::stage(name));
        let cells = self.names().map(|name| (name, of_name(name)));
        cells.filter(|(_, label)| label.stage == stage).map(|(name, label)| (name, label.coordinates)).collect()
    }

    /// The tasks of a run, in the order of their names.
    pub fn tasks(&self, run: &str) -> impl Iterator<Item = &str> {
        self.0.get(run).into_iter().flat_map(|tasks| tasks.keys().map(String::as_str))
    }

    /// The mean of a measure over the items of a task, with its interval; none if an item has no value.
    pub fn mean(&self, (run, measure): (&str, GradeMeasure), task: &str, resampling: Resampling) -> Option<Estimate> {
        let values = self.task(run, task)?.values().map(|item| value(item, measure));
        resampling.mean(&values.collect::<Option<Vec<f64>>>()?)
    }

    /// One run's measure less another's, paired by item, over the items of a task that both have; none if an item has
    /// no value.
    pub fn difference(
        &self,
        (run, measure): (&str, GradeMeasure),
        (other, of_other): (&str, GradeMeasure),
        task: &str,
        resampling: Resampling,
    ) -> Option<Estimate> {
        let (items, others) = (self.task(run, task)?, self.task(other, task)?);
        let paired = items.iter().filter_map(|(id, item)| Some((item, others.get(id)?)));
        let differences = paired.map(|(item, other)| Some(value(item, measure)? - value(other, of_other)?));
        resampling.mean(&differences.collect::<Option<Vec<f64>>>()?)
    }

    fn task(&self, run: &str, task: &str) -> Option<&Task> {
        self.0.get(run)?.get(task)
    }
}

fn value((sums, number): &([Option<f64>; GradeMeasure::ALL.len()], u64), measure: GradeMeasure) -> Option<f64> {
    sums[measure as usize].map(|sum| sum / *number as f64)
}

/// The parameters of the resamples of an interval.
#[derive(Clone, Copy, Debug)]
pub struct Resampling {
    /// The number of resamples.
    pub resamples: u64,
    /// The seed of their draws.
    pub seed: u64,
}

impl Resampling {
    fn mean(self, values: &[f64]) -> Option<Estimate> {
        let resamples = Resamples::draw(values.len(), self.resamples, self.seed);
        resamples.estimate(values.iter().copied().enumerate())
    }
}
