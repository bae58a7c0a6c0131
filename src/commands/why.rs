//! `cwm why`: why a stage would run, or where its result comes from.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use crate::cli::WhyArguments;
use crate::commands::{Workspace, print, print_json};
use crate::engine::{Cause, CellState, Survey, sources, unread, why_now};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::store::Dropped;

/// How far back changed inputs are followed.
const DEPTH: usize = 8;

#[derive(Serialize)]
struct Answer {
    label: String,
    state: &'static str,
    /// Where a cached result comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    /// Why the cached result was made then, one cause a line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    made_because: Vec<String>,
    /// Why it would run now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<Cause>,
    /// What it depends on that would run, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    because_of: Vec<Answer>,
}

/// Runs `cwm why`.
///
/// # Errors
/// No such stage, or the pipeline or the store cannot be read.
pub fn run(store: Option<&Path>, mut arguments: WhyArguments) -> Result<ExitCode, Error> {
    arguments.pipeline.take_from(&mut arguments.stages)?;
    if arguments.stages.is_empty() {
        return Err(Error::usage("no stage is named").hint("`cwm status` lists them"));
    }
    let mut workspace = Workspace::open(store, &arguments.pipeline)?;
    let mut cells = Vec::new();
    for word in &arguments.stages {
        cells.extend(workspace.plan.select(word)?);
    }
    let survey = workspace.survey()?;
    let answers: Vec<Answer> = cells
        .into_iter()
        .map(|index| answer(&workspace, &survey, index, DEPTH, &mut BTreeSet::new()))
        .collect::<Result<_, _>>()?;
    if arguments.json {
        print_json(&answers)?;
    } else {
        let mut text = String::new();
        answers.iter().for_each(|answer| tell(answer, 0, &mut text));
        print(&text)?;
    }
    Ok(ExitCode::OK)
}

/// What is to be said of a cell, and of what it depends on; cells that were `told` of are not explained again.
fn answer(
    workspace: &Workspace,
    survey: &Survey,
    index: usize,
    depth: usize,
    told: &mut BTreeSet<usize>,
) -> Result<Answer, Error> {
    let mut answer = Answer {
        label: workspace.plan.cells[index].label.to_string(),
        state: "cached",
        origin: None,
        made_because: Vec::new(),
        causes: Vec::new(),
        because_of: Vec::new(),
    };
    match &survey.states[index] {
        CellState::Cached(record) => {
            let missing = workspace.store.missing(record, &workspace.files)?;
            if missing.is_empty() || record.dropped == Some(Dropped::NotKept) {
                let dropped = if missing.is_empty() { "" } else { "; its files were dropped, as `keep: false` says" };
                answer.origin = Some(record.origin() + dropped);
                // What was taken over did not run.
                answer.made_because = if record.is_taken() { Vec::new() } else { record.cause.clone() };
            } else {
                answer.state = "would run";
                answer.causes = vec![Cause::of_missing(record, missing.len())];
            }
        }
        CellState::Absent(resolved) => {
            answer.state = "would run";
            answer.causes = why_now(&workspace.plan, index, resolved, &workspace.store, &workspace.locked)?;
            // Changed inputs: say what changed them.
            let changed = answer.causes.iter().filter_map(|cause| match cause {
                Cause::Input { source, .. } => Some(source.clone()),
                _ => None,
            });
            let changed: BTreeSet<String> = changed.collect();
            for source in sources(&workspace.plan.cells[index]) {
                let is_cause = changed.contains(&workspace.plan.cells[source].label.to_string());
                if depth > 0 && is_cause && told.insert(source) {
                    answer.because_of.push(self::answer(workspace, survey, source, depth - 1, told)?);
                }
            }
        }
        CellState::Open => {
            answer.state = "waits";
            for source in sources(&workspace.plan.cells[index]) {
                let is_cause = !matches!(survey.states[source], CellState::Cached(_));
                if depth > 0 && is_cause && told.insert(source) {
                    answer.because_of.push(self::answer(workspace, survey, source, depth - 1, told)?);
                }
            }
        }
        CellState::Unread(path) => {
            answer.state = "may run";
            answer.origin = Some(unread(path));
        }
        CellState::Unreadable(error) => {
            answer.state = "would fail";
            answer.origin = Some(error.message.clone());
        }
    }
    Ok(answer)
}

fn tell(answer: &Answer, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    let (state, origin) = (answer.state, answer.origin.as_deref().unwrap_or_default());
    match state {
        "waits" => *text += &format!("{indent}{}: may run, when what it depends on has run\n", answer.label),
        _ if origin.is_empty() => *text += &format!("{indent}{}: {state}\n", answer.label),
        _ => *text += &format!("{indent}{}: {state}: {origin}\n", answer.label),
    }
    for line in &answer.made_because {
        *text += &format!("{indent}  it ran then because: {line}\n");
    }
    for cause in &answer.causes {
        *text += &format!("{indent}  {cause}\n");
    }
    answer.because_of.iter().for_each(|answer| tell(answer, depth + 1, text));
}
