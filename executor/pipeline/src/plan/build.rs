//! From what was written to cells: the steps of planning, one after the other.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cwm_contract::{DeviceChoice, Label, Needs};

use super::axes::Labels;
use super::bind::{BoundInput, InputSource, PlannedStages, bind};
use super::cells::{Matrix, grids};
use super::group::Cells;
use super::input_sources::{Sources, given};
use super::join::Joins;
use super::order::{Edges, order};
use super::parameters::{Complete, Folders, complete};
use super::ports::{Kind, kind};
use super::references::References;
use super::substitute::Scope;
use super::variables::Variables;
use super::{
    Body, Cell, Dependency, Export, OutputPlan, RetryOptions, StagePlan, command, dependencies, device, export, needs,
    retry, unused_axes,
};
use crate::spec::{FromSpec, Spec, StageSpec};
use cwm_core::{CodeOf, Diagnostics, Node, Registry, SpannedStr};

/// The product of planning; worth something only if there were no problems.
pub struct Built {
    /// Stages in the order of the file.
    pub stages: Vec<StagePlan>,
    /// Cells in an order in which they can run.
    pub cells: Vec<Cell>,
    /// What is exported.
    pub exports: Vec<Export>,
}

/// Resolves a pipeline. What is wrong is reported, and the rest done all the same, to find more.
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
    let kinds: Vec<Option<Kind>> = spec.stages.iter().map(|stage| kind(stage, registry, problems)).collect();
    let mut references = References::new(spec, &names, &grids, &labels);
    let mut used: Vec<BTreeSet<String>> = vec![BTreeSet::new(); spec.stages.len()];
    let sources: Vec<Sources> = spec
        .stages
        .iter()
        .enumerate()
        .map(|(number, stage)| {
            let grid = grids[number].as_ref();
            given(stage, grid, variables, folders, &mut references, &mut used[number], problems)
        })
        .collect();
    let order = order(spec, &edges(spec, &grids, &sources, &references), problems);
    let mut building = Building {
        spec,
        code_of: registry.code_of,
        variables,
        folders,
        grids: &grids,
        kinds: &kinds,
        labels: addresses(spec, &grids),
        outputs: (0..spec.stages.len()).map(|_| None).collect(),
        indices: vec![Vec::new(); spec.stages.len()],
        cells: Vec::new(),
        joins: Joins::default(),
        edges: 0,
    };
    for &number in &order {
        building.stage(number, &sources[number], &references, &mut used[number], problems);
    }
    unused_axes::check(spec, &grids, &references.list, &sources, &used, problems);
    let known = export::ExportContext {
        spec,
        variables,
        grids: &grids,
        outputs: &building.outputs,
        indices: &building.indices,
        folders,
    };
    let exports = export::exports(&known, &mut references, problems);
    let stages = spec
        .stages
        .iter()
        .zip(&grids)
        .zip(&building.indices)
        .map(|((stage, grid), cells)| StagePlan {
            name: stage.name.text.clone(),
            kind: stage.kind.as_ref().map(|kind| kind.text.clone()).unwrap_or_default(),
            axes: grid.iter().flat_map(|grid| &grid.axes).map(|axis| axis.name.clone()).collect(),
            cells: cells.clone(),
            place: stage.name.place,
        })
        .collect();
    Built { stages, cells: building.cells, exports }
}

fn addresses(spec: &Spec, grids: &[Option<Matrix>]) -> Vec<Vec<Label>> {
    let of = |(stage, grid): (&StageSpec, &Option<Matrix>)| {
        let grid = grid.iter();
        grid.flat_map(|grid| (0..grid.cells.len()).map(|cell| grid.label(&stage.name.text, cell))).collect()
    };
    spec.stages.iter().zip(grids).map(of).collect()
}

fn edges(spec: &Spec, grids: &[Option<Matrix>], sources: &[Sources], references: &References) -> Edges {
    let mut edges: Edges = vec![BTreeMap::new(); spec.stages.len()];
    for (number, below) in edges.iter_mut().enumerate() {
        for given in sources[number].variants.iter().flatten().flatten() {
            if let InputSource::Reference(reference) = given {
                let reference = &references.list[*reference];
                below.entry(reference.stage).or_insert(reference.place);
            }
        }
        if let (Some(each), Some(word)) = (grids[number].as_ref().and_then(|grid| grid.each), &spec.stages[number].each)
        {
            below.entry(each).or_insert(word.place);
        }
    }
    edges
}

struct Building<'a> {
    spec: &'a Spec,
    code_of: CodeOf,
    variables: &'a Variables,
    folders: &'a Folders,
    grids: &'a [Option<Matrix>],
    kinds: &'a [Option<Kind>],
    labels: Vec<Vec<Label>>,
    outputs: Vec<Option<Vec<OutputPlan>>>,
    indices: Vec<Vec<usize>>,
    cells: Vec<Cell>,
    joins: Joins,
    edges: usize,
}

impl Building<'_> {
    /// Plans the cells of one stage, all stages that it reads being planned.
    fn stage(
        &mut self,
        number: usize,
        sources: &Sources,
        references: &References,
        used: &mut BTreeSet<String>,
        problems: &mut Diagnostics,
    ) {
        let stage = &self.spec.stages[number];
        let deps = dependencies::dependencies(&stage.deps, &self.folders.file, problems);
        let (Some(kind), Some(grid)) = (&self.kinds[number], &self.grids[number]) else {
            self.what_can_be_told(number, used, problems);
            return;
        };
        let known = PlannedStages { stages: &self.spec.stages, references: &references.list, outputs: &self.outputs };
        let bound: Vec<Option<Vec<BoundInput>>> =
            sources.variants.iter().map(|variant| bind(stage, kind, variant, &known, problems)).collect();
        self.outputs[number] = outputs(stage, kind, &bound, problems);
        let mut grouping = Cells {
            grids: self.grids,
            labels: &self.labels,
            indices: &self.indices,
            references: &references.list,
            joins: std::mem::take(&mut self.joins),
            total: self.edges,
        };
        let mut cells = Vec::with_capacity(grid.cells.len());
        for cell in 0..grid.cells.len() {
            let inputs = bound[sources.of_cell(cell)].as_ref().and_then(|bound| {
                let inputs: Vec<_> = bound.iter().map(|bound| grouping.input(number, cell, bound, problems)).collect();
                inputs.into_iter().collect::<Option<Vec<_>>>()
            });
            let mut values = CellValues { stage, kind, folders: self.folders, deps: deps.as_deref() };
            let scope = Scope::with_axes(self.variables, grid.bindings(cell));
            let body = values.resolve(scope, used, problems);
            cells.push((inputs, body));
        }
        (self.joins, self.edges) = (grouping.joins, grouping.total);
        let Some(outputs) = &self.outputs[number] else { return };
        for (cell, (inputs, body)) in cells.into_iter().enumerate() {
            let (Some(inputs), Some(resolved)) = (inputs, body) else {
                // Cells of this stage are no longer numbered without gaps; there is a fault, so nobody will run them.
                return;
            };
            self.indices[number].push(self.cells.len());
            self.cells.push(Cell {
                label: self.labels[number][cell].clone(),
                kind: stage.kind.as_ref().map(|kind| kind.text.clone()).unwrap_or_default(),
                body: resolved.body,
                values: resolved.complete.values,
                given: resolved.complete.given,
                outputs: outputs.clone(),
                inputs,
                needs: resolved.needs,
                time: resolved.time,
                device: resolved.device,
                retry: resolved.retry,
                keep: stage.keep,
                place: stage.name.place,
                code_of: self.code_of,
            });
        }
    }
}

impl Building<'_> {
    /// Of a stage whose kind or axes are not right: what is wrong beside that.
    fn what_can_be_told(&self, number: usize, used: &mut BTreeSet<String>, problems: &mut Diagnostics) {
        let stage = &self.spec.stages[number];
        if let Some(grid) = &self.grids[number] {
            for cell in 0..grid.cells.len() {
                unknown_kind(stage, Scope::with_axes(self.variables, grid.bindings(cell)), used, problems);
            }
            return;
        }
        let mut axes: BTreeSet<&str> = stage.matrix.iter().map(|axis| axis.name.text.as_str()).collect();
        let mut known = true;
        if let Some(each) = &stage.each {
            let parent = self.spec.stages.iter().position(|other| other.name.text == each.text);
            match parent.and_then(|parent| self.grids[parent].as_ref()) {
                Some(grid) => axes.extend(grid.axes.iter().map(|axis| axis.name.as_str())),
                None => known = false,
            }
        }
        unknown_kind(stage, Scope::with_lost_axes(self.variables, known.then_some(axes)), used, problems);
    }
}

/// Reports what is wrong in what any stage may have, whatever its kind.
fn unknown_kind(stage: &StageSpec, mut scope: Scope, used: &mut BTreeSet<String>, problems: &mut Diagnostics) {
    // It may be a command, whose text is the shell's.
    for (_, node) in stage.with.iter().filter(|(key, _)| key.text != command::RUN) {
        scope.node(node, problems);
    }
    let written = |(key, node): &(SpannedStr, Node), scope: &mut Scope, problems: &mut Diagnostics| {
        Some((key.clone(), scope.node(node, problems)?))
    };
    let written: Vec<_> = stage.needs.iter().filter_map(|entry| written(entry, &mut scope, problems)).collect();
    needs::needs(Needs::default(), &written, problems);
    let device = stage.device.as_ref().and_then(|(_, node)| scope.node(node, problems));
    device.inspect(|node| _ = device::choice(node, problems));
    let mut substituted = |written: &Option<Node>| written.as_ref().and_then(|node| scope.node(node, problems));
    let (retry, limits) = (substituted(&stage.retry), substituted(&stage.limits));
    retry::retry_options(retry.as_ref(), limits.as_ref(), problems);
    used.extend(scope.used.iter().map(|axis| (*axis).to_owned()));
}

/// What one cell runs, and how.
struct Resolved {
    body: Body,
    complete: Complete,
    needs: Needs,
    time: Option<std::time::Duration>,
    device: DeviceChoice,
    retry: RetryOptions,
}

/// What one cell runs with.
struct CellValues<'a> {
    stage: &'a StageSpec,
    kind: &'a Kind,
    folders: &'a Folders,
    deps: Option<&'a [Dependency]>,
}

impl CellValues<'_> {
    fn resolve(
        &mut self,
        mut scope: Scope,
        used: &mut BTreeSet<String>,
        problems: &mut Diagnostics,
    ) -> Option<Resolved> {
        let (mut with, mut wrong) = (Vec::with_capacity(self.stage.with.len()), Vec::new());
        for (key, node) in &self.stage.with {
            let verbatim = matches!(self.kind, Kind::Command) && key.text == command::RUN;
            match if verbatim { Some(node.clone()) } else { scope.node(node, problems) } {
                Some(node) => with.push((key.clone(), node)),
                None => wrong.push(key.text.as_str()),
            }
        }
        let written: Vec<(SpannedStr, Node)> = self
            .stage
            .needs
            .iter()
            .filter_map(|(key, node)| Some((key.clone(), scope.node(node, problems)?)))
            .collect();
        let on = self.stage.device.as_ref().map(|(key, node)| Some((key, scope.node(node, problems)?)));
        let mut substituted = |written: &Option<Node>| written.as_ref().and_then(|node| scope.node(node, problems));
        let (retry, limits) = (substituted(&self.stage.retry), substituted(&self.stage.limits));
        let retry = retry::retry_options(retry.as_ref(), limits.as_ref(), problems);
        used.extend(scope.used.iter().map(|axis| (*axis).to_owned()));
        match self.kind {
            Kind::Built { stage, parameters, .. } => {
                let complete = complete(*stage, &self.stage.name, parameters, &with, &wrong, self.folders, problems);
                let default = complete.as_ref().map_or(Needs::default(), |complete| stage.needs(&complete.values));
                let (needs, time) = needs::needs(default, &written, problems);
                // What could not be substituted was told.
                let device = on.map(|on| device::device(*stage, on, problems)).unwrap_or_default();
                let body = Body::Stage(*stage);
                complete.map(|complete| Resolved { body, complete, needs, time, device, retry })
            }
            Kind::Command => {
                let (needs, time) = needs::needs(Needs::default(), &written, problems);
                let planned = command::command(self.stage, &with, self.deps.unwrap_or_default(), problems);
                let device = DeviceChoice::Auto;
                planned.map(|(plan, complete)| {
                    let body = Body::Command(plan);
                    Resolved { body, complete, needs, time, device, retry }
                })
            }
        }
    }
}

/// The outputs of a stage, those aside whose optional input is not given. `None` if that cannot be told because of a
/// fault.
fn outputs(
    stage: &StageSpec,
    kind: &Kind,
    bound: &[Option<Vec<BoundInput>>],
    problems: &mut Diagnostics,
) -> Option<Vec<OutputPlan>> {
    let Kind::Built { outputs, .. } = kind else { return Some(command::outputs(&stage.outputs)) };
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
            problems.push(
                cwm_core::Diagnostic::at(
                    stage.name.place,
                    format!("the cells of `{}` are not all given the same inputs", stage.name.text),
                )
                .hint("name the inputs: `from: { input: … }`"),
            );
            return None;
        }
    }
    let expected = outputs.iter().filter(|output| output.when.is_none_or(|input| first.contains(input)));
    let plan = |output: &cwm_contract::Output| OutputPlan {
        name: output.name.to_owned(),
        format: output.format.clone(),
        shape: output.shape,
    };
    Some(expected.map(plan).collect())
}
