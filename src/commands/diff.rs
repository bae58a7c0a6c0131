//! `cwm diff`: compares two runs by their lock files and reports.

mod operand;
mod reports;

use std::path::Path;

use serde::Serialize;

use crate::cli::DiffArguments;
use crate::output::{print_result, print_warnings};
use cwm_core::{Error, ExitCode};
use cwm_history::diff::{LockDifference, ReportDifference, compare, differ};
use cwm_pipeline::plan::set_values;
use cwm_project::fold_problems;
use operand::{Operand, ProjectPaths};

/// The difference, as `--json` prints it.
#[derive(Serialize)]
struct DiffOutput {
    format: u32,
    old: String,
    new: String,
    /// The difference of two lock files.
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<LockDifference>,
    /// The reports that both lock files have; one, if two reports were named.
    reports: Vec<ReportComparison>,
}

/// The comparison of a report that both have.
#[derive(Serialize)]
struct ReportComparison {
    /// Its cell and output.
    name: String,
    /// The reason why it was not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_compared: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<ReportDifference>,
}

/// The version of the JSON output.
const FORMAT: u32 = 1;

/// Runs `cwm diff`.
///
/// # Errors
/// One of the two is nothing that can be compared, or cannot be read.
pub fn run(store: Option<&Path>, arguments: &DiffArguments) -> Result<ExitCode, Error> {
    let tolerance = arguments.tolerance;
    let places = ProjectPaths { store, file: arguments.file.as_deref() };
    let (old_name, old) = Operand::resolve(&arguments.old, &places)?;
    let (new_name, new) = match &arguments.sets[..] {
        [] => Operand::resolve(arguments.new.as_deref().unwrap_or("."), &places)?,
        sets => Operand::of_run(&set_values(sets), &places)?,
    };
    let (cells, reports) = match (old, new) {
        (Operand::Lock(old), Operand::Lock(new)) => {
            print_warnings(fold_problems(old.problems().iter().chain(new.problems())));
            let store = places.store()?;
            let plan = places.plan(&new);
            let reports = reports::compare_all(&old, &new, &store, tolerance)?;
            (Some(differ(&old, &new, &store, plan.as_ref())?), reports)
        }
        (old, new) => {
            let tables = |name: &str, operand: Operand| match operand {
                Operand::Report(tables) => Ok(tables),
                Operand::Lock(lock) => reports::single_report(name, &lock, &places.store()?),
            };
            let difference = compare(&tables(&old_name, old)?, &tables(&new_name, new)?, tolerance);
            (None, vec![ReportComparison { name: String::new(), not_compared: None, difference: Some(difference) }])
        }
    };
    let answer = DiffOutput { format: FORMAT, old: old_name, new: new_name, cells, reports };
    print_result(&answer, || text(&answer))?;
    Ok(if is_same(&answer) { ExitCode::OK } else { ExitCode::DIFFERENT })
}

/// Returns true if nothing differs. A report that was not compared is of a cell that differs.
fn is_same(answer: &DiffOutput) -> bool {
    let reports = answer.reports.iter().filter_map(|report| report.difference.as_ref());
    answer.cells.as_ref().is_none_or(LockDifference::is_empty) && reports.into_iter().all(ReportDifference::is_empty)
}

fn text(answer: &DiffOutput) -> String {
    let mut text = format!("{} -> {}\n", answer.old, answer.new);
    text += &answer.cells.as_ref().map(LockDifference::text).unwrap_or_default();
    for report in &answer.reports {
        if !report.name.is_empty() {
            text += &format!("\n{}\n", report.name);
        }
        text += &report.not_compared.as_ref().map(|why| format!("not compared: {why}\n")).unwrap_or_default();
        text += &report.difference.as_ref().map(ReportDifference::text).unwrap_or_default();
    }
    text
}
