//! The stage: read, judge, sum up.

use std::collections::BTreeMap;

use cwm_answers::{GradesDescription, Tallies};
use cwm_contract::{Context, Failure};
use rayon::prelude::*;

use crate::answers::RunGrades;
use crate::config::Config;
use crate::items::Items;
use crate::judge_scores;
use crate::judges::ItemJudge;
use crate::measures::measures;
use crate::output;
use crate::resamples::Resamples;
use crate::tallies::tallies;

/// Runs the stage.
///
/// # Errors
/// Items or answers are not what they should be or do not belong together, or an operation on the disk fails; or it was
/// cancelled.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(context.cores()).build();
    let pool = pool.map_err(|error| Failure::system(format!("no threads: {error}")))?;
    pool.install(|| grade(context, &config))
}

fn grade(context: &Context, config: &Config) -> Result<(), Failure> {
    context.activity("reading items");
    let items = Items::read(context, config.unknown_tasks())?;
    let judges = in_order(items.all.par_iter().map(ItemJudge::new).collect())?;
    judge_scores::check(context, &judges)?;
    for (odd, what) in [
        (items.with_other_keys(), "a key that does not follow from them, and count all the same"),
        (items.with_impossible_rights(), "a castling right that cannot be, which is passed over"),
    ] {
        if let Some(first) = odd.first() {
            let (odd, all) = (odd.len(), items.all.len());
            context.note(format!("{odd} of {all} items have {what}: the first is {}", first.task_id));
        }
    }
    context.activity("judging answers");
    let inputs = context.group("answers");
    let read = |input| RunGrades::read(context, input, &items, &judges, config);
    let mut runs = in_order(inputs.par_iter().map(read).collect())?;
    check_names(context, &runs, config)?;
    runs.iter().flat_map(|run| &run.notes).for_each(|note| context.note(note));
    runs.sort_by_key(|run| run.run.full_name());
    let graded = GradesDescription {
        runs: runs.iter().map(|run| (run.run.full_name(), run.run.clone())).collect(),
        items: items.digests()?,
        resamples: config.resamples,
        seed: config.seed,
    };
    output::write(context.output("grades")?, &graded, &items, &runs)?;
    context.activity("drawing items");
    let resamples = Resamples::draw(context, &items, &runs, config)?;
    let mut tallies = tallies(graded, &items, &judges, &runs, &resamples)?;
    tallies.measures = measures(context, &items, &runs, config)?;
    tallies.measures.extend(judge_scores::measures(context, &items, &runs, config)?);
    log(context, &tallies, items.tasks.len());
    tallies.write(context.output("tallies")?)
}

/// All results, or the first failure by their order.
fn in_order<T>(results: Vec<Result<T, Failure>>) -> Result<Vec<T>, Failure> {
    results.into_iter().collect()
}

/// Checks that no two runs have one name, that each was asked something, and that prices are of runs. The runs are still in the
/// order of their inputs.
fn check_names(context: &Context, runs: &[RunGrades], config: &Config) -> Result<(), Failure> {
    let mut labels = BTreeMap::new();
    for (run, input) in runs.iter().zip(context.group("answers")) {
        let name = run.run.full_name();
        if run.grades.iter().all(Vec::is_empty) {
            return Err(Failure::input(format!("the answers of {} are to no item: none was asked", input.label)));
        }
        if let Some(first) = labels.insert(name.clone(), &input.label) {
            let message = format!("{first} and {} are answers of one run, {name}", input.label);
            return Err(Failure::input(message).hint("give each `answer` another `name`"));
        }
    }
    let is_run = |name: &str| runs.iter().any(|run| run.run.name == name || run.run.full_name() == name);
    match config.prices.keys().find(|name| !is_run(name)) {
        Some(name) => {
            let there: Vec<&str> = labels.keys().map(String::as_str).collect();
            Err(Failure::input(format!("`prices` has {name}, but the runs are {}", there.join(", "))))
        }
        None => Ok(()),
    }
}

fn log(context: &Context, tallies: &Tallies, tasks: usize) {
    for tally in &tallies.overall {
        let [accuracy, low, high] = [tally.accuracy, tally.low, tally.high].map(|share| share * 100.0);
        let (run, correct, items, sound) = (&tally.run, tally.correct, tally.items, tally.sound);
        context.log(format!(
            "{run}: {correct} of {items} correct ({accuracy:.1} %, {low:.1} to {high:.1}), {sound} sound"
        ));
        let asked = tallies.tasks.iter().filter(|row| row.run == *run).count();
        if asked < tasks {
            context.note(format!("{run} was not asked {} of {tasks} tasks", tasks - asked));
        }
    }
}
