//! The inputs and outputs of a kind of stage, and the output that an input takes.

use cwm_contract::{Count, Format, Input, Output, ParameterSpec, Stage};

use super::OutputPlan;
use super::references::Reference;
use crate::spec::{COMMAND, FromSpec, StageSpec};
use cwm_core::names::list;
use cwm_core::{Diagnostic, Diagnostics, Place, Registry, suggest, visible};

/// A kind of stage, with its declarations.
pub struct Kind {
    /// The stage; none for a command.
    pub stage: Option<&'static dyn Stage>,
    /// Its inputs.
    pub inputs: Vec<Slot>,
    /// Its outputs; those of a command are in the file.
    pub outputs: Vec<Output>,
    /// Its parameters.
    pub parameters: Vec<ParameterSpec>,
}

/// An input of a kind of stage.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Its name.
    pub name: String,
    /// The format of its artifacts.
    pub format: Format,
    /// The number of artifacts. None for a command, which takes any number.
    pub count: Option<Count>,
}

impl Slot {
    /// An input of a command, which takes any format.
    pub fn any(name: &str) -> Slot {
        Slot { name: name.to_owned(), format: Format::ANY, count: None }
    }
}

/// Looks up the kind of a stage. None if there is none, which is reported.
pub fn kind(stage: &StageSpec, registry: &Registry, problems: &mut Diagnostics) -> Option<Kind> {
    let word = stage.kind.as_ref()?;
    if word.text == COMMAND {
        let inputs = match &stage.from {
            FromSpec::Inputs(named) => named.iter().map(|(name, _)| Slot::any(&name.text)).collect(),
            FromSpec::Outputs(_) => vec![Slot::any("in")],
        };
        return Some(Kind { stage: None, inputs, outputs: Vec::new(), parameters: Vec::new() });
    }
    let Some(found) = registry.get(&word.text) else {
        let problem = if registry.is_compiled_out(&word.text) {
            Diagnostic::at(word.place, format!("stages of kind `{}` are not in this build of cwm", word.text))
                .hint(format!("build it with the cargo feature `{}`, which is on by default", word.text))
        } else {
            let kinds = registry.iter().map(|stage| stage.kind()).chain([COMMAND]);
            Diagnostic::at(word.place, format!("there is no kind of stage `{}`", visible(&word.text)))
                .maybe_hint(suggest(&word.text, "kinds", kinds))
        };
        problems.push(problem);
        return None;
    };
    let slot = |input: Input| Slot { name: input.name.to_owned(), format: input.format, count: Some(input.count) };
    let inputs = found.inputs().into_iter().map(slot).collect();
    Some(Kind { stage: Some(found), inputs, outputs: found.outputs(), parameters: found.parameters() })
}

/// Returns the output of `stage` that `input` takes.
///
/// # Errors
/// There is none, or it does not fit, or several might be meant.
pub fn output<'o>(
    reference: &Reference,
    stage: &str,
    outputs: &'o [OutputPlan],
    input: &Slot,
) -> Result<&'o OutputPlan, Box<Diagnostic>> {
    let found = match &reference.port {
        Some(port) => match outputs.iter().find(|output| output.name == *port) {
            Some(output) => output,
            None => {
                let names = outputs.iter().map(|output| output.name.as_str());
                return Err(Box::new(
                    Diagnostic::at(reference.place, format!("stage `{stage}` has no output `{}`", visible(port)))
                        .maybe_hint(suggest(port, "outputs", names)),
                ));
            }
        },
        None => match outputs.iter().find(|output| output.name == input.name) {
            Some(output) => output,
            None => by_format(reference.place, stage, outputs, input)?,
        },
    };
    if found.format.fits(&input.format) {
        return Ok(found);
    }
    let fitting: Vec<_> = outputs
        .iter()
        .filter(|output| output.format == input.format)
        .map(|output| format!("{stage}.{}", output.name))
        .collect();
    let fitting: Vec<_> = fitting.iter().map(String::as_str).collect();
    Err(Box::new(
        Diagnostic::at(
            reference.place,
            format!(
                "input `{}` takes format `{}`, and `{stage}.{}` has format `{}`",
                input.name, input.format, found.name, found.format
            ),
        )
        .maybe_hint(list(&fitting).map(|list| format!("of that format is {list}"))),
    ))
}

/// Returns the only output of the right format.
fn by_format<'o>(
    place: Place,
    stage: &str,
    outputs: &'o [OutputPlan],
    input: &Slot,
) -> Result<&'o OutputPlan, Box<Diagnostic>> {
    let exact: Vec<_> = outputs.iter().filter(|output| output.format == input.format).collect();
    let fitting = if exact.is_empty() || input.format == Format::ANY {
        outputs.iter().filter(|output| output.format.fits(&input.format)).collect()
    } else {
        exact
    };
    let described = |outputs: &[&OutputPlan]| {
        let words: Vec<_> =
            outputs.iter().map(|output| format!("`{stage}.{}` ({})", output.name, output.format)).collect();
        if words.is_empty() { "it has no outputs here".to_owned() } else { format!("it has {}", words.join(", ")) }
    };
    match fitting[..] {
        [only] => Ok(only),
        [] => Err(Box::new(
            Diagnostic::at(
                place,
                format!("no output of `{stage}` fits input `{}`, which takes format `{}`", input.name, input.format),
            )
            .hint(described(&outputs.iter().collect::<Vec<_>>())),
        )),
        _ => Err(Box::new(
            Diagnostic::at(place, format!("several outputs of `{stage}` fit input `{}`", input.name))
                .hint(format!("name one of them: {}", described(&fitting).trim_start_matches("it has "))),
        )),
    }
}
