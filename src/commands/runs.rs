//! `cwm runs`: the runs of a pipeline that are remembered, with their numbers.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::cli::{PipelineArguments, RunsArguments};
use crate::commands::locked_results::{LockedResult, locked_results};
use crate::locate::{open_store, pipeline_file};
use crate::output::{columns, print_answer};
use crate::workspace::{SkippedRecordsWarning, warn_about_lock_file};
use cwm_core::{DurableFs, Error, ExitCode, shell_quote};
use cwm_engine::format_time;
use cwm_gc::selection;
use cwm_project::lock_file::{LockFile, SetValues};
use cwm_project::runs;
use cwm_store::{ActionRecord, Store};

/// The most metrics that are shown if no stage is named.
const MAX_METRICS: usize = 6;

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
    #[serde(serialize_with = "write_metrics")]
    metrics: BTreeMap<String, f64>,
}

/// Writes the numbers, with text for what JSON does not have.
fn write_metrics<S: Serializer>(metrics: &BTreeMap<String, f64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(metrics.iter().map(|(name, value)| (name, cwm_contract::Value::Float(*value))))
}

/// Runs `cwm runs`.
///
/// # Errors
/// A lock file or the store cannot be read; or nothing has the name of a run or stage.
pub fn run(store: Option<&Path>, mut arguments: RunsArguments) -> Result<ExitCode, Error> {
    let mut typed = PipelineArguments { file: arguments.file, sets: Vec::new() };
    typed.take_from(&mut arguments.stages)?;
    let store = open_store(store, typed.file.as_deref())?;
    let file = pipeline_file(typed.file.as_deref())?;
    for name in &arguments.delete {
        delete(&file, name, &store)?;
    }
    let (store, _skipped) = SkippedRecordsWarning::watch(store);
    let runs = runs::all(&file)?;
    let mut results = Vec::new();
    for lock in &runs {
        warn_about_lock_file(lock);
        results.push(locked_results(&store, lock)?);
    }
    let stages = selection::stages(&arguments.stages, results.iter().flatten().map(|result| &result.label))?;
    let (mut rows, mut ranks) = (Vec::new(), BTreeMap::new());
    for (lock, results) in runs.iter().zip(&results) {
        let mut row = row(lock, results);
        for LockedResult { label, record, .. } in results {
            if let Some(record) = record.as_ref().filter(|_| selection::matches_selection(label, &stages)) {
                let label = label.to_string();
                let mut metrics = reported(record, &label);
                let started = Reverse(record.circumstances.started);
                let is_timing = |name: &str| name.ends_with("_seconds") || name.ends_with("_per_second");
                ranks.extend(metrics.keys().map(|name| (name.clone(), (false, is_timing(name), started))));
                add_json_numbers(record, &label, &store, &mut metrics)?;
                metrics.keys().for_each(|name| _ = ranks.entry(name.clone()).or_insert((true, false, started)));
                row.metrics.extend(metrics);
            }
        }
        rows.push(row);
    }
    let max_metrics = if stages.is_empty() { MAX_METRICS } else { usize::MAX };
    print_answer(&rows, || text(&rows, &ranks, max_metrics))?;
    Ok(ExitCode::OK)
}

/// Deletes the lock file of a run, and forgets it as a root, so that `cwm store gc` may take its results.
fn delete(yaml: &Path, name: &str, store: &Store) -> Result<(), Error> {
    let Some(lock) = runs::named(yaml, name)? else {
        return Err(Error::usage(format!("there is no run `{name}` with `--set`")).hint("`cwm runs` lists them"));
    };
    cwm_gc::forget(store, lock.path())?;
    Ok(DurableFs::default().remove(lock.path())?)
}

fn row(lock: &LockFile, results: &[LockedResult]) -> Row {
    let started = |result: &LockedResult| Some(result.record.as_ref()?.circumstances.started);
    let (name, done) = (lock.path().file_stem().unwrap_or_default(), results.len());
    match lock.run() {
        Some(run) => Row {
            name: name.to_string_lossy().into_owned(),
            set: run.set,
            when: Some(run.finished),
            done,
            failed: Some(run.failed),
            metrics: BTreeMap::new(),
        },
        None => Row {
            name: ".".to_owned(),
            set: SetValues::new(),
            when: results.iter().filter_map(started).max(),
            done,
            failed: None,
            metrics: BTreeMap::new(),
        },
    }
}

/// The place of a metric where not all are shown: numbers in files are behind those that stages report, times and rates behind results,
/// and older cells behind the newest ones, which are at the end of the pipeline.
type Rank = (bool, bool, Reverse<Timestamp>);

/// Returns the metrics that a stage reported.
fn reported(record: &ActionRecord, label: &str) -> BTreeMap<String, f64> {
    record.metrics.iter().map(|(name, value)| (format!("{label}: {name}"), *value)).collect()
}

/// Adds the numbers in the JSON files of a cell. Files that are not in the store have none.
fn add_json_numbers(
    record: &ActionRecord,
    label: &str,
    store: &Store,
    metrics: &mut BTreeMap<String, f64>,
) -> Result<(), Error> {
    for (port, output) in &record.outputs {
        if output.shape.extension() == "json"
            && output.size <= MAX_JSON
            && store.object_size(&output.digest)?.is_some()
            && let Ok(value) = serde_json::from_slice(&store.read_checked(&output.digest)?)
        {
            add_numbers(&format!("{label}.{port}: "), &value, metrics);
        }
    }
    Ok(())
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

fn text(rows: &[Row], ranks: &BTreeMap<String, Rank>, max_metrics: usize) -> String {
    if rows.is_empty() {
        return "no run of this pipeline is remembered".to_owned();
    }
    let mut all: Vec<&String> = ranks.keys().collect();
    if max_metrics < all.len() {
        all.sort_by_key(|name| ranks[*name]);
    }
    let differs = |name: &String| rows.iter().any(|row| row.metrics.get(name) != rows[0].metrics.get(name));
    let (differing, same): (Vec<&String>, Vec<&String>) = all.into_iter().partition(|name| differs(name));
    let count = differing.len() + same.len();
    // Those that tell the runs apart first.
    let shown: Vec<&String> = differing.into_iter().chain(same).take(max_metrics).collect();
    let heads = ["run", "when", "done", "--set"].map(str::to_owned).into_iter();
    let heads: Vec<String> = heads.chain(shown.iter().map(|name| (*name).clone())).collect();
    let cells = |row: &Row| {
        let failed = row.failed.filter(|failed| *failed > 0).map(|failed| format!(", {failed} failed"));
        let set = row.set.iter().map(|(name, value)| shell_quote(&format!("{name}={value}")));
        let facts = [
            row.name.clone(),
            row.when.map(format_time).unwrap_or_default(),
            format!("{}{}", row.done, failed.unwrap_or_default()),
            set.collect::<Vec<_>>().join(" "),
        ];
        let number = |name: &&String| row.metrics.get(*name).map(|value| short(*value)).unwrap_or_default();
        facts.into_iter().chain(shown.iter().map(number)).collect()
    };
    let table = columns([heads].into_iter().chain(rows.iter().map(cells)));
    match count - shown.len() {
        0 => table,
        more => format!("{table}{more} more metrics: name stages, or `--json`\n"),
    }
}

/// Returns a number with six digits.
fn short(value: f64) -> String {
    format!("{value:.5e}").parse::<f64>().unwrap_or(value).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reported_results_of_the_newest_cells_are_shown_where_not_all_are() {
        let at = |second| Reverse(Timestamp::from_second(second).unwrap());
        let ranks = BTreeMap::from([
            ("corpus: dropped".to_owned(), (false, false, at(1))),
            ("model.summary: parameters".to_owned(), (true, false, at(2))),
            ("model: training_seconds".to_owned(), (false, true, at(2))),
            ("model: validation_loss".to_owned(), (false, false, at(2))),
        ]);
        let metrics = ranks.keys().map(|name| (name.clone(), 1.0)).collect();
        let (name, set) = (".".to_owned(), SetValues::new());
        let row = Row { name, set, when: None, done: 2, failed: None, metrics };
        let heads = |max| text(std::slice::from_ref(&row), &ranks, max).lines().next().unwrap().to_owned();
        assert!(heads(1).ends_with("--set  model: validation_loss"), "{}", heads(1));
        let three = heads(3);
        assert!(three.ends_with("model: validation_loss  corpus: dropped  model: training_seconds"), "{three}");
    }
}
