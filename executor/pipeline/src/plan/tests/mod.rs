//! Tests of planning, with stages that declare what the real ones do and never run.

mod devices;
mod faults;
mod hostile;
mod meaning;
mod mutated;
mod scale;
mod stages;

use std::path::PathBuf;

use super::load::resolve;
use super::parameters::Folders;
use super::variables::set_sources;
use super::{Cell, Plan};
use cwm_core::{Diagnostics, SourceText, SourceTexts};

/// Plans a text as the file `/here/pipeline.yaml`, from the folder `/current`.
fn plan_with(text: &str, sets: &[(&str, &str)]) -> Result<Plan, Diagnostics> {
    let sets: Vec<_> = sets.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let mut sources = vec![SourceText { name: "pipeline.yaml".into(), text: text.into() }];
    sources.extend(set_sources(&sets));
    let folders = Folders { file: "/here".into(), current: "/current".into() };
    resolve(PathBuf::from("/here/pipeline.yaml"), folders, &sets, &stages::registry(), SourceTexts::new(sources))
}

/// Plans a text that is right.
#[track_caller]
fn plan(text: &str) -> Plan {
    plan_with(text, &[]).unwrap_or_else(|problems| panic!("{problems}"))
}

/// The cell of that address.
#[track_caller]
fn cell<'p>(plan: &'p Plan, address: &str) -> &'p Cell {
    match plan.select(address).unwrap()[..] {
        [only] => &plan.cells[only],
        ref several => panic!("{address} means {} cells", several.len()),
    }
}

/// Returns the inputs of a cell, a line for each.
fn inputs(plan: &Plan, cell: &Cell) -> String {
    let line = |input: &super::InputPlan| {
        let sources: Vec<_> = input
            .sources
            .iter()
            .map(|source| match &source.from {
                super::ArtifactOrigin::File(path) => format!("{} = {}", source.label, path.display()),
                super::ArtifactOrigin::Cell { index, output_name } => {
                    format!("{} = {}.{output_name}", source.label, plan.cells[*index].label)
                }
            })
            .collect();
        format!("{}{}: {}", input.name, if input.group { "*" } else { "" }, sources.join("; "))
    };
    cell.inputs.iter().map(line).collect::<Vec<_>>().join("\n")
}
