//! Binds each input of a stage to outputs, by name and by format. Cells come later.

use cwm_contract::{Count, Format};

use super::build::Planner;
use super::input_sources::{InputSource, InputSources};
use super::references::Reference;
use super::stage_kind::{Kind, StageInput};
use super::substitute::all;
use crate::spec::StageSpec;
use cwm_core::{Diagnostic, Place, SpannedStr, escape_controls, list_names, list_some, suggest};

/// An input with its sources.
pub struct BoundInput {
    pub input: StageInput,
    /// The place of its name or, without one, of the reference.
    pub place: Place,
    /// True if a list was written.
    pub is_list: bool,
    /// Its sources, each with the output of the stage that a reference names; empty for a file.
    pub sources: Vec<(InputSource, String)>,
}

impl Planner<'_> {
    /// Binds the inputs of a stage to `sources`. None if that is not possible because of a problem, which is reported.
    pub fn bind(&self, stage: &StageSpec, kind: &Kind, sources: &InputSources) -> Option<Vec<BoundInput>> {
        let inputs = &kind.inputs;
        let mut bound = Vec::new();
        let (mut is_complete, mut all_known) = (true, true);
        for (spec, sources) in stage.from.iter().zip(sources) {
            let Some(name) = &spec.name else {
                is_complete = self.bind_by_name(stage, inputs, sources, &mut bound);
                all_known = is_complete;
                continue;
            };
            let Some(input) = inputs.iter().find(|input| input.name == name.text) else {
                self.problems.push(unknown_input(stage, name, inputs));
                (is_complete, all_known) = (false, false);
                continue;
            };
            if kind.stage.is_none() && name.text == "deps" {
                // The key of a command has the files of `deps:` under this name.
                let problem = Diagnostic::at(name.place, "an input of a command cannot be named `deps`");
                self.problems.push(problem.hint("give it another name, which its variable has as well: `$in_NAME`"));
                is_complete = false;
            }
            let sources = all(sources.iter().map(|source| self.bind_source(source.as_ref()?, input)));
            // An input without sources was reported.
            is_complete &= sources.as_ref().is_some_and(|sources| !sources.is_empty());
            let (place, sources) = (name.place, sources.unwrap_or_default());
            bound.push(BoundInput { input: input.clone(), place, is_list: spec.is_list, sources });
        }
        // An input of a wrong name may be the missing one.
        for input in inputs.iter().filter(|input| all_known && input.count.is_some_and(Count::is_required)) {
            if !bound.iter().any(|bound| bound.input.name == input.name) {
                self.problems.push(self.missing_input(stage, input));
            }
        }
        if let Some(built) = kind.stage {
            let names: Vec<&str> = bound.iter().map(|bound| bound.input.name.as_str()).collect();
            if let Some(problem) = built.check_inputs(&names).filter(|_| is_complete) {
                let message = format!("stage `{}` {problem}", stage.name.text);
                self.problems.push(Diagnostic::at(stage.name.place, message));
                return None;
            }
            bound.sort_by_key(|bound| inputs.iter().position(|input| input.name == bound.input.name));
        }
        is_complete.then_some(bound)
    }

    /// Binds every input to the outputs of the same name; if there are none, the only required input to the only output that
    /// fits it. Returns false if something is wrong.
    fn bind_by_name(
        &self,
        stage: &StageSpec,
        inputs: &[StageInput],
        sources: &[Option<InputSource>],
        bound: &mut Vec<BoundInput>,
    ) -> bool {
        let mut is_complete = true;
        for source in sources {
            let Some(InputSource::Reference(reference)) = source else {
                if let Some(InputSource::File(_, place)) = source {
                    let problem = Diagnostic::at(*place, "a file is given to an input by name");
                    let hint = inputs.first().map(|input| format!("`from: {{ {}: ./path }}`", input.name));
                    self.problems.push(problem.maybe_hint(hint));
                }
                is_complete = false;
                continue;
            };
            let chosen = self.inputs_of_same_name(stage, inputs, reference);
            is_complete &= chosen.is_some();
            for input in chosen.unwrap_or_default() {
                let Some(source) = self.bind_source(&InputSource::Reference(reference.clone()), input) else {
                    is_complete = false;
                    continue;
                };
                match bound.iter_mut().find(|bound| bound.input.name == input.name) {
                    Some(bound) => bound.sources.push(source),
                    None => {
                        let (input, place, is_list) = (input.clone(), reference.place, sources.len() > 1);
                        bound.push(BoundInput { input, place, is_list, sources: vec![source] });
                    }
                }
            }
        }
        is_complete
    }

    /// Returns the inputs that have the names of outputs which a reference means; if there are none, the only required input.
    fn inputs_of_same_name<'s>(
        &self,
        stage: &StageSpec,
        inputs: &'s [StageInput],
        reference: &Reference,
    ) -> Option<Vec<&'s StageInput>> {
        let outputs = self.stages[reference.stage].outputs.as_ref()?;
        let names: Vec<&str> = outputs.iter().map(|output| output.name.as_str()).collect();
        let meant: Vec<&str> = match &reference.output_name {
            Some(wanted) => names.into_iter().filter(|name| name == wanted).collect(),
            None => names,
        };
        let of_same_name: Vec<_> = inputs.iter().filter(|input| meant.contains(&input.name.as_str())).collect();
        let required: Vec<_> = inputs.iter().filter(|input| input.count.is_none_or(Count::is_required)).collect();
        match (&of_same_name[..], &required[..]) {
            ([], [only]) => Some(vec![only]),
            ([], _) => {
                self.problems.push(self.mismatch(stage, reference, inputs, &meant));
                None
            }
            _ => Some(of_same_name),
        }
    }

    /// Binds an input to a source.
    fn bind_source(&self, source: &InputSource, input: &StageInput) -> Option<(InputSource, String)> {
        let output = match source {
            InputSource::Reference(reference) => self.output(reference, input)?.name.clone(),
            InputSource::File(..) => String::new(),
        };
        Some((source.clone(), output))
    }

    fn missing_input(&self, stage: &StageSpec, input: &StageInput) -> Diagnostic {
        let others = self.stages.iter().filter(|from| from.spec.name.text != stage.name.text);
        let outputs =
            others.flat_map(|from| from.outputs.iter().flatten().map(|output| (&from.spec.name.text, output)));
        let fitting = outputs.filter(|(_, output)| output.format == input.format);
        let candidates = list_names(fitting.map(|(from, output)| format!("{from}.{}", output.name)));
        let (stage, StageInput { name, format, .. }) = (&stage.name, input);
        let message = format!("stage `{}` is missing its input `{name}` (format `{format}`)", stage.text);
        Diagnostic::at(stage.place, message)
            .maybe_hint(candidates.map(|list| format!("of that format there is {list}")))
    }

    fn mismatch(&self, stage: &StageSpec, reference: &Reference, inputs: &[StageInput], meant: &[&str]) -> Diagnostic {
        let (kind, from) = (kind_name(stage), &self.stages[reference.stage].spec.name.text);
        if inputs.is_empty() {
            return Diagnostic::at(reference.place, format!("`{kind}` takes no inputs")).hint("remove `from`");
        }
        let outputs = self.stages[reference.stage].outputs.iter().flatten();
        let outputs = outputs.filter(|output| meant.contains(&output.name.as_str()));
        let described = |name: &str, format: &Format| format!("`{name}` ({format})");
        let message = format!("no output of `{from}` has the name of an input of `{kind}`");
        Diagnostic::at(reference.place, message).hint(format!(
            "name the input: `from: {{ INPUT: {} }}`; inputs {}; outputs {}",
            reference.text,
            list_some(inputs.iter().map(|input| described(&input.name, &input.format)), 8),
            list_some(outputs.map(|output| described(&output.name, &output.format)), 8)
        ))
    }
}

fn kind_name(stage: &StageSpec) -> &str {
    stage.kind.as_ref().map_or("", |kind| kind.text.as_str())
}

fn unknown_input(stage: &StageSpec, name: &SpannedStr, inputs: &[StageInput]) -> Diagnostic {
    let names = inputs.iter().map(|input| input.name.as_str());
    let hint = if name.text == "file" {
        Some("an external file is given to an input by name: `from: { input: { file: path } }`".into())
    } else {
        suggest(&name.text, "inputs", names).or(Some("it has no inputs".into()))
    };
    Diagnostic::at(name.place, format!("`{}` has no input `{}`", kind_name(stage), escape_controls(&name.text)))
        .maybe_hint(hint)
}
