//! The inputs and outputs of a kind of stage, and the output that an input takes.

use cwm_contract::{Count, Format, Input, Output, ParameterSpec, Stage};

use super::build::Planner;
use super::references::Reference;
use super::{OutputPlan, command};
use crate::spec::{COMMAND, StageSpec};
use cwm_core::{Diagnostic, Problems, Registry, escape_controls, list_names, suggest};

/// A kind of stage, with its declarations.
pub struct Kind {
    /// The stage; none for a command.
    pub stage: Option<&'static dyn Stage>,
    pub inputs: Vec<StageInput>,
    /// Its outputs, each with the optional input without which it has none.
    pub outputs: Vec<(OutputPlan, Option<&'static str>)>,
    pub parameters: Vec<ParameterSpec>,
}

/// An input of a kind of stage.
#[derive(Clone, Debug)]
pub struct StageInput {
    pub name: String,
    /// The format of its artifacts.
    pub format: Format,
    /// The number of artifacts. None for a command, which takes any number.
    pub count: Option<Count>,
}

impl StageInput {
    /// Returns an input of a command, which takes any format.
    pub fn any(name: &str) -> StageInput {
        StageInput { name: name.to_owned(), format: Format::ANY, count: None }
    }
}

/// Looks up the kind of a stage. None if there is none, which is reported.
pub fn kind(stage: &StageSpec, registry: &Registry, problems: &Problems) -> Option<Kind> {
    let word = stage.kind.as_ref()?;
    if word.text == COMMAND {
        let names = stage.from.iter().map(|from| from.name.as_ref().map_or("in", |name| name.text.as_str()));
        let outputs = command::outputs(stage.outputs.as_ref(), problems).into_iter();
        let (inputs, outputs) = (names.map(StageInput::any).collect(), outputs.map(|output| (output, None)).collect());
        return Some(Kind { stage: None, inputs, outputs, parameters: Vec::new() });
    }
    let Some(found) = registry.get(&word.text) else {
        let problem = if registry.is_compiled_out(&word.text) {
            Diagnostic::at(word.place, format!("stages of kind `{}` are not in this build of cwm", word.text))
                .hint(format!("build it with the cargo feature `{}`, which is on by default", word.text))
        } else {
            let kinds = [COMMAND].into_iter().chain(registry.iter().map(|stage| stage.kind()));
            Diagnostic::at(word.place, format!("there is no kind of stage `{}`", escape_controls(&word.text)))
                .maybe_hint(suggest(&word.text, "kinds", kinds))
        };
        problems.push(problem);
        return None;
    };
    let input = |Input { name, format, count, .. }| StageInput { name: name.to_owned(), format, count: Some(count) };
    let output = |Output { name, format, shape, when, .. }| (OutputPlan { name: name.to_owned(), format, shape }, when);
    Some(Kind {
        stage: Some(found),
        inputs: found.inputs().into_iter().map(input).collect(),
        outputs: found.outputs().into_iter().map(output).collect(),
        parameters: found.parameters(),
    })
}

impl Planner<'_> {
    /// Returns the output that `input` takes of the stage that a reference names. None if there is none, or it does not fit, or
    /// several may be meant, which is reported.
    pub fn output(&self, reference: &Reference, input: &StageInput) -> Option<&OutputPlan> {
        let stage = &self.stages[reference.stage];
        let outputs = stage.outputs.as_ref()?;
        let is_unknown = |output_name: &String| outputs.iter().all(|output| output.name != *output_name);
        // On a command line, `games=played.pgn` may mean the file as well as the output of the stage `played`.
        let may_be_file = |output_name: &String| is_unknown(output_name) || reference.place.is_set();
        let is_file = reference.output_name.as_ref().is_some_and(may_be_file);
        let file = is_file.then(|| self.file_without_slash(&reference.text, reference.place)).flatten();
        let found = output(reference, &stage.spec.name.text, outputs, input);
        self.problems.ok(file.map_or(found, Err))
    }
}

fn output<'o>(
    reference: &Reference,
    stage: &str,
    outputs: &'o [OutputPlan],
    input: &StageInput,
) -> Result<&'o OutputPlan, Diagnostic> {
    let has = |name: &str| outputs.iter().any(|output| output.name == name);
    let output_name = reference.output_name.as_deref().or(Some(&input.name[..]).filter(|name| has(name)));
    let found = find_output(stage, outputs, output_name, &input.format).map_err(|problem| {
        Diagnostic { place: Some(reference.place), ..problem }.label(format!("for the input `{}`", input.name))
    })?;
    if found.format.fits(&input.format) {
        return Ok(found);
    }
    let fitting = outputs.iter().filter(|output| output.format == input.format);
    let message = format!(
        "input `{}` takes format `{}`, and `{stage}.{}` has format `{}`",
        input.name, input.format, found.name, found.format
    );
    let hint = list_names(fitting.map(|output| format!("{stage}.{}", output.name)));
    Err(Diagnostic::at(reference.place, message).maybe_hint(hint.map(|list| format!("of that format is {list}"))))
}

/// Names outputs, each with its format.
fn described<'o>(stage: &str, outputs: impl IntoIterator<Item = &'o OutputPlan>) -> String {
    let described = outputs.into_iter().map(|output| format!("`{stage}.{}` ({})", output.name, output.format));
    described.collect::<Vec<_>>().join(", ")
}

/// Names all outputs of a stage in a hint.
fn all_of(stage: &str, outputs: &[OutputPlan]) -> String {
    match outputs {
        [] => "it has no outputs here".to_owned(),
        all => format!("it has {}", described(stage, all)),
    }
}

/// Returns the output called `output_name`; without a name the only one of `format`, or that fits it.
///
/// # Errors
/// There is none, or there are several. The problem has no place.
pub fn find_output<'o>(
    stage: &str,
    outputs: &'o [OutputPlan],
    output_name: Option<&str>,
    format: &Format,
) -> Result<&'o OutputPlan, Diagnostic> {
    if let Some(output_name) = output_name {
        let problem =
            || Diagnostic::without_place(format!("stage `{stage}` has no output `{}`", escape_controls(output_name)));
        let named = outputs.iter().find(|output| output.name == output_name);
        return named.ok_or_else(|| problem().hint(all_of(stage, outputs)));
    }
    let is_exact = |output: &&OutputPlan| *format != Format::ANY && output.format == *format;
    let mut fitting: Vec<_> = outputs.iter().filter(is_exact).collect();
    if fitting.is_empty() {
        fitting = outputs.iter().filter(|output| output.format.fits(format)).collect();
    }
    match fitting[..] {
        [only] => Ok(only),
        [] => Err(Diagnostic::without_place(format!("stage `{stage}` has no output of format `{format}`"))
            .hint(all_of(stage, outputs))),
        _ => Err(Diagnostic::without_place(format!("stage `{stage}` has several outputs"))
            .hint(format!("name one of them: {}", described(stage, fitting)))),
    }
}
