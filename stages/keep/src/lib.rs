//! The stage `keep`: the answers of a teacher that are right become examples (rejection sampling).
//!
//! Judging an answer is the work of `grade`; this stage compares its rewards with thresholds, and draws.

mod answers;
mod balance;
mod config;
mod output;
mod probe;
mod run;

use cwm_contract::{
    Context, Failure, Format, Input, Needs, Output, ParameterError, ParameterSpec, Parameters, ProbeContext,
    ProbeOutput, Stage, Values,
};

use config::Config;

/// The stage `keep`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keep;

impl Stage for Keep {
    fn kind(&self) -> &'static str {
        "keep"
    }

    fn description(&self) -> &'static str {
        "Keeps the answers of a teacher that are right, as examples that models are fine-tuned on."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::one("items", Format::ITEMS, "The items that the teacher answered."),
            Input::one("answers", Format::ANSWERS, "Its answers."),
            Input::optional("grades", Format::GRADES, "Their grades; not needed for the items of `guided` alone."),
        ]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::file(
                "examples",
                Format::EXAMPLES,
                "jsonl",
                "The answers that are kept, in the order of the items.",
            ),
            Output::file("counts", Format::COUNTS, "json", "How many answers were kept, and dropped for what."),
        ]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).map_or_else(|fault| vec![fault], |config| config.validate())
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
