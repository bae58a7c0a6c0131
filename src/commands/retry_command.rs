//! Command lines for messages: the one of this process, and the one that retries what a run did not finish.

use std::collections::BTreeSet;
use std::path::Path;

use crate::cli::RunArguments;
use crate::hints::pipeline_options;
use clap::ValueEnum;
use cwm_core::shell_quote;
use cwm_pipeline::plan::Plan;
use cwm_store::ActionRecord;

/// Returns the command line of this process, quoted for a shell.
pub fn invocation() -> String {
    let words = std::env::args_os().skip(1).map(|word| shell_quote(&word.to_string_lossy()));
    ["cwm".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// Returns the command that retries a run: it has the same arguments, but `--force` names only cells without a record.
pub fn of_run(store: Option<&Path>, arguments: &RunArguments, plan: &Plan, records: &[Option<ActionRecord>]) -> String {
    let mut forced = BTreeSet::new();
    for word in &arguments.force {
        let mut cells = plan.select(word).unwrap_or_default();
        let count = cells.len();
        cells.retain(|cell| records[*cell].is_none());
        if cells.len() == count {
            forced.insert(word.clone());
        } else {
            forced.extend(cells.iter().map(|cell| plan.cells[*cell].label.to_string()));
        }
    }
    let (execution, sharing) = (&arguments.execution, &arguments.sharing);
    let executor = execution.executor.and_then(|executor| executor.to_possible_value());
    let options = [
        ("--device", execution.device.map(|device| device.to_string())),
        ("--executor", executor.map(|executor| executor.get_name().to_owned())),
        ("--jobs", execution.jobs.map(|jobs| jobs.to_string())),
        ("--remote", sharing.remote.clone()),
    ];
    let options = options.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let forced = forced.into_iter().map(|word| ("--force", word));
    let options = options.chain(forced).map(|(name, value)| format!(" {name} {}", shell_quote(&value)));
    let flags = [("--pull", sharing.pull), ("--push", sharing.push), ("--check", arguments.check)];
    let flags = flags.iter().filter(|(_, is_set)| *is_set).map(|(name, _)| format!(" {name}"));
    let words = arguments.words.iter().map(|word| format!(" {}", shell_quote(word)));
    let typed = &arguments.pipeline;
    let pipeline = pipeline_options(store, typed.file.as_deref(), &typed.sets);
    format!("cwm run{pipeline}{}", flags.chain(options).chain(words).collect::<String>())
}
