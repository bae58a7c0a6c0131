//! Differences between runs before and after reinforcement learning, paired by item.

use cwm_contract::{Context, Failure};
use cwm_measures::{Estimate, GradeMeasure, GradedRuns, Resampling};
use cwm_page::escape_controls;

use super::measured::{Measurements, PREDICT, Phase, is_lenient};

/// Resamples of each interval, and the seed of their draws.
const RESAMPLES: u64 = 1_000;
const SEED: u64 = 0;

/// A measure of a model on a task before and after reinforcement learning.
pub(super) struct Gain {
    pub(super) experiment: String,
    pub(super) task: String,
    pub(super) measure: &'static str,
    pub(super) before: Estimate,
    pub(super) after: Estimate,
    /// `after` less `before`, paired by item.
    pub(super) difference: Estimate,
    /// The labels of the tallies of both runs.
    pub(super) labels: [String; 2],
}

/// Computes the gains of all experiments whose grades are given: rewards of every task, and legal moves.
///
/// # Errors
/// A file is none of grades, or two have the same run.
pub(super) fn gains(context: &Context, measured: &Measurements) -> Result<Vec<Gain>, Failure> {
    let mut graded = GradedRuns::default();
    for input in context.group("grades").iter().filter(|input| !is_lenient(&input.label)) {
        graded.add(&input.path)?;
    }
    let names: Vec<String> = graded.names().map(str::to_owned).collect();
    let resampling = Resampling { resamples: RESAMPLES, seed: SEED };
    let mut gains = Vec::new();
    for experiment in measured.experiments.iter().filter(|experiment| !experiment.alone) {
        let run = |phase| {
            let player = experiment.of(phase)?;
            Some((names.iter().find(|name| escape_controls(name) == player.name)?, player))
        };
        let (Some((before, one)), Some((after, other))) = (run(Phase::Before), run(Phase::After)) else { continue };
        for task in graded.tasks(before) {
            context.check_cancelled()?;
            let measures = [GradeMeasure::Reward, GradeMeasure::Legal];
            for measure in measures.into_iter().filter(|measure| *measure == GradeMeasure::Reward || task == PREDICT) {
                let mean = |run| graded.mean((run, measure), task, resampling);
                let difference = graded.difference((after, measure), (before, measure), task, resampling);
                let (Some(before), Some(after), Some(difference)) = (mean(before), mean(after), difference) else {
                    continue;
                };
                gains.push(Gain {
                    experiment: experiment.name.clone(),
                    task: escape_controls(task),
                    measure: measure.name(),
                    before,
                    after,
                    difference,
                    labels: [one.label.clone(), other.label.clone()],
                });
            }
        }
    }
    Ok(gains)
}
