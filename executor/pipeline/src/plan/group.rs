//! What an input is given in one cell: artifacts, each with a label of its own.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use cwm_contract::{Count, Label};

use super::bind::{BoundInput, BoundSource};
use super::cells::Matrix;
use super::join::Joins;
use super::references::Reference;
use super::{InputPlan, Origin, Source};
use cwm_core::names::list;
use cwm_core::{Diagnostic, Diagnostics, Place};

/// More edges than this between cells are taken for a mistake.
const MOST_SOURCES: usize = 1_000_000;

/// The stages and cells of a plan.
pub struct Cells<'a> {
    /// The axes and cells of each stage.
    pub grids: &'a [Option<Matrix>],
    /// The addresses of the cells of each stage.
    pub labels: &'a [Vec<Label>],
    /// Where the cells of each stage stand in the plan.
    pub indices: &'a [Vec<usize>],
    /// References by number.
    pub references: &'a [Reference],
    /// Joins made so far.
    pub joins: Joins,
    /// Sources given so far.
    pub total: usize,
}

impl Cells<'_> {
    /// The sources of `bound` for the cell numbered `cell` of the stage numbered `stage`. `None` if something is wrong,
    /// which is reported.
    pub fn input(
        &mut self,
        stage: usize,
        cell: usize,
        bound: &BoundInput,
        problems: &mut Diagnostics,
    ) -> Option<InputPlan> {
        let here = self.grids[stage].as_ref()?;
        let name = &bound.input.name;
        let mut sources: Vec<(Label, String, Origin)> = Vec::new();
        let mut open: Vec<String> = Vec::new();
        for source in &bound.sources {
            let (number, port) = match source {
                BoundSource::File(path, _) => {
                    sources.push((file_label(path), String::new(), Origin::File(path.clone())));
                    continue;
                }
                BoundSource::Output { reference, port } => (*reference, port),
            };
            let reference = &self.references[number];
            let there = self.grids[reference.stage].as_ref()?;
            let join = self.joins.get(stage, number, reference, self.grids);
            let cells = join.cells(here, cell);
            if cells.is_empty() {
                problems.push(
                    Diagnostic::at(
                        reference.place,
                        format!("no cell of `{}` agrees with `{}`", reference.text, self.labels[stage][cell]),
                    )
                    .hint("cells are joined on the axes that both stages have, by label"),
                );
                return None;
            }
            self.total += cells.len();
            if self.total > MOST_SOURCES {
                problems.push(
                    Diagnostic::at(
                        reference.place,
                        format!("the inputs of all cells add up to more than {MOST_SOURCES}"),
                    )
                    .hint("gather a group in one stage, and let the others read that one"),
                );
                return None;
            }
            open.extend(join.open.iter().map(|&position| there.axes[position].name.clone()));
            // Cells come before their readers; if one did not, its stage has a fault that was reported.
            let indices = self.indices[reference.stage].as_slice();
            let mut cells = cells.to_vec();
            cells.sort_by_cached_key(|&cell| self.labels[reference.stage][cell].to_string());
            for cell in cells {
                let label = self.labels[reference.stage][cell].clone();
                let from = Origin::Cell { index: *indices.get(cell)?, port: port.clone() };
                sources.push((label, port.clone(), from));
            }
        }
        let group = match bound.input.count {
            Some(count) => count.is_group(),
            None => bound.is_list || !open.is_empty(),
        };
        if !group && sources.len() != 1 {
            problems.push(not_one(bound, &sources, &open));
            return None;
        }
        let is_list = bound.input.count == Some(Count::List);
        let sources =
            if is_list { all_different(sources, bound, problems)? } else { distinct(sources, bound, problems)? };
        let format = bound.input.format.clone();
        Some(InputPlan { name: name.clone(), format, group, is_list, sources, place: bound.place })
    }
}

/// The label of a file from outside: its name, without what a label cannot hold.
fn file_label(path: &Path) -> Label {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    Label::stage(name.replace(|c: char| c.is_control() || "[],=".contains(c), "_"))
}

/// With where each is written.
fn placed(sources: Vec<(Label, String, Origin)>, bound: &BoundInput) -> Vec<Source> {
    let written = bound.sources.iter().filter_map(|source| match source {
        BoundSource::File(path, place) => Some((path, *place)),
        BoundSource::Output { .. } => None,
    });
    let written: HashMap<&PathBuf, Place> = written.collect();
    let place = |from: &Origin| match from {
        Origin::File(path) => written.get(path).copied().unwrap_or(bound.place),
        Origin::Cell { .. } => bound.place,
    };
    sources.into_iter().map(|(label, _, from)| Source { label, place: place(&from), from }).collect()
}

/// Sorted by label, with the port put into the labels of those that would else have the same.
fn distinct(
    mut sources: Vec<(Label, String, Origin)>,
    bound: &BoundInput,
    problems: &mut Diagnostics,
) -> Option<Vec<Source>> {
    if sources.len() > 1 {
        let mut count: HashMap<Label, usize> = HashMap::new();
        sources.iter().for_each(|(label, ..)| *count.entry(label.clone()).or_default() += 1);
        for (label, port, _) in &mut sources {
            if count.get(label).is_some_and(|count| *count > 1) && !port.is_empty() {
                label.stage = format!("{}.{port}", label.stage);
            }
        }
        sources.sort_by_cached_key(|(label, ..)| label.to_string());
        if let Some(twice) = sources.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            problems.push(
                Diagnostic::at(bound.place, format!("input `{}` is given `{}` twice", bound.input.name, twice[0].0))
                    .hint("each artifact of a group has a label of its own: the cell, or the name of the file"),
            );
            return None;
        }
    }
    Some(placed(sources, bound))
}

/// The artifacts of a list in its order. Labels may be the same (files of one name in several folders), artifacts not.
fn all_different(
    sources: Vec<(Label, String, Origin)>,
    bound: &BoundInput,
    problems: &mut Diagnostics,
) -> Option<Vec<Source>> {
    let mut seen = HashSet::new();
    for (label, _, from) in &sources {
        if !seen.insert(from) {
            problems.push(
                Diagnostic::at(bound.place, format!("input `{}` is given `{label}` twice", bound.input.name))
                    .hint("leave one; what is read twice is in the result twice"),
            );
            return None;
        }
    }
    Some(placed(sources, bound))
}

fn not_one(bound: &BoundInput, sources: &[(Label, String, Origin)], open: &[String]) -> Diagnostic {
    let optional = bound.input.count == Some(Count::Optional);
    let takes = if optional { "at most one artifact" } else { "one artifact" };
    let mut axes: Vec<_> = open.iter().map(String::as_str).collect();
    axes.sort_unstable();
    axes.dedup();
    let problem = Diagnostic::at(
        bound.place,
        format!("input `{}` takes {takes} and is given {}", bound.input.name, sources.len()),
    );
    match (list(&axes), sources.first()) {
        (Some(axes), Some((first, ..))) => problem.label(format!("open here: {axes}")).hint(format!(
            "have one cell for each of them with `each: {}`, or fix the axis: `{}[{}=…]`",
            first.stage,
            first.stage,
            open.first().map_or("", String::as_str)
        )),
        _ => problem.hint("leave one"),
    }
}
