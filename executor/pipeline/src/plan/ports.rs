//! Inputs and outputs of a kind of stage, and which output an input takes.

use cwm_contract::{Count, Format, Input, Output, ParameterSpec, Stage};

use super::OutputPlan;
use super::references::Reference;
use crate::spec::{COMMAND, StageSpec};
use cwm_core::names::list;
use cwm_core::{Diagnostic, Diagnostics, Place, Registry, suggest, visible};

/// A kind of stage, asked once for what it declares.
pub enum Kind {
    /// One that is compiled in.
    Built {
        /// The stage.
        stage: &'static dyn Stage,
        /// Its inputs.
        inputs: Vec<Input>,
        /// Its outputs.
        outputs: Vec<Output>,
        /// Its parameters.
        parameters: Vec<ParameterSpec>,
    },
    /// A command.
    Command,
}

/// The artifacts that an input takes.
#[derive(Clone, Debug)]
pub struct Takes {
    /// Its name.
    pub name: String,
    /// What it must hold.
    pub format: Format,
    /// How many; `None`: as many as it is given, as a group if they are several by their nature.
    pub count: Option<Count>,
}

impl From<&Input> for Takes {
    fn from(input: &Input) -> Self {
        Takes { name: input.name.to_owned(), format: input.format.clone(), count: Some(input.count) }
    }
}

/// The kind of a stage, or a report.
pub fn kind(stage: &StageSpec, registry: &Registry, problems: &mut Diagnostics) -> Option<Kind> {
    let word = stage.kind.as_ref()?;
    if word.text == COMMAND {
        return Some(Kind::Command);
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
    Some(Kind::Built { stage: found, inputs: found.inputs(), outputs: found.outputs(), parameters: found.parameters() })
}

/// The output of `from` that `input` takes.
///
/// # Errors
/// There is none, or it does not fit, or several might be meant.
pub fn output<'o>(
    reference: &Reference,
    from: &StageSpec,
    outputs: &'o [OutputPlan],
    input: &Takes,
) -> Result<&'o OutputPlan, Box<Diagnostic>> {
    let stage = &from.name.text;
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

/// The only output of the right format.
fn by_format<'o>(
    place: Place,
    stage: &str,
    outputs: &'o [OutputPlan],
    input: &Takes,
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
