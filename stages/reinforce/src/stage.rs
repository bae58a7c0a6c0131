//! The stage as the executor sees it.

use cwm_contract::{
    Context, Failure, Format, Input, Output, ParameterError, ParameterSpec, Parameters, ProbeContext, ProbeOutput,
    Stage, Values,
};

use crate::config::Config;
use crate::probe;

/// Trains a model by reinforcement.
#[derive(Clone, Copy, Debug)]
pub struct Reinforce;

impl Stage for Reinforce {
    fn kind(&self) -> &'static str {
        "reinforce"
    }

    fn description(&self) -> &'static str {
        "Trains a model of words by reinforcement: it answers items, and answers with more reward than others become likelier."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::one(
                "checkpoint",
                Format::CHECKPOINT,
                "The model to start from, of `learn` on words or of `reinforce`.",
            ),
            Input::one("items", Format::ITEMS, "Items of the `reasoning_*` tasks; each is trained on once."),
            Input::optional(
                "validation",
                Format::ITEMS,
                "Items to measure on while it learns; none may have a board of the others.",
            ),
        ]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::folder("checkpoint", Format::CHECKPOINT, "The trained model: weights and description."),
            Output::file("curves", Format::CURVES, "jsonl", "Rewards, verdicts, entropy by step; validation."),
            Output::file(
                "answers",
                Format::ANSWERS,
                "parquet",
                "Some of the answers that were sampled, from all steps.",
            ),
            Output::file(
                "summary",
                Format::SUMMARY,
                "json",
                "The description of the trained model by itself: what it is, how it was trained, how it did.",
            ),
        ]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).map_or_else(|fault| vec![fault], |config| config.validate())
    }

    fn unused_parameters(&self, _values: &Values) -> Vec<&'static str> {
        vec!["checkpoint_every"]
    }

    fn uses_devices(&self) -> bool {
        true
    }

    fn probe(&self, context: &ProbeContext) -> Result<Option<ProbeOutput>, Failure> {
        probe::probe(context).map(Some)
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        crate::run::run(context)
    }
}
