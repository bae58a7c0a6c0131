//! Which output each input of a stage takes, by name and by format; cells come later.

use std::path::PathBuf;

use cwm_contract::{Count, Format};

use super::OutputPlan;
use super::ports::{Kind, Takes, output};
use super::references::Reference;
use crate::spec::{FromSpec, SourceSpec, StageSpec};
use cwm_core::names::list;
use cwm_core::{Diagnostic, Diagnostics, Place, SpannedStr, suggest, visible};

/// A source of an input, resolved for one cell.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum InputSource {
    /// A reference, by number.
    Reference(usize),
    /// A file from outside, absolute.
    File(PathBuf),
}

/// An input and what it is given.
#[derive(Clone, Debug)]
pub struct BoundInput {
    /// The input.
    pub input: Takes,
    /// Where its name or, without one, the reference is written.
    pub place: Place,
    /// True if a list was written.
    pub is_list: bool,
    /// What it is given.
    pub sources: Vec<BoundSource>,
}

/// A source with its port.
#[derive(Clone, Debug)]
pub enum BoundSource {
    /// An output of the cells that a reference means.
    Output {
        /// The reference, by number.
        reference: usize,
        /// The output.
        port: String,
    },
    /// A file from outside, and where its path is written.
    File(PathBuf, Place),
}

/// The stages that inputs can be bound to.
pub struct PlannedStages<'a> {
    /// Stages as written.
    pub stages: &'a [StageSpec],
    /// References, resolved.
    pub references: &'a [Reference],
    /// Outputs of each stage; `None` where that is not known because of a fault.
    pub outputs: &'a [Option<Vec<OutputPlan>>],
}

/// The inputs of `stage`, whose written sources are `given` in the order of writing (`None`: not right, and reported).
/// `None` when they cannot be told because of a fault elsewhere.
pub fn bind(
    stage: &StageSpec,
    kind: &Kind,
    given: &[Option<InputSource>],
    known: &PlannedStages,
    problems: &mut Diagnostics,
) -> Option<Vec<BoundInput>> {
    let inputs: Vec<Takes> = match kind {
        Kind::Built { inputs, .. } => inputs.iter().map(Takes::from).collect(),
        Kind::Command => match &stage.from {
            FromSpec::Inputs(named) => named.iter().map(|(name, _)| free(&name.text)).collect(),
            FromSpec::Outputs(_) => vec![free("in")],
        },
    };
    let (bound, complete) = match &stage.from {
        FromSpec::Inputs(named) => {
            let mut given = given.iter();
            let mut bound = Vec::new();
            // An input that is given nothing was reported.
            let mut complete = named.iter().all(|(_, spec)| !spec.sources.is_empty());
            for (name, spec) in named {
                let sources: Vec<_> = given.by_ref().take(spec.sources.len()).collect();
                let Some(input) = inputs.iter().find(|input| input.name == name.text) else {
                    problems.push(unknown_input(stage, name, &inputs));
                    complete = false;
                    continue;
                };
                let found: Option<Vec<_>> = sources
                    .into_iter()
                    .zip(&spec.sources)
                    .map(|(source, written)| named_source(source.as_ref()?, written, input, known, problems))
                    .collect();
                complete &= found.is_some();
                bound.push(BoundInput {
                    input: input.clone(),
                    place: name.place,
                    is_list: spec.is_list,
                    sources: found.unwrap_or_default(),
                });
            }
            (bound, complete)
        }
        FromSpec::Outputs(_) => by_name(stage, &inputs, given, known, problems),
    };
    // What has a wrong name may be the one that is missing.
    let all_known = match &stage.from {
        FromSpec::Inputs(named) => named.iter().all(|(name, _)| inputs.iter().any(|input| input.name == name.text)),
        FromSpec::Outputs(_) => complete,
    };
    for input in inputs.iter().filter(|_| all_known) {
        let missing =
            input.count.is_some_and(Count::is_required) && !bound.iter().any(|bound| bound.input.name == input.name);
        if missing {
            problems.push(missing_input(stage, input, known));
        }
    }
    let mut bound = bound;
    if let Kind::Built { stage: built, .. } = kind {
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

/// Joins every input to the outputs of the same name; if there are none, the only required input to the only output
/// that fits it.
fn by_name(
    stage: &StageSpec,
    inputs: &[Takes],
    given: &[Option<InputSource>],
    known: &PlannedStages,
    problems: &mut Diagnostics,
) -> (Vec<BoundInput>, bool) {
    let mut bound: Vec<BoundInput> = Vec::new();
    let mut complete = true;
    let mut add = |input: &Takes, place: Place, source: BoundSource| match bound
        .iter_mut()
        .find(|bound| bound.input.name == input.name)
    {
        Some(bound) => bound.sources.push(source),
        None => bound.push(BoundInput { input: input.clone(), place, is_list: given.len() > 1, sources: vec![source] }),
    };
    for source in given {
        let Some(InputSource::Reference(number)) = source else {
            complete = false;
            continue;
        };
        let reference = &known.references[*number];
        let Some(outputs) = &known.outputs[reference.stage] else {
            complete = false;
            continue;
        };
        let meant = |name: &str| reference.port.as_deref().is_none_or(|port| port == name);
        let mut joined = inputs
            .iter()
            .filter(|input| meant(&input.name) && outputs.iter().any(|output| output.name == input.name))
            .peekable();
        let required: Vec<_> = inputs.iter().filter(|input| input.count.is_none_or(Count::is_required)).collect();
        let one_by_one: Vec<&Takes> = match (joined.peek(), &required[..]) {
            (Some(_), _) => joined.collect(),
            (None, [only]) => vec![only],
            (None, _) => {
                problems.push(nothing_joins(stage, reference, inputs, outputs, known));
                complete = false;
                continue;
            }
        };
        for input in one_by_one {
            match output(reference, &known.stages[reference.stage], outputs, input) {
                Ok(found) => {
                    let source = BoundSource::Output { reference: *number, port: found.name.clone() };
                    add(input, reference.place, source);
                }
                Err(problem) => {
                    problems.push(*problem);
                    complete = false;
                }
            }
        }
    }
    (bound, complete)
}

fn free(name: &str) -> Takes {
    Takes { name: name.to_owned(), format: Format::ANY, count: None }
}

fn named_source(
    given: &InputSource,
    written: &SourceSpec,
    input: &Takes,
    known: &PlannedStages,
    problems: &mut Diagnostics,
) -> Option<BoundSource> {
    match given {
        InputSource::File(path) => {
            let SourceSpec::File(node) = written else { return None };
            Some(BoundSource::File(path.clone(), node.place))
        }
        InputSource::Reference(number) => {
            let reference = &known.references[*number];
            let outputs = known.outputs[reference.stage].as_ref()?;
            match output(reference, &known.stages[reference.stage], outputs, input) {
                Ok(found) => Some(BoundSource::Output { reference: *number, port: found.name.clone() }),
                Err(problem) => {
                    problems.push(*problem);
                    None
                }
            }
        }
    }
}

fn kind_name(stage: &StageSpec) -> &str {
    stage.kind.as_ref().map_or("", |kind| kind.text.as_str())
}

fn unknown_input(stage: &StageSpec, name: &SpannedStr, inputs: &[Takes]) -> Diagnostic {
    let names = inputs.iter().map(|input| input.name.as_str());
    let hint = if name.text == "file" {
        Some("a file from outside is given to an input by name: `from: { input: { file: path } }`".into())
    } else {
        suggest(&name.text, "inputs", names).or(Some("it has no inputs".into()))
    };
    Diagnostic::at(name.place, format!("`{}` has no input `{}`", kind_name(stage), visible(&name.text)))
        .maybe_hint(hint)
}

fn missing_input(stage: &StageSpec, input: &Takes, known: &PlannedStages) -> Diagnostic {
    let candidates: Vec<_> = known
        .stages
        .iter()
        .zip(known.outputs)
        .flat_map(|(from, outputs)| outputs.iter().flatten().map(move |output| (from, output)))
        .filter(|(from, output)| output.format == input.format && from.name.text != stage.name.text)
        .map(|(from, output)| format!("{}.{}", from.name.text, output.name))
        .collect();
    let candidates: Vec<_> = candidates.iter().map(String::as_str).collect();
    Diagnostic::at(
        stage.name.place,
        format!("stage `{}` lacks its input `{}` (format `{}`)", stage.name.text, input.name, input.format),
    )
    .maybe_hint(list(&candidates).map(|list| format!("of that format there is {list}")))
}

fn nothing_joins(
    stage: &StageSpec,
    reference: &Reference,
    inputs: &[Takes],
    outputs: &[OutputPlan],
    known: &PlannedStages,
) -> Diagnostic {
    let names: Vec<_> = inputs.iter().map(|input| input.name.as_str()).collect();
    let from = &known.stages[reference.stage].name.text;
    let message = match list(&names) {
        None => format!("`{}` takes no inputs", kind_name(stage)),
        Some(names) => {
            let outputs: Vec<_> = outputs
                .iter()
                .filter(|output| reference.port.as_deref().is_none_or(|port| port == output.name))
                .map(|output| output.name.as_str())
                .collect();
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
