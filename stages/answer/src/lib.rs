//! The stage `answer`: a model behind a server, or a player that needs none, answers items.
//!
//! Each answer is kept as soon as it has come, so that no question is sent twice. This crate must not depend on which
//! answers are right.

mod config;
mod earlier_answers;
mod entry;
mod output;
mod players;
mod preview;
mod probe;
mod question;
mod run;
mod server;

use std::collections::BTreeMap;

use cwm_contract::{
    Context, Failure, Format, Input, Needs, Output, ParameterError, ParameterSpec, Parameters, ProbeContext,
    ProbeOutput, Stage, Values, Work,
};
use cwm_web::Settings;

use config::Config;

/// The stage `answer`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answer;

impl Stage for Answer {
    fn kind(&self) -> &'static str {
        "answer"
    }

    fn description(&self) -> &'static str {
        "Sends the questions of items to a language model, or lets a scripted player answer them."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::list("items", Format::ITEMS, "The items to ask about."),
            Input::optional(
                "predictions",
                Format::PREDICTIONS,
                "What a world model predicts of the items' games, for the player `world_model`.",
            ),
            Input::optional_many(
                "known",
                Format::ANSWERS,
                "Earlier answers: those to the same requests are used again.",
            ),
        ]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::file("answers", Format::ANSWERS, "parquet", "One row an answer, in the items' order.")]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).map_or_else(|fault| vec![fault], |config| config.validate())
    }

    fn check_inputs_for(&self, values: &Values, inputs: &[&str]) -> Option<String> {
        Config::read(values).ok()?.check_inputs(inputs)
    }

    fn unused_parameters(&self, values: &Values) -> Vec<&'static str> {
        Config::read(values).map_or_else(|_| Vec::new(), |config| config.unused_parameters())
    }

    fn is_repeatable(&self, values: &Values) -> bool {
        Config::read(values).is_ok_and(|config| !config.is_server())
    }

    fn needs(&self, values: &Values) -> Needs {
        let is_engine = Config::read(values).is_ok_and(|config| config.player == "engine");
        Needs { cpu: if is_engine { None } else { Some(1) }, gpu: 0.0, memory: 256 << 20 }
    }

    fn work(&self, values: &Values, inputs: &BTreeMap<String, Option<u64>>) -> Option<Work> {
        let config = Config::read(values).ok()?;
        let group = if config.is_server() { config.model.unwrap_or_default() } else { config.player };
        Some(Work::new(group, (*inputs.get("items")?)? as f64))
    }

    fn preview(&self, context: &Context) -> Result<Option<String>, Failure> {
        preview::preview(context)
    }

    fn probe(&self, context: &ProbeContext) -> Result<Option<ProbeOutput>, Failure> {
        probe::probe(context)
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        run::run(context, &Settings::default())
    }
}

#[cfg(test)]
#[path = "../../../crates/web/src/fault_server.rs"]
mod fault_server;
#[cfg(test)]
mod tests;
