//! `cwm runs`: the runs of a pipeline that are recorded, with their numbers.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cwm_contract::Label;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::cli::{PipelineArguments, RunsArguments};
use crate::commands::locked_results::{LockedResult, locked_results};
use crate::locate::{open_store, pipeline_file};
use crate::output::{columns, print_result, print_warnings, terminal_width};
use crate::workspace::SkippedRecordsWarning;
use cwm_core::{DurableFs, Error, format_time, shell_quote, shorten, six_digits};
use cwm_gc::selection;
use cwm_project::fold_problems;
use cwm_project::lock_file::{LockFile, SetValues};
use cwm_project::runs;
use cwm_store::{ActionRecord, OutputRecord, Store};

/// The most metrics that are shown if no stage is named.
const MAX_METRICS: usize = 6;

/// The names of the metrics that come first where not all are shown.
const KEY_METRICS: [&str; 3] = ["loss", "exact", "accuracy"];

/// The largest JSON file whose numbers are read.
const MAX_JSON: u64 = 1 << 20;

/// A run.
#[derive(Serialize)]
struct Row {
    /// Its name for `cwm diff`: `.` for the run without `--set`.
    name: String,
    /// The values of `--set`.
    set: SetValues,
    /// The end of the last run with these values; of the run without `--set` the start of its newest cell.
    when: Option<Timestamp>,
    /// The number of cells with a result.
    done: usize,
    /// The number of cells that failed in the last run, which the lock file of the run without `--set` does not have.
    failed: Option<usize>,
    /// The numbers that stages reported, and those in their outputs with the extension `json`: by cell, and output.
    #[serde(serialize_with = "cwm_store::write_metrics")]
    metrics: BTreeMap<String, f64>,
}

/// Runs `cwm runs`.
///
/// # Errors
/// A lock file or the store cannot be read; or nothing has the name of a run or stage.
pub fn run(store: Option<&Path>, mut arguments: RunsArguments) -> Result<(), Error> {
    let mut pipeline_arguments = PipelineArguments { file: arguments.file, sets: Vec::new() };
    pipeline_arguments.take_from(&mut arguments.stages)?;
    let store = open_store(store, pipeline_arguments.file.as_deref())?;
    let file = pipeline_file(pipeline_arguments.file.as_deref())?;
    arguments.delete.iter().try_for_each(|name| delete(&file, name, &store))?;
    let (store, _skipped) = SkippedRecordsWarning::watch(store);
    let runs = runs::all(&file)?;
    let mut results = Vec::new();
    for lock in &runs {
        print_warnings(fold_problems(lock.problems()));
        results.push(locked_results(&store, lock)?);
    }
    let stages = selection::stages(&arguments.stages, results.iter().flatten().map(|result| &result.label))?;
    let (mut rows, mut ranks, mut unreadable) = (Vec::new(), BTreeMap::new(), BTreeSet::new());
    for (lock, results) in runs.iter().zip(&results) {
        let mut row = row(lock, results);
        for LockedResult { label, record, .. } in results {
            let Some(record) = record.as_ref().filter(|_| selection::matches_selection(label, &stages)) else {
                continue;
            };
            let mut add = |name: String, value, is_json| {
                let is_timing = name.ends_with("_seconds") || name.ends_with("_per_second");
                let rank = (is_json, is_timing, !is_key_metric(&name), Reverse(record.run_info.started));
                ranks.insert(name.clone(), rank);
                row.metrics.insert(name, value);
            };
            record.metrics.iter().for_each(|(name, value)| add(format!("{label}: {name}"), *value, false));
            let numbers = numbers_in_files(record, label, &store, &mut unreadable)?;
            numbers.into_iter().for_each(|(name, value)| add(name, value, true));
        }
        rows.push(row);
    }
    print_warnings(unreadable);
    let max_metrics = if stages.is_empty() { MAX_METRICS } else { usize::MAX };
    print_result(&rows, || text(&rows, &ranks, max_metrics, terminal_width()))
}

/// Deletes the lock file of a run, and forgets it as a root, so that `cwm store gc` may take its results.
fn delete(yaml: &Path, name: &str, store: &Store) -> Result<(), Error> {
    let Some(lock) = runs::find(yaml, name)? else {
        return Err(Error::usage(format!("there is no run `{name}` with `--set`")).hint("`cwm runs` lists them"));
    };
    cwm_gc::forget(store, lock.path())?;
    Ok(DurableFs::default().remove(lock.path())?)
}

fn row(lock: &LockFile, results: &[LockedResult]) -> Row {
    let started = results.iter().filter_map(|result| Some(result.record.as_ref()?.run_info.started));
    let (set, when, failed) = match lock.run() {
        Some(run) => (run.set, Some(run.finished), Some(run.failed)),
        None => (SetValues::new(), started.max(), None),
    };
    Row { name: runs::name(lock), set, when, done: results.len(), failed, metrics: BTreeMap::new() }
}

/// The place of a metric where not all are shown: numbers in files are behind those that stages report, times and rates behind
/// results, others behind [`KEY_METRICS`], and older cells behind the newest ones, which are at the end of the pipeline.
type Rank = (bool, bool, bool, Reverse<Timestamp>);

/// Returns true for `evaluation: loss` and `model.summary: training.validation.loss`, and false for `model: validation_loss`.
fn is_key_metric(name: &str) -> bool {
    name.rsplit([' ', '.']).next().is_some_and(|last| KEY_METRICS.contains(&last))
}

/// Returns the numbers in the JSON files of a cell. Files that are not in the store have none. Those that are not JSON have none
/// either; `unreadable` gets a warning for each.
fn numbers_in_files(
    record: &ActionRecord,
    label: &Label,
    store: &Store,
    unreadable: &mut BTreeSet<String>,
) -> Result<BTreeMap<String, f64>, Error> {
    let mut numbers = BTreeMap::new();
    for (output_name, OutputRecord { shape, size, digest, .. }) in &record.outputs {
        if shape.extension() == "json" && *size <= MAX_JSON && store.object_size(digest)?.is_some() {
            let name = format!("{label}.{output_name}");
            match serde_json::from_slice(&store.read_checked(digest)?) {
                Ok(value) => add_numbers(&format!("{name}: "), &value, &mut numbers),
                Err(error) => _ = unreadable.insert(format!("{name} is not JSON, so it is not listed: {error}")),
            }
        }
    }
    Ok(numbers)
}

/// Adds the numbers in nested maps, by their path.
fn add_numbers(path: &str, value: &Value, metrics: &mut BTreeMap<String, f64>) {
    let Value::Object(map) = value else { return };
    for (name, value) in map {
        match value.as_f64() {
            // The version of a format is no result.
            Some(number) if name != "format" => _ = metrics.insert(format!("{path}{name}"), number),
            _ => add_numbers(&format!("{path}{name}."), value, metrics),
        }
    }
}

/// Returns the table. One that is wider than the terminal has as many metrics as fit, with numbers in place of their names, which
/// follow below.
fn text(rows: &[Row], ranks: &BTreeMap<String, Rank>, max_metrics: usize, width: Option<usize>) -> String {
    if rows.is_empty() {
        return "no run of this pipeline is recorded".to_owned();
    }
    // A stage with a matrix would fill the table with its cells.
    let (ranks, metrics) = fold(ranks, rows, max_metrics != usize::MAX);
    let ranges: Vec<(&Row, BTreeMap<String, Range>)> = rows.iter().zip(metrics).collect();
    let differs = |name: &String| ranges.iter().any(|(_, range)| range.get(name) != ranges[0].1.get(name));
    let mut all: Vec<&String> = ranks.keys().collect();
    // Of one kind, those that differ between runs first.
    all.sort_by_cached_key(|name| {
        let (is_json, is_timing, is_other, started) = ranks[*name];
        (is_json, is_timing, is_other, !differs(name), started)
    });
    let mut shown = &all[..max_metrics.min(all.len())];
    let number = |ranges: &BTreeMap<String, Range>, name: &String| ranges.get(name).map(short).unwrap_or_default();
    let table = |shown: &[&String], heads: &[String]| {
        let facts = ["run", "when", "done", "--set"].map(str::to_owned).into_iter();
        let head: Vec<String> = facts.chain(heads.iter().cloned()).collect();
        let cells = |(row, ranges): &(&Row, BTreeMap<String, Range>)| {
            facts_of(row).into_iter().chain(shown.iter().map(|name| number(ranges, name))).collect()
        };
        columns([head].into_iter().chain(ranges.iter().map(cells)))
    };
    let names: Vec<String> = shown.iter().map(|name| (*name).clone()).collect();
    let mut text = table(shown, &names);
    let fits = |text: &str, width| text.lines().all(|line| line.chars().count() <= width);
    if let Some(width) = width.filter(|width| !fits(&text, *width)) {
        let numbers: Vec<String> = (1..=shown.len()).map(|place| place.to_string()).collect();
        let numbered = |count: usize| table(&shown[..count], &numbers[..count]);
        let fitting = (1..=shown.len()).take_while(|count| fits(&numbered(*count), width)).last();
        let count = fitting.unwrap_or(1).min(shown.len());
        let most = |line: &str| if line.chars().count() > width { width.saturating_sub(1) } else { width };
        text = numbered(count).lines().map(|line| shorten(line, most(line)) + "\n").collect();
        shown = &shown[..count];
        text.extend(shown.iter().zip(&numbers).map(|(name, place)| format!("{place}: {name}\n")));
    }
    match all.len() - shown.len() {
        0 => text,
        more if max_metrics == usize::MAX => format!("{text}{more} more metrics: `--json` lists them\n"),
        more => format!("{text}{more} more metrics: name stages, or `--json`\n"),
    }
}

/// Returns what a row of the table has before the metrics.
fn facts_of(row: &Row) -> [String; 4] {
    let failed = row.failed.filter(|failed| *failed > 0).map(|failed| format!(", {failed} failed"));
    let set = row.set.iter().map(|(name, value)| shell_quote(&format!("{name}={value}")));
    [
        row.name.clone(),
        row.when.map(format_time).unwrap_or_default(),
        format!("{}{}", row.done, failed.unwrap_or_default()),
        set.collect::<Vec<_>>().join(" "),
    ]
}

/// The least and the greatest value of a metric in the cells of a stage.
type Range = (f64, f64);

/// Returns the metrics with their ranges; `by_stage` folds the cells of each stage: `evaluation: loss` has the losses of all
/// cells of `evaluation`.
fn fold(
    ranks: &BTreeMap<String, Rank>,
    rows: &[Row],
    by_stage: bool,
) -> (BTreeMap<String, Rank>, Vec<BTreeMap<String, Range>>) {
    let stage = |name: &str| match name.split_once('[') {
        Some((stage, rest)) if by_stage => {
            format!("{stage}{}", rest.rsplit_once(']').map_or(rest, |(_, metric)| metric))
        }
        _ => name.to_owned(),
    };
    let mut of_stages: BTreeMap<String, Rank> = BTreeMap::new();
    for (name, rank) in ranks {
        of_stages.entry(stage(name)).and_modify(|first| *first = (*first).min(*rank)).or_insert(*rank);
    }
    let row = |row: &Row| {
        let mut ranges: BTreeMap<String, Range> = BTreeMap::new();
        for (name, &value) in &row.metrics {
            let range = ranges.entry(stage(name)).or_insert((value, value));
            *range = (range.0.min(value), range.1.max(value));
        }
        ranges
    };
    (of_stages, rows.iter().map(row).collect())
}

/// Returns a number, or the ends of a range, with six digits.
fn short((least, greatest): &Range) -> String {
    if least == greatest || least.is_nan() {
        six_digits(*least)
    } else {
        format!("{} to {}", six_digits(*least), six_digits(*greatest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(metrics: &[(&str, f64)]) -> Row {
        let metrics = metrics.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Row { name: ".".to_owned(), set: SetValues::new(), when: None, done: 2, failed: None, metrics }
    }

    fn at(second: i64) -> Reverse<Timestamp> {
        Reverse(Timestamp::from_second(second).unwrap())
    }

    #[test]
    fn key_metrics_of_the_newest_cells_come_before_others_times_and_numbers_in_files() {
        let names = [
            ("best.summary: loss", true, false, 9),
            ("best.summary: training.lr", true, false, 9),
            ("corpus: dropped", false, false, 1),
            ("evaluation[test=b]: exact", false, false, 3),
            ("evaluation[test=b]: loss", false, false, 3),
            ("model: training_seconds", false, true, 2),
            ("model: validation_loss", false, false, 2),
        ];
        let rank = |(name, is_json, is_timing, second): (&str, bool, bool, i64)| {
            (name.to_owned(), (is_json, is_timing, !is_key_metric(name), at(second)))
        };
        let ranks: BTreeMap<String, Rank> = names.into_iter().map(rank).collect();
        let metrics = names.map(|(name, ..)| (name, 1.0));
        let heads = |rows: &[Row], max| text(rows, &ranks, max, None).lines().next().unwrap().replace("  ", " ");
        let one = [row(&metrics)];
        assert_eq!(heads(&one, 2), "run when done --set evaluation: exact evaluation: loss");
        let six = heads(&one, 6);
        let ends = "model: validation_loss corpus: dropped model: training_seconds best.summary: loss";
        assert!(six.ends_with(ends), "{six}");
        // Among those of one kind, one that differs between runs is first.
        let mut other = metrics;
        other[4].1 = 2.0;
        let two = [row(&metrics), row(&other)];
        assert!(heads(&two, 1).ends_with("--set evaluation: loss"), "{}", heads(&two, 1));
    }

    #[test]
    fn cells_of_a_stage_are_one_range_unless_the_stage_is_named() {
        let metrics = [("e[size=a,test=x]: loss", 0.5), ("e[size=b,test=x]: loss", 0.25), ("model: loss", 0.125)];
        let ranks: BTreeMap<String, Rank> =
            metrics.iter().map(|(name, _)| ((*name).to_owned(), (false, false, false, at(1)))).collect();
        let folded = text(&[row(&metrics)], &ranks, 6, None);
        assert_eq!(
            folded,
            "run  when  done  --set  e: loss      model: loss\n.          2            0.25 to 0.5  0.125\n"
        );
        let named = text(&[row(&metrics)], &ranks, usize::MAX, None);
        assert!(named.starts_with("run  when  done  --set  e[size=a,test=x]: loss  e[size=b,"), "{named}");
    }

    #[test]
    fn a_table_fits_the_terminal_with_numbers_in_place_of_long_names() {
        let long = |at: usize| format!("evaluation_of_the_transformer_with_width_64_and_seed_{at}: loss");
        let names: Vec<String> = (0..9).map(long).collect();
        let ranks: BTreeMap<String, Rank> =
            names.iter().map(|name| (name.clone(), (false, false, false, at(1)))).collect();
        let metrics: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 0.123_456)).collect();
        let mut rows = [row(&metrics), row(&metrics)];
        rows[1].set.insert("games".to_owned(), "12".to_owned());
        let whole = text(&rows, &ranks, 6, None);
        assert!(whole.lines().next().unwrap().ends_with(&long(5)), "not cut for programs: {whole}");
        let fitted = text(&rows, &ranks, 6, Some(60));
        let table = "run  when  done  --set     1         2         3\n\
                     .          2               0.123456  0.123456  0.123456\n\
                     .          2     games=12  0.123456  0.123456  0.123456\n";
        let legend: String = (0..3).map(|at| format!("{}: {}\n", at + 1, long(at))).collect();
        assert_eq!(fitted, format!("{table}{legend}6 more metrics: name stages, or `--json`\n"));
        let narrow = text(&rows, &ranks, usize::MAX, Some(20));
        assert!(narrow.starts_with("run  when  done  --…\n.          2       …\n"), "{narrow}");
        assert!(narrow.ends_with("\n8 more metrics: `--json` lists them\n"), "{narrow}");
    }
}
