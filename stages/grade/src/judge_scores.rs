//! Measures of runs that a judge has judged, with intervals.

use std::collections::BTreeMap;

use cwm_answers::Measure;
use cwm_bootstrap::Addend;
use cwm_contract::{Context, Failure};
use cwm_reasoning::{JudgeScores, JudgeTask};

use crate::answers::RunGrades;
use crate::config::Config;
use crate::items::{Items, Task};
use crate::judges::ItemJudge;
use crate::measures::estimate;
use crate::resamples::sums;

/// Checks that only one judge has answered, if a judge was asked.
///
/// # Errors
/// There are several.
pub fn check(context: &Context, judges: &[ItemJudge<'_>]) -> Result<(), Failure> {
    let inputs = context.group("answers");
    if inputs.len() < 2 || !judges.iter().any(|judge| matches!(judge, ItemJudge::Reader(_))) {
        return Ok(());
    }
    let labels: Vec<String> = inputs.iter().map(|input| input.label.to_string()).collect();
    let message = format!("items of judges have one judge, but there are answers of {}", labels.join(", "));
    Err(Failure::input(message).hint("give the answers of each judge to a `grade` of its own"))
}

/// A run, the task of its answers, and that of the judge.
type JudgedGroup<'i> = (&'i str, &'i str, &'i str);

/// The measures of all runs that the judge has judged, in the order of their names, tasks and the judge's tasks. Of several samples
/// of the judge the first that can be read counts; without one, the answer that it is about does not count.
///
/// # Errors
/// It was cancelled.
pub fn measures(
    context: &Context,
    items: &Items,
    runs: &[RunGrades],
    config: &Config,
) -> Result<Vec<Measure>, Failure> {
    // By the item that was answered.
    let mut groups: BTreeMap<JudgedGroup<'_>, BTreeMap<&str, Vec<JudgeScores>>> = BTreeMap::new();
    let (mut asked, mut failed) = (0_u64, 0_u64);
    for (item, answers) in runs.iter().flat_map(|judge| items.all.iter().zip(&judge.grades)) {
        if JudgeTask::of_name(&item.task_type).is_none() || answers.is_empty() {
            continue;
        }
        let [run, task, of] = ["run", "task", "of"].map(|name| item.metadata.text(name).unwrap_or_default());
        let scores = answers.iter().find_map(|answer| answer.result.judge_scores());
        asked += 1;
        failed += u64::from(scores.is_none());
        groups.entry((run, task, item.task_type.as_str())).or_default().entry(of).or_default().extend(scores);
    }
    if failed > 0 {
        context.note(format!("{failed} of {asked} items have no answer of the judge that can be read"));
    }
    let mut rows = Vec::new();
    for ((run, task, judge), by_item) in groups {
        context.check_cancelled()?;
        // All runs draw the same items, if they were judged on the same.
        let name = format!("{judge} {task}");
        let drawn = Task { name, category: String::new(), places: (0..by_item.len()).collect() };
        let names: Vec<String> = match by_item.values().flatten().next() {
            Some(first) => first.measures().into_iter().map(|(name, _)| name).collect(),
            None => continue,
        };
        let lists: Vec<Option<Vec<Addend<2>>>> = (0..names.len()).map(|at| Some(addends(&by_item, at))).collect();
        let resampled = sums(&drawn, &lists, config);
        for ((name, list), resampled) in names.iter().zip(lists.iter().flatten()).zip(resampled.into_iter().flatten()) {
            let found = estimate(list, resampled);
            let named = |found| Measure { run: run.to_owned(), task: task.to_owned(), measure: name.clone(), ..found };
            rows.extend(found.map(named));
        }
    }
    Ok(rows)
}

/// The addends of each item to both sums of the measure at this place, by the item's place.
fn addends(by_item: &BTreeMap<&str, Vec<JudgeScores>>, at: usize) -> Vec<Addend<2>> {
    let of_item = |scores: &Vec<JudgeScores>| {
        let sums = scores.iter().filter_map(|scores| Some(scores.measures().get(at)?.1));
        sums.fold([0.0; 2], |all, one| [all[0] + one[0], all[1] + one[1]])
    };
    let all = by_item.values().map(of_item).enumerate();
    all.filter(|(_, [_, of])| *of > 0.0).map(Addend::from).collect()
}
