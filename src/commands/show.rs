//! `cwm show`: describes a result by stage, tag, key or digest.

use std::path::Path;

use cwm_contract::{DescribeOptions, amount};
use serde_json::json;

use crate::cli::ShowArguments;
use crate::commands::contents::Contents;
use crate::commands::locked_results::locked_records;
use crate::commands::results::{by_hash, cells_or_outputs};
use crate::output::{is_json, print, print_json, print_result};
use crate::workspace::{Workspace, warn_about_tags};
use cwm_core::{Error, ExitCode, duration, escape_controls_in_lines, plural};
use cwm_engine::{CacheStatus, KeyStatus};
use cwm_gc::tags;
use cwm_store::{ActionRecord, RunInfo};

/// The number of artifacts of one input that are listed for people.
const MAX_INPUTS: usize = 20;

/// Runs `cwm show`.
///
/// # Errors
/// Nothing of that name or hash is known, the store cannot be read, or an output is not of its format; the rest is
/// printed before that.
pub fn run(store: Option<&Path>, arguments: &ShowArguments) -> Result<ExitCode, Error> {
    let workspace = Workspace::open_skipping_damaged(store, &arguments.pipeline)?;
    if arguments.path {
        return print_path(&workspace, &arguments.what);
    }
    let cache_status = workspace.cache_status()?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let options = DescribeOptions { examples: arguments.games, cores };
    let (mut errors, mut documents, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for ResultSelection { record, output_names, cell } in &select(&workspace, &cache_status, &arguments.what)? {
        let mut contents = Contents::describe(&workspace, &cache_status, record, output_names, *cell, options);
        errors.append(&mut contents.errors);
        texts.push(describe(record) + &contents.text(&record.label.to_string()));
        let mut document = serde_json::to_value(record).map_err(|error| Error::internal(error.to_string()))?;
        contents.add_to(&mut document);
        documents.push(document);
    }
    print_result(&documents, || texts.join("\n"))?;
    errors.into_iter().next().map_or(Ok(ExitCode::OK), Err)
}

/// Prints the path of an output in the store: the option `--path`.
fn print_path(workspace: &Workspace, source: &str) -> Result<ExitCode, Error> {
    let (index, output_name) = workspace.output(source)?;
    let (_, path) = workspace.stored_output(source, index, &output_name)?;
    let path = path.to_string_lossy();
    let answer = json!({ "label": workspace.plan.cells[index].label, "output": output_name, "path": path });
    let printed = if is_json() { print_json(&answer) } else { print(&path) };
    printed.map(|()| ExitCode::OK)
}

/// A result and the outputs of it to describe.
struct ResultSelection {
    record: ActionRecord,
    output_names: Vec<String>,
    /// The cell of the plan whose result it is.
    cell: Option<usize>,
}

/// Finds the results that a word names: a tag; stages, cells or outputs; or the beginning of a key or digest.
fn select(workspace: &Workspace, cache_status: &CacheStatus, word: &str) -> Result<Vec<ResultSelection>, Error> {
    let selection = |record: ActionRecord, output_names: Vec<String>| {
        let is_cached = |state: &KeyStatus| matches!(state, KeyStatus::Cached(cached) if **cached == record);
        let cell = cache_status.states.iter().position(is_cached);
        ResultSelection { record, output_names, cell }
    };
    let all_outputs = |record: &ActionRecord| record.outputs.keys().cloned().collect::<Vec<_>>();
    let plan = &workspace.plan;
    if let Some(name) = word.strip_prefix(tags::PREFIX) {
        let tag = tags::read(&workspace.store, name)?;
        warn_about_tags(std::slice::from_ref(&tag));
        let records = locked_records(&workspace.store, &tag.lock)?.into_iter();
        return Ok(records.map(|record| selection(record.clone(), all_outputs(&record))).collect());
    }
    let named = match cells_or_outputs(plan, word) {
        Ok(named) => named,
        Err(_) if !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            let found = by_hash(&workspace.store, word)?.into_iter();
            return Ok(found.map(|(record, output_names)| selection(record, output_names)).collect());
        }
        Err(unknown) => return Err(unknown),
    };
    let mut results = Vec::new();
    for (cell, output) in &named {
        match &cache_status.states[*cell] {
            KeyStatus::Cached(record) => {
                let output_names = output.clone().map_or_else(|| all_outputs(record), |output| vec![output]);
                results.push(ResultSelection { record: record.as_ref().clone(), output_names, cell: Some(*cell) });
            }
            _ if named.len() == 1 => return Err(workspace.no_result(cache_status, *cell)),
            _ => eprintln!("{} has no result yet", plan.cells[*cell].label),
        }
    }
    Ok(results)
}

fn describe(record: &ActionRecord) -> String {
    let run = &record.run_info;
    let mut text = format!("{} ({})\n", record.label, record.components.kind);
    let mut line = |name: &str, value: String| text += &format!("  {name:<11} {value}\n");
    line("key", record.key.to_string());
    line("origin", record.origin());
    line("cost", cost(run));
    if let Some(device) = &run.computed_on {
        line("device", device.clone());
    }
    record.cause.iter().for_each(|cause| line("because", cause.clone()));
    for (name, output) in &record.outputs {
        let outside = output.external.as_ref().map(|outside| format!(", in place at {}", outside.path.display()));
        let (size, outside) = (amount::format_bytes(output.size), outside.unwrap_or_default());
        line("output", format!("{name}: {} {} ({size}{outside})", output.format, output.digest));
    }
    for (name, value) in &record.components.parameters {
        line("parameter", format!("{name}: {value}"));
    }
    for (name, group) in &record.components.inputs {
        for (label, digest) in group.iter().take(MAX_INPUTS) {
            let label = if label.is_empty() { String::new() } else { format!(" ({label})") };
            line("input", format!("{name}{label}: {digest}"));
        }
        if group.len() > MAX_INPUTS {
            line("input", format!("{name}: {} more, which --json lists", group.len() - MAX_INPUTS));
        }
    }
    record.metrics.iter().for_each(|(name, value)| line("metric", format!("{name}: {value}")));
    for (name, digest) in &record.components.code {
        line("code", format!("{name}: {}", digest.get(..12).unwrap_or(digest)));
    }
    escape_controls_in_lines(&text)
}

/// Describes what a result took. Records do not have the times of earlier attempts, whose work a resumed one did not do again.
fn cost(run: &RunInfo) -> String {
    let (wall, user, system) = (duration(run.wall_seconds), duration(run.user_seconds), duration(run.system_seconds));
    let memory = amount::format_bytes(run.peak_memory_bytes);
    let cores = plural(run.machine.cores as u64, "core", "cores");
    let part = if run.is_resumed {
        "; of the last attempt alone, which began with the checkpoint folder of an earlier one"
    } else {
        ""
    };
    format!("{wall} ({user} user, {system} system), {memory} of memory at most, on {cores}{part}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_of_a_resumed_training_is_shown_as_that_of_its_last_attempt() {
        let run = |is_resumed: bool| -> RunInfo {
            let run = json!({
                "started": "2026-01-01T00:00:00Z", "wall_seconds": 60.0, "user_seconds": 50.0, "system_seconds": 1.0,
                "peak_memory_bytes": 1000, "machine": { "host": "h", "cores": 2, "os": "linux" }, "devices": [],
                "is_resumed": is_resumed, "user": "u", "cwm_version": "0.1.0",
            });
            serde_json::from_value(run).unwrap()
        };
        let whole = "1m00s (50s user, 1.0s system), 1.0 kB of memory at most, on 2 cores";
        assert_eq!(cost(&run(false)), whole);
        assert_eq!(
            cost(&run(true)),
            format!("{whole}; of the last attempt alone, which began with the checkpoint folder of an earlier one")
        );
    }
}
