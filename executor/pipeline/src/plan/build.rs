//! Plans the cells of a pipeline, step by step: axes, references, order, and then each stage after those that it reads.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cwm_contract::{Label, Needs};

use super::axes::Labels;
use super::bind::{BoundInput, bind};
use super::cells::{Matrix, grids};
use super::group::Grouping;
use super::input_sources::{Sources, sources};
use super::order::{Edges, Order, READS, order};
use super::parameters::{Complete, Folders, complete};
use super::ports::{Kind, kind};
use super::references::References;
use super::settings::{Settings, settings};
use super::substitute::Scope;
use super::variables::Variables;
use super::{Body, Cell, Dependency, Export, OutputPlan, StagePlan, command, dependencies, export, unused_axes};
use crate::spec::{FromSpec, Spec, StageSpec};
use cwm_core::{CodeOf, Diagnostic, Diagnostics, Node, Registry, SpannedStr};

/// The product of planning. It is complete only if there were no problems.
pub struct Built {
    /// Stages in the order of the file.
    pub stages: Vec<StagePlan>,
    /// Cells in an order in which they can run.
    pub cells: Vec<Cell>,
    /// The exports.
    pub exports: Vec<Export>,
}

/// A stage while it is planned. A part is none where it is wrong, which was reported.
pub struct PlannedStage<'a> {
    /// The stage in the file.
    pub spec: &'a StageSpec,
    /// Its kind.
    pub kind: Option<Kind>,
    /// Its axes and cells.
    pub grid: Option<Matrix>,
    /// The labels of its cells.
    pub labels: Vec<Label>,
    /// Its sources.
    pub sources: Sources,
    /// The names of the axes that its values use.
    pub used: BTreeSet<String>,
    /// Its outputs.
    pub outputs: Option<Vec<OutputPlan>>,
    /// Its cells, as indices into the plan.
    pub cells: Vec<usize>,
}

/// The state of planning.
pub struct Planner<'a> {
    /// The file.
    pub spec: &'a Spec,
    /// The variables.
    pub variables: &'a Variables,
    /// The folders that paths are relative to.
    pub folders: &'a Folders,
    /// The stages in the order of the file.
    pub stages: Vec<PlannedStage<'a>>,
    /// The references so far.
    pub references: References<'a>,
    /// The problems so far.
    pub problems: &'a mut Diagnostics,
    cells: Vec<Cell>,
    grouping: Grouping,
    code_of: CodeOf,
}

/// Plans a pipeline. A problem is reported, and the rest is planned all the same, to find more.
pub fn build(
    spec: &Spec,
    variables: &Variables,
    registry: &Registry,
    folders: &Folders,
    problems: &mut Diagnostics,
) -> Built {
    let mut names: HashMap<&str, usize> = HashMap::new();
    for (number, stage) in spec.stages.iter().enumerate() {
        names.entry(&stage.name.text).or_insert(number);
    }
    let mut labels = Labels::default();
    let grids = grids(spec, |name| names.get(name).copied(), variables, &mut labels, problems);
    let stages = spec.stages.iter().zip(grids).map(|(stage, grid)| PlannedStage {
        spec: stage,
        kind: kind(stage, registry, problems),
        labels: grid.iter().flat_map(|grid| grid.labels(&stage.name.text)).collect(),
        grid,
        sources: Sources::default(),
        used: BTreeSet::new(),
        outputs: None,
        cells: Vec::new(),
    });
    let mut stages: Vec<PlannedStage> = stages.collect();
    let mut references = References::new(&names, &labels);
    for number in 0..stages.len() {
        stages[number].sources = sources(number, &stages, variables, folders, &mut references, problems);
    }
    let Order { stages: order, .. } = order(spec, &edges(&stages), READS, problems);
    let (cells, grouping, code_of) = (Vec::new(), Grouping::default(), registry.code_of);
    let mut planner = Planner { spec, variables, folders, stages, references, problems, cells, grouping, code_of };
    for &number in &order {
        planner.stage(number);
    }
    unused_axes::check(&planner.stages, planner.problems);
    let exports = export::exports(&mut planner);
    let stages = planner.stages.into_iter().map(|stage| StagePlan {
        name: stage.spec.name.text.clone(),
        kind: stage.spec.kind.as_ref().map(|kind| kind.text.clone()).unwrap_or_default(),
        axes: stage.grid.iter().flat_map(|grid| &grid.axes).map(|axis| axis.name.clone()).collect(),
        cells: stage.cells,
        place: stage.spec.name.place,
    });
    Built { stages: stages.collect(), cells: planner.cells, exports }
}

fn edges(stages: &[PlannedStage]) -> Edges {
    let mut edges: Edges = vec![BTreeMap::new(); stages.len()];
    for (stage, below) in stages.iter().zip(&mut edges) {
        for reference in stage.sources.references() {
            below.entry(reference.stage).or_insert(reference.place);
        }
        if let (Some(each), Some(word)) = (stage.grid.as_ref().and_then(|grid| grid.each), &stage.spec.each) {
            below.entry(each).or_insert(word.place);
        }
    }
    edges
}

/// The work of one cell, and its settings.
struct Resolved {
    body: Body,
    complete: Complete,
    settings: Settings,
}

impl Planner<'_> {
    /// Plans the cells of a stage. All stages that it reads are planned.
    fn stage(&mut self, number: usize) {
        let stage = self.stages[number].spec;
        let deps = dependencies::dependencies(&stage.deps, &self.folders.file, self.problems);
        let (Some(kind), Some(grid)) = (&self.stages[number].kind, &self.stages[number].grid) else {
            return self.check_values(number);
        };
        let mut used = BTreeSet::new();
        let variants = &self.stages[number].sources.variants;
        let bound: Vec<Option<Vec<BoundInput>>> =
            variants.iter().map(|variant| bind(number, kind, variant, &self.stages, self.problems)).collect();
        let outputs = outputs(stage, kind, &bound, self.problems);
        let mut cells = Vec::with_capacity(grid.cells.len());
        for cell in 0..grid.cells.len() {
            let bound = bound[self.stages[number].sources.of_cell(cell)].as_deref();
            let inputs = bound.and_then(|bound| {
                let input = |bound| self.grouping.input(&self.stages, number, cell, bound, self.problems);
                // Every input is looked at, so that all problems are reported.
                bound.iter().map(input).collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>()
            });
            let scope = Scope::with_axes(self.variables, grid.bindings(cell));
            let deps = deps.as_deref().unwrap_or_default();
            let resolved = resolve(stage, kind, deps, self.folders, scope, &mut used, self.problems);
            cells.push(inputs.zip(resolved));
        }
        if let Some(outputs) = &outputs {
            for (cell, planned) in cells.into_iter().enumerate() {
                // Without this cell the others would have wrong numbers; there is a problem, so none of them runs.
                let Some((inputs, Resolved { body, complete, settings })) = planned else { break };
                let Settings { needs, time, device, retry } = settings;
                let planned = Cell {
                    label: self.stages[number].labels[cell].clone(),
                    kind: stage.kind.as_ref().map(|kind| kind.text.clone()).unwrap_or_default(),
                    body,
                    values: complete.values,
                    given: complete.given,
                    outputs: outputs.clone(),
                    inputs,
                    needs,
                    time,
                    device,
                    retry,
                    keep: stage.keep,
                    place: stage.name.place,
                    code_of: self.code_of,
                };
                self.stages[number].cells.push(self.cells.len());
                self.cells.push(planned);
            }
        }
        (self.stages[number].outputs, self.stages[number].used) = (outputs, used);
    }

    /// Checks the values of a stage whose kind or axes are wrong.
    fn check_values(&mut self, number: usize) {
        let PlannedStage { spec: stage, grid, .. } = &self.stages[number];
        let mut used = BTreeSet::new();
        if let Some(grid) = grid {
            for cell in 0..grid.cells.len() {
                let scope = Scope::with_axes(self.variables, grid.bindings(cell));
                check_unknown_kind(stage, scope, &mut used, self.problems);
            }
        } else {
            let mut axes: BTreeSet<&str> = stage.matrix.iter().map(|axis| axis.name.text.as_str()).collect();
            let mut is_known = true;
            if let Some(each) = &stage.each {
                let parent = self.stages.iter().find(|other| other.spec.name.text == each.text);
                match parent.and_then(|parent| parent.grid.as_ref()) {
                    Some(grid) => axes.extend(grid.axes.iter().map(|axis| axis.name.as_str())),
                    None => is_known = false,
                }
            }
            let scope = Scope::with_lost_axes(self.variables, is_known.then_some(axes));
            check_unknown_kind(stage, scope, &mut used, self.problems);
        }
        self.stages[number].used = used;
    }
}

/// Checks what stages of every kind have.
fn check_unknown_kind(stage: &StageSpec, mut scope: Scope, used: &mut BTreeSet<String>, problems: &mut Diagnostics) {
    // It may be a command, whose text is the shell's.
    for (_, node) in stage.with.iter().filter(|(key, _)| key.text != command::RUN) {
        scope.node(node, problems);
    }
    settings(stage, None, Needs::default(), &mut scope, problems);
    used.extend(scope.used.iter().map(|axis| (*axis).to_owned()));
}

/// Resolves the values and settings of one cell. None if something is wrong, which is reported.
fn resolve(
    stage: &StageSpec,
    kind: &Kind,
    deps: &[Dependency],
    folders: &Folders,
    mut scope: Scope,
    used: &mut BTreeSet<String>,
    problems: &mut Diagnostics,
) -> Option<Resolved> {
    let (mut with, mut wrong): (Vec<(SpannedStr, Node)>, Vec<&str>) =
        (Vec::with_capacity(stage.with.len()), Vec::new());
    for (key, node) in &stage.with {
        let is_verbatim = kind.stage.is_none() && key.text == command::RUN;
        match if is_verbatim { Some(node.clone()) } else { scope.node(node, problems) } {
            Some(node) => with.push((key.clone(), node)),
            None => wrong.push(key.text.as_str()),
        }
    }
    let (body, needs) = match kind.stage {
        Some(built) => {
            let complete = complete(built, &stage.name, &kind.parameters, &with, &wrong, folders, problems);
            let needs = complete.as_ref().map_or(Needs::default(), |complete| built.needs(&complete.values));
            (complete.map(|complete| (Body::Stage(built), complete)), needs)
        }
        None => {
            let planned = command::command(stage, &with, deps, problems);
            (planned.map(|(plan, complete)| (Body::Command(plan), complete)), Needs::default())
        }
    };
    let settings = settings(stage, kind.stage, needs, &mut scope, problems);
    used.extend(scope.used.iter().map(|axis| (*axis).to_owned()));
    body.map(|(body, complete)| Resolved { body, complete, settings })
}

/// Returns the outputs of a stage, without those whose optional input is missing. None if a problem hides them.
fn outputs(
    stage: &StageSpec,
    kind: &Kind,
    bound: &[Option<Vec<BoundInput>>],
    problems: &mut Diagnostics,
) -> Option<Vec<OutputPlan>> {
    if kind.stage.is_none() {
        return Some(command::outputs(&stage.outputs));
    }
    let given = |bound: &Option<Vec<BoundInput>>| -> Option<BTreeSet<String>> {
        match (&stage.from, bound) {
            (_, Some(bound)) => Some(bound.iter().map(|bound| bound.input.name.clone()).collect()),
            (FromSpec::Inputs(named), None) => Some(named.iter().map(|(name, _)| name.text.clone()).collect()),
            (FromSpec::Outputs(_), None) => None,
        }
    };
    let first = given(bound.first()?)?;
    for other in bound {
        if given(other)? != first {
            let message = format!("the cells of `{}` are not all given the same inputs", stage.name.text);
            problems.push(Diagnostic::at(stage.name.place, message).hint("name the inputs: `from: { input: … }`"));
            return None;
        }
    }
    let expected = kind.outputs.iter().filter(|output| output.when.is_none_or(|input| first.contains(input)));
    let plan = |output: &cwm_contract::Output| OutputPlan {
        name: output.name.to_owned(),
        format: output.format.clone(),
        shape: output.shape,
    };
    Some(expected.map(plan).collect())
}
