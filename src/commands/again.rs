//! The command that tries again what a run did not finish.

use std::collections::BTreeSet;
use std::path::Path;

use cwm_contract::Label;

use crate::cli::{Executor, RunArguments};
use crate::commands::typed::options;
use cwm_core::text::shell_quote;
use cwm_engine::Failures;
use cwm_pipeline::plan::Plan;

/// Cells that are named one by one; of more, their stages.
const NAMED: usize = 8;

/// What was typed to start this program, as a shell reads it.
pub fn typed() -> String {
    let mut words = std::env::args_os().map(|word| shell_quote(&word.to_string_lossy()));
    let _ = words.next();
    ["cwm".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// The commands that check again what these arguments asked for: after what fetches or makes that of which something is missing.
pub fn checked(store: Option<&Path>, arguments: &RunArguments, plan: &Plan, failures: &Failures) -> String {
    let first = [("pull", &failures.to_pull), ("run", &failures.to_make)];
    let first = first.into_iter().filter(|(_, cells)| !cells.is_empty()).map(|(verb, cells)| {
        let names = names(plan, cells).join(" ");
        format!("cwm {verb}{} {names} && ", options(store, &arguments.pipeline))
    });
    first.chain([command(store, arguments, plan, |_| true)]).collect()
}

/// Cells as they are typed, one by one or by their stages.
fn names(plan: &Plan, cells: &BTreeSet<usize>) -> Vec<String> {
    let labels = |name: &dyn Fn(&Label) -> String| -> BTreeSet<String> {
        cells.iter().map(|cell| shell_quote(&name(&plan.cells[*cell].label))).collect()
    };
    let words = match cells.len() > NAMED {
        true => labels(&|label| label.stage.clone()),
        false => labels(&Label::to_string),
    };
    words.into_iter().collect()
}

/// The command that does what is not `done` of what these arguments asked for: the same, but what was forced and is done
/// is not forced again.
pub fn command(store: Option<&Path>, arguments: &RunArguments, plan: &Plan, done: impl Fn(usize) -> bool) -> String {
    let mut command = "cwm run".to_owned();
    command += &options(store, &arguments.pipeline);
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
