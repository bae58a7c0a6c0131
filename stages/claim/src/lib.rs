//! The stage `claim`: what is claimed of arms' choices, of numbers measured inside models, or of graded answers, and whether it
//! holds.
//!
//! A claim stands in a stage of its own, so that the report is written whether it holds or not. This crate depends on no
//! chess and no models.

mod choice_claim_result;
mod claim;
mod config;
mod grade_claims;
mod number_claims;
mod probe;
mod run;
#[cfg(test)]
mod tests;

use cwm_contract::{
    Context, Failure, Format, Input, Output, ParameterError, ParameterSpec, Parameters, ProbeContext, ProbeOutput,
    Stage, Values,
};

use config::Config;

/// The stage `claim`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Claim;

impl Stage for Claim {
    fn kind(&self) -> &'static str {
        "claim"
    }

    fn description(&self) -> &'static str {
        "Checks claims about models' choices, what was measured inside them, or graded answers; fails if one does not hold with its whole interval."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::optional_many("choices", Format::CHOICES, "Choices of the models that are claimed about."),
            Input::optional_many(
                "findings",
                Format::FINDINGS,
                "Numbers measured inside models that are claimed about.",
            ),
            Input::optional_many("grades", Format::GRADES, "Grades of answers that are claimed about."),
        ]
    }

    fn check_inputs_for(&self, values: &Values, inputs: &[&str]) -> Option<String> {
        Config::read(values).ok()?.check_inputs(inputs)
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::file("claims", Format::CLAIMS, "jsonl", "Each claim with what was found.")]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).map_or_else(|fault| vec![fault], |config| config.validate())
    }

    fn probe(&self, context: &ProbeContext) -> Result<Option<ProbeOutput>, Failure> {
        probe::probe(context).map(Some)
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        run::run(context)
    }
}
