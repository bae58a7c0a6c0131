//! Finds the artifacts of an input in one cell, each with a label of its own.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use cwm_contract::{Count, Label};

use super::bind::{BoundInput, BoundSource};
use super::build::PlannedStage;
use super::cells::Matrix;
use super::references::Reference;
use super::{InputPlan, Origin, Source};
use cwm_core::names::list;
use cwm_core::{Diagnostic, Diagnostics, Place};

/// The most sources of all cells together; more are a mistake.
const MOST_SOURCES: usize = 1_000_000;

/// The cells that a reference means, indexed by their labels on the axes that both stages have.
struct Join {
    /// Positions of the shared axes, in the reader.
    on: Vec<usize>,
    cells: HashMap<Vec<u32>, Vec<usize>>,
    /// Names of the axes that are neither fixed nor shared.
    open: Vec<String>,
}

impl Join {
    fn new(here: &Matrix, there: &Matrix, reference: &Reference) -> Self {
        let (mut on, mut key, mut open) = (Vec::new(), Vec::new(), Vec::new());
        for (position, axis) in there.axes.iter().enumerate().filter(|(position, _)| !reference.fixes(*position)) {
            match here.axis(&axis.name) {
                Some(shared) => {
                    on.push(shared);
                    key.push(position);
                }
                None => open.push(axis.name.clone()),
            }
        }
        let mut cells: HashMap<Vec<u32>, Vec<usize>> = HashMap::new();
        for cell in reference.cells(there) {
            cells.entry(key.iter().map(|&position| there.id(cell, position)).collect()).or_default().push(cell);
        }
        Join { on, cells, open }
    }

    /// Returns the cells that agree with this cell of the reader on all shared axes.
    fn cells(&self, here: &Matrix, cell: usize) -> &[usize] {
        let key: Vec<u32> = self.on.iter().map(|&position| here.id(cell, position)).collect();
        self.cells.get(&key).map_or(&[], Vec::as_slice)
    }
}

/// Finds the sources of each input of each cell.
#[derive(Default)]
pub struct Grouping {
    /// By the number of the reader and the address of the shared reference.
    joins: HashMap<(usize, *const Reference), Join>,
    /// The number of sources so far.
    total: usize,
}

impl Grouping {
    /// Returns the sources of `bound` for a cell of the stage with this number. None if something is wrong, which is reported.
    pub fn input(
        &mut self,
        stages: &[PlannedStage],
        number: usize,
        cell: usize,
        bound: &BoundInput,
        problems: &mut Diagnostics,
    ) -> Option<InputPlan> {
        let here = stages[number].grid.as_ref()?;
        let name = &bound.input.name;
        let mut sources: Vec<(Label, String, Origin)> = Vec::new();
        let mut open: Vec<String> = Vec::new();
        for source in &bound.sources {
            let (reference, port) = match source {
                BoundSource::File(path, _) => {
                    sources.push((file_label(path), String::new(), Origin::File(path.clone())));
                    continue;
                }
                BoundSource::Output(reference, port) => (reference, port),
            };
            let from = &stages[reference.stage];
            let there = from.grid.as_ref()?;
            let join = self.joins.entry((number, Rc::as_ptr(reference)));
            let join = join.or_insert_with(|| Join::new(here, there, reference));
            let cells = join.cells(here, cell);
            if cells.is_empty() {
                let label = &stages[number].labels[cell];
                problems.push(
                    Diagnostic::at(reference.place, format!("no cell of `{}` agrees with `{label}`", reference.text))
                        .hint("cells are joined on the axes that both stages have, by label"),
                );
                return None;
            }
            self.total += cells.len();
            if self.total > MOST_SOURCES {
                let message = format!("the inputs of all cells add up to more than {MOST_SOURCES}");
                problems.push(
                    Diagnostic::at(reference.place, message)
                        .hint("gather a group in one stage, and let the others read that one"),
                );
                return None;
            }
            open.extend(join.open.iter().cloned());
            let mut cells = cells.to_vec();
            cells.sort_by_cached_key(|&cell| from.labels[cell].to_string());
            for cell in cells {
                // Cells come before their readers. If one did not, its stage has a problem that was reported.
                let from_cell = Origin::Cell { index: *from.cells.get(cell)?, port: port.clone() };
                sources.push((from.labels[cell].clone(), port.clone(), from_cell));
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

/// Returns the label of a file from outside: its name, without characters that a label cannot hold.
fn file_label(path: &Path) -> Label {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    Label::stage(name.replace(|c: char| c.is_control() || "[],=".contains(c), "_"))
}

/// Adds the place of each source.
fn placed(sources: Vec<(Label, String, Origin)>, bound: &BoundInput) -> Vec<Source> {
    let written = bound.sources.iter().filter_map(|source| match source {
        BoundSource::File(path, place) => Some((path, *place)),
        BoundSource::Output(..) => None,
    });
    let written: HashMap<&PathBuf, Place> = written.collect();
    let place = |from: &Origin| match from {
        Origin::File(path) => written.get(path).copied().unwrap_or(bound.place),
        Origin::Cell { .. } => bound.place,
    };
    sources.into_iter().map(|(label, _, from)| Source { label, place: place(&from), from }).collect()
}

/// Sorts the sources by label. Equal labels get their output's name.
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

/// Returns the artifacts of a list in its order. Labels may be equal (files of one name in several folders), artifacts not.
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
