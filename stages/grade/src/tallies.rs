//! The tallies of the answers of all runs.

use std::collections::HashSet;

use cwm_answers::{GradesDescription, ItemCount, PairTally, Tallies, Tally};
use cwm_contract::Failure;

use crate::answers::RunGrades;
use crate::counts::count;
use crate::items::{Items, Task};
use crate::judges::ItemJudge;
use crate::resamples::Resamples;

/// The tallies of runs that are sorted by full name.
///
/// # Errors
/// Never, unless a run was asked nothing.
pub fn tallies(
    graded: GradesDescription,
    items: &Items,
    judges: &[ItemJudge<'_>],
    runs: &[RunGrades],
    resamples: &Resamples,
) -> Result<Tallies, Failure> {
    let mut tallies = Tallies { graded, ..Tallies::default() };
    let every: Vec<usize> = (0..items.tasks.len()).collect();
    for place in 0..runs.len() {
        let one = |tasks: &[usize]| tally(items, runs, resamples, place, tasks);
        tallies.overall.extend(one(&every)?);
        for category in items.categories() {
            let tasks: Vec<usize> =
                every.iter().copied().filter(|task| items.tasks[*task].category == category).collect();
            let named = |tally| Tally { category: Some(category.to_owned()), ..tally };
            tallies.categories.extend(one(&tasks)?.map(named));
        }
        for (task, Task { name, category, .. }) in items.tasks.iter().enumerate() {
            let named = |tally| Tally { category: Some(category.clone()), task: Some(name.clone()), ..tally };
            tallies.tasks.extend(one(&[task])?.map(named));
        }
        for other in place + 1..runs.len() {
            tallies.pairs.extend(pair(items, runs, resamples, [place, other])?);
        }
    }
    tallies.items = items.tasks.iter().map(|task| item_count(task, items, judges)).collect();
    Ok(tallies)
}

/// The tally of the run's answers to those of the tasks that it was asked; none if it was asked none of them.
fn tally(
    items: &Items,
    runs: &[RunGrades],
    resamples: &Resamples,
    run: usize,
    tasks: &[usize],
) -> Result<Option<Tally>, Failure> {
    let asked: Vec<usize> = tasks.iter().copied().filter(|task| resamples.is_asked(run, *task)).collect();
    if asked.is_empty() {
        return Ok(None);
    }
    let counted = count(places(items, &asked).flat_map(|place| &runs[run].grades[place]));
    let (low, high) = resamples.interval(run, &asked)?;
    let accuracy = counted.correct as f64 / counted.items as f64;
    Ok(Some(Tally { run: runs[run].run.full_name(), accuracy, low, high, ..counted }))
}

/// The items of some tasks, in the order of all items.
fn places(items: &Items, tasks: &[usize]) -> impl Iterator<Item = usize> {
    let mut places: Vec<usize> = tasks.iter().flat_map(|task| &items.tasks[*task].places).copied().collect();
    places.sort_unstable();
    places.into_iter()
}

/// The comparison of two runs in the tasks that both were asked; none if there are none.
fn pair(
    items: &Items,
    runs: &[RunGrades],
    resamples: &Resamples,
    pair: [usize; 2],
) -> Result<Option<PairTally>, Failure> {
    let is_asked = |task: &usize| pair.iter().all(|run| resamples.is_asked(*run, *task));
    let tasks: Vec<usize> = (0..items.tasks.len()).filter(is_asked).collect();
    if tasks.is_empty() {
        return Ok(None);
    }
    let is_first_correct =
        |run: &RunGrades, place: usize| run.grades[place].first().is_some_and(|answer| answer.is_correct());
    let [run, other] = pair.map(|run| &runs[run]);
    let mut tally = PairTally { run: run.run.full_name(), other: other.run.full_name(), ..PairTally::default() };
    let mut shares = [0.0; 2];
    for place in places(items, &tasks) {
        let [one, another] = [run, other].map(|run| is_first_correct(run, place));
        tally.items += 1;
        tally.agreement += u64::from(one == another);
        tally.both_correct += u64::from(one && another);
        for (sum, run) in shares.iter_mut().zip([run, other]) {
            *sum += run.correct_share(place).unwrap_or(0.0);
        }
    }
    tally.difference = (shares[0] - shares[1]) / tally.items as f64;
    (tally.low, tally.high) = resamples.difference(pair[0], pair[1], &tasks)?;
    Ok(Some(tally))
}

fn item_count(task: &Task, items: &Items, judges: &[ItemJudge<'_>]) -> ItemCount {
    let inputs: HashSet<&str> = task.places.iter().map(|place| items.all[*place].input.as_str()).collect();
    let chance: f64 = task.places.iter().map(|place| judges[*place].chance()).sum();
    ItemCount {
        task: task.name.clone(),
        category: task.category.clone(),
        items: task.places.len() as u64,
        positions: inputs.len() as u64,
        chance: chance / task.places.len() as f64,
    }
}
