//! `cwm diff`: how two runs differ, by their lock files and by their reports.

mod operand;
mod reports;

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;

use crate::cli::DiffArguments;
use crate::output::print_answer;
use cwm_core::{Error, ExitCode, escape_controls_in_lines};
use cwm_history::diff::{LockDifference, NamedSource, ReportDifference, compare, differ};
use cwm_pipeline::plan::{Body, Origin, Plan};
use operand::{Found, Operand, Places};

/// What `--json` prints.
#[derive(Serialize)]
struct Answer {
    format: u32,
    old: String,
    new: String,
    /// Of two lock files.
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<LockDifference>,
    /// By label and output; of two reports that were given as such, one.
    reports: Vec<ReportAnswer>,
}

#[derive(Serialize)]
struct ReportAnswer {
    name: String,
    /// Why it was not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_compared: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<ReportDifference>,
}

/// Version of what `--json` prints.
const FORMAT: u32 = 1;

/// Runs `cwm diff`.
///
/// # Errors
/// One of the two is nothing that can be compared, or cannot be read.
pub fn run(store: Option<&Path>, arguments: &DiffArguments) -> Result<ExitCode, Error> {
    let tolerance = arguments.tolerance;
    if !(tolerance >= 0.0 && tolerance.is_finite()) {
        return Err(Error::usage(format!("`--tolerance {tolerance}` is no size of a difference")));
    }
    let places = Places::new(store, arguments.file.as_deref());
    let (old, new) = (Operand::find(&arguments.old, &places)?, Operand::find(&arguments.new, &places)?);
    let mut answer =
        Answer { format: FORMAT, old: old.name.clone(), new: new.name.clone(), cells: None, reports: Vec::new() };
    match (old.found, new.found) {
        (Found::Lock(old), Found::Lock(new)) => {
            for warning in old.warnings().iter().chain(new.warnings()) {
                eprintln!("warning: {}", escape_controls_in_lines(&warning.to_string()));
            }
            let store = places.store()?;
            let plan = places.plan(&new);
            answer.cells = Some(differ(&old, &new, &store, plan.as_ref().map_or_else(nowhere, named_in))?);
            for pair in reports::of_both(&old, &new, &store)? {
                let compared = pair.tables.map(|(old, new)| compare(&old, &new, tolerance));
                let (difference, not_compared) = match compared {
                    Ok(difference) => (Some(difference), None),
                    Err(why) => (None, Some(why)),
                };
                answer.reports.push(ReportAnswer { name: pair.name, not_compared, difference });
            }
        }
        (old, new) => {
            let tables = |name: &str, found: Found| match found {
                Found::Report(tables) => Ok(tables),
                Found::Lock(lock) => reports::single_cell(name, &lock, &places.store()?),
            };
            let (old, new) = (tables(&answer.old, old)?, tables(&answer.new, new)?);
            let difference = Some(compare(&old, &new, tolerance));
            answer.reports.push(ReportAnswer { name: String::new(), not_compared: None, difference });
        }
    }
    print_answer(&answer, || text(&answer))?;
    Ok(if is_same(&answer) { ExitCode::OK } else { ExitCode::DIFFERENT })
}

/// What names the source of an input, by cell, input and label in the key.
type Sources<'p> = Box<dyn Fn(&str, &str, &str) -> Option<NamedSource> + 'p>;

fn nowhere<'p>() -> Sources<'p> {
    Box::new(|_, _, _| None)
}

/// What a pipeline names as the source of an input.
fn named_in(plan: &Plan) -> Sources<'_> {
    let cells: HashMap<String, usize> =
        plan.cells.iter().enumerate().map(|(index, cell)| (cell.label.to_string(), index)).collect();
    Box::new(move |cell, name, member| {
        let cell = &plan.cells[*cells.get(cell)?];
        let Some(input) = cell.inputs.iter().find(|input| input.name == name) else {
            let is_dependency = matches!(cell.body, Body::Command(_)) && name == "deps";
            return is_dependency.then(|| NamedSource::File(member.to_owned()));
        };
        let ordinal = (0..input.sources.len()).find(|ordinal| input.key_label(*ordinal) == member)?;
        Some(match &input.sources[ordinal].from {
            Origin::Cell { index, .. } => NamedSource::Cell(plan.cells[*index].label.to_string()),
            Origin::File(path) => NamedSource::File(path.display().to_string()),
        })
    })
}

/// Reports that follow from cells that differ need not be compared to say so.
fn is_same(answer: &Answer) -> bool {
    let reports = answer.reports.iter().filter_map(|report| report.difference.as_ref());
    answer.cells.as_ref().is_none_or(LockDifference::is_empty) && reports.into_iter().all(ReportDifference::is_empty)
}

fn text(answer: &Answer) -> String {
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
