//! The command that tries again what a run did not finish.

use std::collections::BTreeSet;
use std::path::Path;

use crate::cli::{Executor, RunArguments, pipeline_options};
use cwm_core::shell_quote;
use cwm_pipeline::plan::Plan;

/// Returns the command line of this process, quoted for a shell.
pub fn invocation() -> String {
    let mut words = std::env::args_os().map(|word| shell_quote(&word.to_string_lossy()));
    let _ = words.next();
    ["cwm".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// Returns the command that runs what is not `done` of these arguments: the same words, except that `--force` names only what is
/// not done.
pub fn command(store: Option<&Path>, arguments: &RunArguments, plan: &Plan, done: impl Fn(usize) -> bool) -> String {
    let mut command = "cwm run".to_owned();
    command += &pipeline_options(store, &arguments.pipeline);
    if let Some(device) = arguments.device {
        command += &format!(" --device {device}");
    }
    if let Some(executor) = arguments.executor {
        command += if executor == Executor::Slurm { " --executor slurm" } else { " --executor local" };
    }
    if let Some(jobs) = arguments.jobs {
        command += &format!(" --jobs {jobs}");
    }
    if arguments.pull {
        command += " --pull";
    }
    if arguments.push {
        command += " --push";
    }
    if let Some(remote) = &arguments.remote {
        command += &format!(" --remote {}", shell_quote(remote));
    }
    if arguments.check {
        command += " --check";
    }
    let mut forced = BTreeSet::new();
    for word in &arguments.force {
        let cells = plan.select(word).unwrap_or_default();
        let left: Vec<usize> = cells.iter().copied().filter(|cell| !done(*cell)).collect();
        if left.len() == cells.len() {
            forced.insert(word.clone());
        } else {
            forced.extend(left.iter().map(|cell| plan.cells[*cell].label.to_string()));
        }
    }
    for word in forced {
        command += &format!(" --force {}", shell_quote(&word));
    }
    for word in &arguments.words {
        command += &format!(" {}", shell_quote(word));
    }
    command
}
