//! The command line that retries what a run did not finish.

use std::collections::BTreeSet;

use crate::cli::RunArguments;
use crate::hints::invocation;
use cwm_core::shell_quote;
use cwm_engine::CellRecords;
use cwm_pipeline::plan::Plan;

/// Returns the command that retries a run: the one that was typed, but `--force` names only cells without a record.
pub fn of_run(arguments: &RunArguments, plan: &Plan, records: &CellRecords) -> String {
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
    let forced = forced.iter().map(|word| format!(" --force {}", shell_quote(word)));
    invocation(Some("--force"), &forced.collect::<String>())
}
