//! Plans the cells of a pipeline, step by step: axes, references, order, and then each stage after those that it reads.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cwm_contract::{Label, Needs, ParameterError};

use super::bind::BoundInput;
use super::cells::{Matrix, matrices};
use super::dependencies::dependencies;
use super::input_sources::{InputSources, references};
use super::order::{Edges, READS, order};
use super::parameters::{CompleteParameters, Folders, ParameterSource};
use super::settings::{CellSettings, settings};
use super::stage_kind::{Kind, kind};
use super::substitute::{Scope, all};
use super::variables::Variables;
use super::{Body, Cell, ExportPlan, InputPlan, OutputPlan, StagePlan, command};
use crate::spec::{Spec, StageSpec};
use cwm_core::{CodeOf, Diagnostic, Node, Problems, Registry};

/// A stage while it is planned. A part is none or empty where it is wrong, which was reported.
pub struct PlannedStage<'a> {
    /// The stage in the file.
    pub spec: &'a StageSpec,
    pub kind: Option<Kind>,
    /// The files that a command depends on.
    deps: Vec<String>,
    /// Its axes and cells.
    pub matrix: Matrix,
    /// Its sources: those of each cell, or those of all cells.
    pub sources: Vec<InputSources>,
    pub outputs: Option<Vec<OutputPlan>>,
    /// The index of its first cell in the plan, once it is planned. The others follow.
    pub first_cell: Option<usize>,
}

/// The state of planning.
pub struct Planner<'a> {
    pub variables: &'a Variables,
    /// The folders that paths are relative to.
    pub folders: &'a Folders,
    pub problems: &'a Problems,
    /// The number of each stage, by name.
    pub numbers: HashMap<&'a str, usize>,
    /// The stages in the order of the file.
    pub stages: Vec<PlannedStage<'a>>,
    /// The number of the sources of all cells so far.
    pub source_count: std::cell::Cell<usize>,
    cells: Vec<Cell>,
    code_of: CodeOf,
}

/// Plans a pipeline. Returns the stages in the order of the file, the cells in an order in which they can run, and the exports.
/// A problem is reported, and the rest is planned all the same, to find more.
pub fn build(
    spec: &Spec,
    variables: &Variables,
    registry: &Registry,
    folders: &Folders,
    problems: &Problems,
) -> (Vec<StagePlan>, Vec<Cell>, Vec<ExportPlan>) {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    for (number, stage) in spec.stages.iter().enumerate() {
        numbers.entry(&stage.name.text).or_insert(number);
    }
    let matrices = matrices(spec, &numbers, variables, problems);
    let stages = spec.stages.iter().zip(matrices).map(|(stage, matrix)| PlannedStage {
        spec: stage,
        kind: kind(stage, registry, problems),
        deps: dependencies(&stage.deps, &folders.file, problems),
        matrix,
        sources: Vec::new(),
        outputs: None,
        first_cell: None,
    });
    let stages: Vec<PlannedStage> = stages.collect();
    let cell_count = stages.iter().map(|stage| stage.matrix.labels.len()).sum();
    let mut planner = Planner {
        variables,
        folders,
        problems,
        numbers,
        stages,
        source_count: std::cell::Cell::default(),
        cells: Vec::with_capacity(cell_count),
        code_of: registry.code_of,
    };
    for number in 0..planner.stages.len() {
        planner.stages[number].sources = planner.sources(number);
    }
    for number in order(spec, &planner.edges(), READS, problems).stages {
        planner.stage(number);
    }
    let exports = planner.exports(&spec.exports);
    // What is wrong may be where an axis is used.
    if problems.is_empty() {
        planner.report_unused_axes();
    }
    let stages = planner.stages.into_iter().map(|stage| StagePlan {
        name: stage.spec.name.text.clone(),
        kind: stage.spec.kind.as_ref().map(|kind| kind.text.clone()).unwrap_or_default(),
        axes: stage.matrix.axes.iter().map(|axis| axis.name.clone()).collect(),
        cells: stage.first_cell.iter().flat_map(|&first| first..first + stage.matrix.labels.len()).collect(),
    });
    (stages.collect(), planner.cells, exports)
}

impl<'a> Planner<'a> {
    /// Returns the names that are defined in a cell; without one, those whose values are not known.
    pub fn scope<'s>(&'s self, matrix: &'s Matrix, cell: Option<usize>) -> Scope<'s> {
        Scope { variables: Some(self.variables), matrix: Some(matrix), cell, problems: self.problems }
    }

    fn edges(&self) -> Edges {
        let mut edges: Edges = vec![BTreeMap::new(); self.stages.len()];
        for (stage, below) in self.stages.iter().zip(&mut edges) {
            for reference in references(&stage.sources) {
                below.entry(reference.stage).or_insert(reference.place);
            }
            if let (Some(each), Some(word)) = (stage.matrix.each, &stage.spec.each) {
                below.entry(each).or_insert(word.place);
            }
        }
        edges
    }

    /// Plans the cells of a stage. All stages that it reads are planned.
    fn stage(&mut self, number: usize) {
        let planned = &self.stages[number];
        let PlannedStage { spec: stage, kind, matrix, sources, .. } = planned;
        let Some(kind) = kind.as_ref().filter(|_| !matrix.labels.is_empty()) else {
            // Its values are checked all the same.
            for cell in 0..matrix.labels.len().max(1) {
                let cell = Some(cell).filter(|_| !matrix.labels.is_empty());
                self.resolve(planned, &self.scope(matrix, cell));
            }
            return;
        };
        let bound: Vec<_> = sources.iter().map(|sources| self.bind(stage, kind, sources)).collect();
        let outputs = self.outputs(stage, kind, &bound);
        let cell = |cell: usize| {
            let bound = bound[if bound.len() == 1 { 0 } else { cell }].as_ref();
            let inputs = bound.and_then(|bound| all(bound.iter().map(|bound| self.input(number, cell, bound))));
            let resolved = self.resolve(planned, &self.scope(matrix, Some(cell)));
            let (body, CompleteParameters { values, explicit, folders }, settings) = resolved?;
            if let (Body::Stage(built), Some(inputs)) = (&body, &inputs) {
                let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
                if let Some(problem) = built.check_inputs_for(&values, &names) {
                    let message = format!("stage `{}` {problem}", matrix.labels[cell]);
                    self.problems.push(Diagnostic::at(stage.name.place, message));
                    return None;
                }
                let labels: Vec<(&str, Vec<&Label>)> = inputs.iter().map(InputPlan::labels).collect();
                for ParameterError { parameter, message, hint } in built.check_labels(&values, &labels) {
                    let place = explicit.get(&parameter).map_or(stage.name.place, |source| source.place);
                    let message = format!("parameter `{parameter}` {message}");
                    self.problems.push(Diagnostic::at(place, message).maybe_hint(hint));
                }
            }
            Some(Cell {
                label: matrix.labels[cell].clone(),
                kind: stage.kind.as_ref().map(|kind| kind.text.clone()).unwrap_or_default(),
                body,
                values,
                explicit,
                folders,
                inputs: inputs?,
                outputs: outputs.clone()?,
                settings,
                keep: stage.keep,
                place: stage.name.place,
                code_of: self.code_of,
            })
        };
        let cells: Vec<Option<Cell>> = (0..matrix.labels.len()).map(cell).collect();
        let (first, planned) = (self.cells.len(), &mut self.stages[number]);
        (planned.outputs, planned.first_cell) = (outputs, Some(first));
        self.cells.extend(cells.into_iter().flatten());
    }

    /// Resolves the values and settings of one cell. None if something is wrong, which is reported, or if the kind is not known.
    fn resolve(&self, planned: &PlannedStage, scope: &Scope) -> Option<(Body, CompleteParameters, CellSettings)> {
        let PlannedStage { spec: stage, kind, deps, .. } = planned;
        let (mut with, mut wrong) = (Vec::with_capacity(stage.with.len()), Vec::new());
        for (key, node) in &stage.with {
            // A stage of an unknown kind may be a command, whose text is the shell's.
            let is_verbatim = key.text == command::RUN && kind.as_ref().is_none_or(|kind| kind.stage.is_none());
            match if is_verbatim { Some(node.clone()) } else { scope.node(node) } {
                Some(node) => with.push((key.clone(), node)),
                None => wrong.push(key.text.as_str()),
            }
        }
        let built = kind.as_ref().and_then(|kind| kind.stage);
        let planned = match (kind, built) {
            (None, _) => None,
            (Some(kind), Some(built)) => {
                let complete = self.complete(built, &stage.name, &kind.parameters, &with, &wrong);
                complete.map(|(values, folders)| (Body::Stage(built), values, folders))
            }
            (Some(_), None) => command::command(stage, &with, deps, self.problems)
                .map(|(plan, values)| (Body::Command(plan), values, Vec::new())),
        };
        let values = planned.as_ref().map(|(_, values, _)| values);
        let needs = built.zip(values).map_or(Needs::default(), |(built, values)| built.needs(values));
        let settings = settings(stage, built, needs, scope);
        let (body, values, folders) = planned?;
        let source = |node: &Node| ParameterSource { place: node.place, value_place: node.value_place() };
        let explicit = with.iter().map(|(key, node)| (key.text.clone(), source(node))).collect();
        Some((body, CompleteParameters { values, explicit, folders }, settings))
    }

    /// Returns the outputs of a stage, without those whose optional input is missing. None if a problem hides them.
    fn outputs(&self, stage: &StageSpec, kind: &Kind, bound: &[Option<Vec<BoundInput>>]) -> Option<Vec<OutputPlan>> {
        let input_names = |bound: &'_ Option<Vec<BoundInput>>| -> Option<BTreeSet<String>> {
            match bound {
                Some(bound) => Some(bound.iter().map(|bound| bound.input.name.clone()).collect()),
                None => stage.from.iter().map(|input| Some(input.name.as_ref()?.text.clone())).collect(),
            }
        };
        let mut inputs = BTreeSet::new();
        if kind.stage.is_some() {
            inputs = input_names(bound.first()?)?;
            for other in bound {
                if input_names(other)? != inputs {
                    let message = format!("the cells of `{}` are not all given the same inputs", stage.name.text);
                    self.problems
                        .push(Diagnostic::at(stage.name.place, message).hint("name the inputs: `from: { input: … }`"));
                    return None;
                }
            }
        }
        let expected = kind.outputs.iter().filter(|(_, when)| when.is_none_or(|input| inputs.contains(input)));
        Some(expected.map(|(output, _)| output.clone()).collect())
    }
}
