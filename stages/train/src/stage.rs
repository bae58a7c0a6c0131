//! The stage as the executor sees it.

use std::collections::BTreeMap;

use cwm_contract::{
    Context, Failure, Format, Input, Output, ParameterError, ParameterSpec, Parameters, ProbeContext, ProbeOutput,
    Stage, Values, Work,
};
use cwm_models::families;

use crate::config::Config;
use crate::{probe, work};

/// The format of the inputs and outputs `state`.
const STATE: Format = Format::named("state");

/// Trains a model.
#[derive(Clone, Copy, Debug)]
pub struct Train;

impl Stage for Train {
    fn kind(&self) -> &'static str {
        "train"
    }

    fn description(&self) -> &'static str {
        "Trains a model on token sequences and keeps its curves."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::one("train", Format::DATASET, "Games to learn from."),
            Input::optional("validation", Format::DATASET, "Games to measure on while it learns."),
            Input::optional("choice", Format::CHOICE, "Hyper-parameters that take the place of this stage's own."),
            Input::optional("state", STATE, "What a shorter training of the same configuration ended with."),
        ]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::folder("checkpoint", Format::CHECKPOINT, "The trained model: weights and description."),
            Output::file(
                "curves",
                Format::CURVES,
                "jsonl",
                "Loss, learning rate and gradient norm by step; validation.",
            ),
            Output::file(
                "summary",
                Format::SUMMARY,
                "json",
                "The description of the trained model by itself: what it is, how it was trained, how it did.",
            ),
            Output::folder("state", STATE, "What a longer training may start from, with `keep_state`; else nothing."),
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

    fn uses_devices(&self) -> bool {
        true
    }

    fn code_parts(&self, values: &Values) -> Option<Vec<String>> {
        let family = Config::read(values).ok().and_then(|config| families::find(&config.family).ok())?;
        Some(vec![family.part.to_owned()])
    }

    fn work(&self, values: &Values, inputs: &BTreeMap<String, Option<u64>>) -> Option<Work> {
        work::work(values, inputs)
    }

    fn probe(&self, context: &ProbeContext) -> Result<Option<ProbeOutput>, Failure> {
        probe::probe(context).map(Some)
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        crate::run::run(context)
    }
}
