//! The stage `select`: the best of a group of trainings, as one small file that the next trainings read.
//!
//! It compares what trainings wrote of themselves. It must not depend on models: a training is a family, a size, numbers of
//! its last validation and parameters by name.

mod candidate;
mod choosing;
mod config;
mod output;
mod probe;
mod ranking;
mod run;
mod scalar;
#[cfg(test)]
mod tests;

use cwm_contract::{
    Context, Failure, Format, Input, Output, ParameterError, ParameterSpec, Parameters, ProbeContext, ProbeOutput,
    Stage, Values,
};

use config::Config;

/// The stage `select`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Select;

impl Stage for Select {
    fn kind(&self) -> &'static str {
        "select"
    }

    fn description(&self) -> &'static str {
        "Chooses the training with the lowest last validation loss, and writes its hyper-parameters down."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::optional_many("summaries", Format::SUMMARY, "What trainings of one family and size came to."),
            Input::optional_many(
                "checkpoints",
                Format::CHECKPOINT,
                "The trained models in their place, where the best one is wanted too.",
            ),
        ]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::file("choice", Format::CHOICE, "json", "The hyper-parameters of the best one."),
            Output::file("candidates", Format::CANDIDATES, "jsonl", "All of them: ranked, or why they were excluded."),
            Output::folder("checkpoint", Format::CHECKPOINT, "The best one itself, as it was given.")
                .when("checkpoints"),
        ]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).map_or_else(|fault| vec![fault], |config| config.validate())
    }

    fn check_inputs(&self, inputs: &[&str]) -> Option<String> {
        (inputs.len() > 1).then(|| "takes `summaries` or `checkpoints`, not both".to_owned())
    }

    fn probe(&self, context: &ProbeContext) -> Result<Option<ProbeOutput>, Failure> {
        probe::probe(context).map(Some)
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        run::run(context)
    }
}
