//! The stage `mix`: examples of several sources, mixed by their tokens.
//!
//! `cwm-reasoning` chooses the examples.

mod config;
mod probe;
mod run;
mod tokens;

use cwm_contract::{
    Context, Failure, Format, Input, Label, Needs, Output, ParameterError, ParameterSpec, Parameters, ProbeContext,
    ProbeOutput, Stage, Values,
};

use config::Config;

/// The stage `mix`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mix;

impl Stage for Mix {
    fn kind(&self) -> &'static str {
        "mix"
    }

    fn description(&self) -> &'static str {
        "Mixes examples of several sources, so that each has its share of what is learnt."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![Input::many("examples", Format::EXAMPLES, "The sources, which `weights` names.")]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::file("examples", Format::EXAMPLES, "jsonl", "The mixed examples, shuffled."),
            Output::file("mixture", Format::MIXTURE, "json", "What was taken of each source."),
        ]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).map_or_else(|fault| vec![fault], |config| config.validate())
    }

    fn check_labels(&self, values: &Values, inputs: &[(&str, Vec<&Label>)]) -> Vec<ParameterError> {
        let sources = inputs.iter().flat_map(|(_, labels)| labels).copied().collect::<Vec<_>>();
        Config::read(values).ok().and_then(|config| config.check_sources(&sources)).into_iter().collect()
    }

    fn needs(&self, _values: &Values) -> Needs {
        Needs { cpu: Some(1), gpu: 0.0, memory: 512 << 20 }
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
