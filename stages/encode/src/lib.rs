//! The stage `encode`: games, positions with their best moves, or examples, as the sequences that a model learns from.
//!
//! It must not depend on the models that learn from them. Each form is a file of `forms`; the reading and writing that forms
//! have in common, in order and on all cores, is outside.

mod config;
mod counts;
mod encoded_sequence;
mod examples;
mod forms;
mod games;
mod labels;
mod output;
mod positions;
mod probe;
mod run;

use cwm_contract::{
    Context, Failure, Format, Input, Needs, Output, ParameterError, ParameterSpec, Parameters, ProbeContext,
    ProbeOutput, Stage, Values,
};

use config::Config;

/// The stage `encode`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Encode;

impl Stage for Encode {
    fn kind(&self) -> &'static str {
        "encode"
    }

    fn description(&self) -> &'static str {
        "Writes games, positions with their best moves, or examples, as the sequences that a model learns from."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::optional(
                "evaluations",
                Format::EVALUATIONS,
                "Positions and their best moves: for the forms `board`, `prompt` and `moves`; others make no use of them.",
            ),
            Input::optional(
                "games",
                Format::GAMES,
                "The games: for the forms `characters`, `moves` and `words`; others make no use of them.",
            ),
            Input::optional(
                "examples",
                Format::EXAMPLES,
                "Conversations about positions: for the form `speech`; others make no use of them.",
            ),
        ]
    }

    fn check_inputs(&self, inputs: &[&str]) -> Option<String> {
        inputs.is_empty().then(|| {
            "has nothing to encode: it needs an input `evaluations`, `games` or both, or `examples`".to_owned()
        })
    }

    fn check_inputs_for(&self, values: &Values, inputs: &[&str]) -> Option<String> {
        let form = forms::find(&Config::read(values).ok()?.form).ok()?;
        form.missing_input(|name| inputs.contains(&name))
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::folder("sequences", Format::SEQUENCES, "The sequences in the order of the input."),
            Output::file("counts", Format::COUNTS, "json", "How much was written, and what was dropped for what."),
        ]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).map_or_else(|fault| vec![fault], |config| config.validate())
    }

    fn unused_parameters(&self, values: &Values) -> Vec<&'static str> {
        Config::read(values).map_or_else(|_| Vec::new(), |config| config.unused_parameters())
    }

    fn needs(&self, _values: &Values) -> Needs {
        Needs { cpu: None, gpu: 0.0, memory: 1 << 30 }
    }

    fn code_parts(&self, values: &Values) -> Option<Vec<String>> {
        let form = forms::find(&Config::read(values).ok()?.form).ok()?;
        Some(form.parts.iter().map(|part| (*part).to_owned()).collect())
    }

    fn probe(&self, context: &ProbeContext) -> Result<Option<ProbeOutput>, Failure> {
        probe::probe(context).map(Some)
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        run::run(context)
    }
}

#[cfg(test)]
mod tests;
