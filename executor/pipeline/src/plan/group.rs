//! Finds the artifacts of an input in one cell, each with a label of its own.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

use cwm_contract::{Count, Label};

use super::bind::BoundInput;
use super::build::Planner;
use super::input_sources::InputSource;
use super::references::Reference;
use super::{ArtifactOrigin, InputArtifact, InputPlan};
use cwm_core::{Diagnostic, list_names};

/// The most sources of all cells together; more are a mistake.
const MOST_SOURCES: usize = 1_000_000;

impl Planner<'_> {
    /// Returns the sources of an input for a cell of the stage with this number. None if something is wrong, which is reported.
    pub fn input(&self, number: usize, cell: usize, bound: &BoundInput) -> Option<InputPlan> {
        let mut sources: Vec<InputArtifact> = Vec::with_capacity(bound.sources.len());
        let mut open: Vec<String> = Vec::new();
        for (source, output_name) in &bound.sources {
            match source {
                InputSource::File(path, place) => {
                    let (label, from) = (file_label(path), ArtifactOrigin::File(path.clone()));
                    sources.push(InputArtifact { label, place: *place, from });
                }
                InputSource::Reference(reference) => {
                    let place = bound.place;
                    let stage = &self.stages[reference.stage];
                    for there in self.problems.ok(self.joined(number, cell, reference, &mut open))? {
                        // Stages come before their readers. If one did not, that is a problem which was reported.
                        let from =
                            ArtifactOrigin::Cell { index: stage.first_cell? + there, output_name: output_name.clone() };
                        sources.push(InputArtifact { label: stage.matrix.labels[there].clone(), place, from });
                    }
                }
            }
        }
        let BoundInput { input, is_list, .. } = bound;
        let group = input.count.map_or(*is_list || !open.is_empty(), Count::is_group);
        let is_list = input.count == Some(Count::List);
        let problem = match (group, is_list) {
            (false, _) if sources.len() != 1 => Some(single_source_error(bound, &sources, &mut open)),
            (false, _) => None,
            // Labels may be equal (files of one name in several folders), artifacts not.
            (_, true) => {
                let mut seen = HashSet::new();
                let twice = sources.iter().find(|source| !seen.insert(&source.from));
                twice.map(|twice| {
                    given_twice(bound, &twice.label, "leave one; what is read twice is in the result twice")
                })
            }
            (_, false) => {
                make_distinct(&mut sources);
                let twice = sources.windows(2).find(|pair| pair[0].label == pair[1].label);
                let hint = "each artifact of a group has a label of its own: the cell, or the name of the file";
                let problem = twice.map(|pair| given_twice(bound, &pair[0].label, hint));
                // A command finds a group as links with the labels as names.
                let of_command = group && input.count.is_none();
                problem.or_else(|| if of_command { shared_link_name(bound, &sources) } else { None })
            }
        };
        if let Some(problem) = problem {
            self.problems.push(problem);
            return None;
        }
        Some(InputPlan { name: input.name.clone(), group, is_list, sources })
    }

    /// Returns the cells that a reference means and that agree with a cell of the reader on all shared axes, sorted by label. Adds
    /// the names of the axes that are neither fixed nor shared to `open`.
    fn joined(
        &self,
        number: usize,
        cell: usize,
        reference: &Reference,
        open: &mut Vec<String>,
    ) -> Result<Vec<usize>, Diagnostic> {
        let (here, there) = (&self.stages[number].matrix, &self.stages[reference.stage].matrix);
        // The numbers of the values that are meant, of each axis.
        let mut meant: Vec<Range<usize>> = Vec::new();
        for (position, axis) in there.axes.iter().enumerate() {
            let fixed = reference.fixed.iter().find(|(fixed, _)| *fixed == position).map(|(_, label)| label);
            let shared = || Some(&here.value(cell, here.axis(&axis.name)?).label);
            meant.push(match fixed.or_else(shared) {
                Some(label) => axis.numbers.get(label).map_or(0..0, |&number| number..number + 1),
                None => {
                    open.push(axis.name.clone());
                    0..axis.values.len()
                }
            });
        }
        let count = meant.iter().fold(1, |count: usize, numbers| count.saturating_mul(numbers.len()));
        if count == 0 {
            let message = format!("no cell of `{}` agrees with `{}`", reference.text, here.labels[cell]);
            let hint = "cells are joined on the axes that both stages have, by label";
            return Err(Diagnostic::at(reference.place, message).hint(hint));
        }
        self.source_count.set(self.source_count.get().saturating_add(count));
        if self.source_count.get() > MOST_SOURCES {
            let message = format!("the inputs of all cells add up to more than {MOST_SOURCES}");
            let hint = "gather a group in one stage, and let the others read that one";
            return Err(Diagnostic::at(reference.place, message).hint(hint));
        }
        let mut cells = vec![0];
        for (axis, numbers) in there.axes.iter().zip(meant) {
            let with_axis = |cell: usize| numbers.clone().map(move |number| cell * axis.values.len() + number);
            cells = cells.into_iter().flat_map(with_axis).collect();
        }
        cells.sort_by_cached_key(|&cell| there.labels[cell].to_string());
        Ok(cells)
    }
}

/// Returns the label of an external file: its name, without characters that a label cannot hold.
fn file_label(path: &Path) -> Label {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    Label::stage(name.replace(|c: char| c.is_control() || "[],=".contains(c), "_"))
}

/// Adds the output's name to equal labels, and sorts the sources by label.
fn make_distinct(sources: &mut [InputArtifact]) {
    let mut count: HashMap<Label, usize> = HashMap::new();
    sources.iter().for_each(|source| *count.entry(source.label.clone()).or_default() += 1);
    for InputArtifact { label, from, .. } in &mut *sources {
        if let (ArtifactOrigin::Cell { output_name, .. }, true) = (from, count[label] > 1) {
            label.stage = format!("{}.{output_name}", label.stage);
        }
    }
    sources.sort_by_cached_key(|source| source.label.to_string());
}

fn given_twice(bound: &BoundInput, label: &Label, hint: &str) -> Diagnostic {
    let message = format!("input `{}` is given `{label}` twice", bound.input.name);
    Diagnostic::at(bound.place, message).hint(hint)
}

/// Returns the problem of two artifacts whose links would have one name, since a name cannot hold the slash of a label.
fn shared_link_name(bound: &BoundInput, sources: &[InputArtifact]) -> Option<Diagnostic> {
    let mut labels: HashMap<String, &Label> = HashMap::new();
    sources.iter().find_map(|InputArtifact { label, .. }| {
        let name = label.file_name();
        let other = labels.insert(name.clone(), label)?;
        let input = &bound.input.name;
        let message =
            format!("`{other}` and `{label}` would have one name in the folder of the input `{input}`, `{name}`");
        Some(Diagnostic::at(bound.place, message).hint("give the values other labels: `{ label: value }`"))
    })
}

fn single_source_error(bound: &BoundInput, sources: &[InputArtifact], open: &mut Vec<String>) -> Diagnostic {
    let optional = bound.input.count == Some(Count::Optional);
    let takes = if optional { "at most one artifact" } else { "one artifact" };
    let message = format!("input `{}` takes {takes} and is given {}", bound.input.name, sources.len());
    let problem = Diagnostic::at(bound.place, message);
    let (Some(axis), Some(InputArtifact { label, .. })) = (open.first().cloned(), sources.first()) else {
        return problem.hint("leave one");
    };
    open.sort_unstable();
    open.dedup();
    let stage = &label.stage;
    problem
        .label(format!("not fixed here: {}", list_names(open).unwrap_or_default()))
        .hint(format!("have one cell for each of them with `each: {stage}`, or fix the axis: `{stage}[{axis}=…]`"))
}
