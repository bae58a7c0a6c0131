//! Binds each input of a stage to outputs, by name and by format. Cells come later.

use std::path::PathBuf;
use std::rc::Rc;

use cwm_contract::Count;

use super::OutputPlan;
use super::build::PlannedStage;
use super::input_sources::InputSource;
use super::ports::{Kind, Slot, output};
use super::references::Reference;
use crate::spec::{FromSpec, SourceSpec, StageSpec};
use cwm_core::names::list;
use cwm_core::{Diagnostic, Diagnostics, Place, SpannedStr, suggest, visible};

/// An input with its sources.
#[derive(Clone, Debug)]
pub struct BoundInput {
    /// The input.
    pub input: Slot,
    /// The place of its name or, without one, of the reference.
    pub place: Place,
    /// True if a list was written.
    pub is_list: bool,
    /// Its sources.
    pub sources: Vec<BoundSource>,
}

/// A source with its output.
#[derive(Clone, Debug)]
pub enum BoundSource {
    /// An output of the cells that a reference means.
    Output(Rc<Reference>, String),
    /// A file from outside, and the place of its path.
    File(PathBuf, Place),
}

/// Binds the inputs of the stage with this number to `given`, its sources in the order of the file. None if that is not possible
/// because of a problem, which is reported.
pub fn bind(
    number: usize,
    kind: &Kind,
    given: &[Option<InputSource>],
    stages: &[PlannedStage],
    problems: &mut Diagnostics,
) -> Option<Vec<BoundInput>> {
    let stage = stages[number].spec;
    let inputs = &kind.inputs;
    let find = |name: &SpannedStr| inputs.iter().find(|input| input.name == name.text);
    let (mut bound, complete, all_known) = match &stage.from {
        FromSpec::Inputs(named) => {
            let mut given = given.iter();
            let mut bound = Vec::new();
            // An input without sources was reported.
            let mut complete = named.iter().all(|(_, spec)| !spec.sources.is_empty());
            for (name, spec) in named {
                let sources: Vec<_> = given.by_ref().take(spec.sources.len()).collect();
                let Some(input) = find(name) else {
                    problems.push(unknown_input(stage, name, inputs));
                    complete = false;
                    continue;
                };
                let found =
                    sources.into_iter().zip(&spec.sources).map(|(source, written)| match (source.as_ref()?, written) {
                        (InputSource::File(path), SourceSpec::File(node)) => {
                            Some(BoundSource::File(path.clone(), node.place))
                        }
                        (InputSource::File(_), _) => None,
                        (InputSource::Reference(reference), _) => bind_output(reference, input, stages, problems),
                    });
                let found: Vec<Option<BoundSource>> = found.collect();
                complete &= found.iter().all(Option::is_some);
                let sources = found.into_iter().collect::<Option<_>>().unwrap_or_default();
                bound.push(BoundInput { input: input.clone(), place: name.place, is_list: spec.is_list, sources });
            }
            (bound, complete, named.iter().all(|(name, _)| find(name).is_some()))
        }
        FromSpec::Outputs(_) => {
            let (bound, complete) = bind_by_name(stage, inputs, given, stages, problems);
            (bound, complete, complete)
        }
    };
    // An input of a wrong name may be the missing one.
    for input in inputs.iter().filter(|input| all_known && input.count.is_some_and(Count::is_required)) {
        if !bound.iter().any(|bound| bound.input.name == input.name) {
            problems.push(missing_input(stage, input, stages));
        }
    }
    if let Some(built) = kind.stage {
        let names: Vec<&str> = bound.iter().map(|bound| bound.input.name.as_str()).collect();
        if let Some(fault) = built.check_inputs(&names).filter(|_| complete) {
            let message = format!("stage `{}` {fault}", stage.name.text);
            problems.push(Diagnostic::at(stage.name.place, message));
            return None;
        }
        bound.sort_by_key(|bound| inputs.iter().position(|input| input.name == bound.input.name));
    }
    complete.then_some(bound)
}

/// Binds every input to the outputs of the same name; if there are none, the only required input to the only output that fits
/// it. Returns false if something is wrong.
fn bind_by_name(
    stage: &StageSpec,
    inputs: &[Slot],
    given: &[Option<InputSource>],
    stages: &[PlannedStage],
    problems: &mut Diagnostics,
) -> (Vec<BoundInput>, bool) {
    let mut bound: Vec<BoundInput> = Vec::new();
    let mut complete = true;
    for source in given {
        let Some(InputSource::Reference(reference)) = source else {
            complete = false;
            continue;
        };
        let Some(outputs) = &stages[reference.stage].outputs else {
            complete = false;
            continue;
        };
        let is_meant = |name: &str| reference.port.as_deref().is_none_or(|port| port == name);
        let has_name = |input: &&Slot| outputs.iter().any(|output| output.name == input.name);
        let of_same_name: Vec<&Slot> = inputs.iter().filter(|input| is_meant(&input.name)).filter(has_name).collect();
        let required: Vec<_> = inputs.iter().filter(|input| input.count.is_none_or(Count::is_required)).collect();
        let chosen = match (&of_same_name[..], &required[..]) {
            ([], [only]) => vec![*only],
            ([], _) => {
                problems.push(no_output_fits(stage, reference, inputs, outputs, stages));
                complete = false;
                continue;
            }
            _ => of_same_name,
        };
        for input in chosen {
            let Some(source) = bind_output(reference, input, stages, problems) else {
                complete = false;
                continue;
            };
            match bound.iter_mut().find(|bound| bound.input.name == input.name) {
                Some(bound) => bound.sources.push(source),
                None => {
                    let (input, place, is_list) = (input.clone(), reference.place, given.len() > 1);
                    bound.push(BoundInput { input, place, is_list, sources: vec![source] });
                }
            }
        }
    }
    (bound, complete)
}

/// Binds an input to an output of the cells that a reference means.
fn bind_output(
    reference: &Rc<Reference>,
    input: &Slot,
    stages: &[PlannedStage],
    problems: &mut Diagnostics,
) -> Option<BoundSource> {
    let from = &stages[reference.stage];
    match output(reference, &from.spec.name.text, from.outputs.as_ref()?, input) {
        Ok(found) => Some(BoundSource::Output(reference.clone(), found.name.clone())),
        Err(problem) => {
            problems.push(*problem);
            None
        }
    }
}

fn kind_name(stage: &StageSpec) -> &str {
    stage.kind.as_ref().map_or("", |kind| kind.text.as_str())
}

fn unknown_input(stage: &StageSpec, name: &SpannedStr, inputs: &[Slot]) -> Diagnostic {
    let names = inputs.iter().map(|input| input.name.as_str());
    let hint = if name.text == "file" {
        Some("a file from outside is given to an input by name: `from: { input: { file: path } }`".into())
    } else {
        suggest(&name.text, "inputs", names).or(Some("it has no inputs".into()))
    };
    Diagnostic::at(name.place, format!("`{}` has no input `{}`", kind_name(stage), visible(&name.text)))
        .maybe_hint(hint)
}

fn missing_input(stage: &StageSpec, input: &Slot, stages: &[PlannedStage]) -> Diagnostic {
    let candidates: Vec<_> = stages
        .iter()
        .filter(|from| from.spec.name.text != stage.name.text)
        .flat_map(|from| from.outputs.iter().flatten().map(|output| (&from.spec.name.text, output)))
        .filter(|(_, output)| output.format == input.format)
        .map(|(from, output)| format!("{from}.{}", output.name))
        .collect();
    let candidates: Vec<_> = candidates.iter().map(String::as_str).collect();
    Diagnostic::at(
        stage.name.place,
        format!("stage `{}` is missing its input `{}` (format `{}`)", stage.name.text, input.name, input.format),
    )
    .maybe_hint(list(&candidates).map(|list| format!("of that format there is {list}")))
}

fn no_output_fits(
    stage: &StageSpec,
    reference: &Reference,
    inputs: &[Slot],
    outputs: &[OutputPlan],
    stages: &[PlannedStage],
) -> Diagnostic {
    let names: Vec<_> = inputs.iter().map(|input| input.name.as_str()).collect();
    let from = &stages[reference.stage].spec.name.text;
    let message = match list(&names) {
        None => format!("`{}` takes no inputs", kind_name(stage)),
        Some(names) => {
            let is_meant = |name: &&str| reference.port.as_deref().is_none_or(|port| port == *name);
            let outputs: Vec<_> = outputs.iter().map(|output| output.name.as_str()).filter(is_meant).collect();
            let outputs = list(&outputs).unwrap_or("none that is known".into());
            format!(
                "no output of `{from}` has the name of an input of `{}`: outputs {outputs}; inputs {names}",
                kind_name(stage)
            )
        }
    };
    let example = names.first().map(|input| format!("name the input: `from: {{ {input}: {} }}`", reference.text));
    Diagnostic::at(reference.place, message).maybe_hint(example.or(Some("remove `from`".into())))
}
