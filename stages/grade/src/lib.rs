//! The stage `grade`: judges the answers of all runs, and sums them up.
//!
//! - `items`: the items, and their tasks. `judges`: judges of answers to an item. `answers`: the answers of a run, each
//!   judged. `cost`: the cost of an answer.
//! - `resamples`: accuracies of tasks whose items are drawn anew. `counts`: sums of a run. `tallies`: both together.
//!   `measures`: measures of answers to graded items. `judge_scores`: measures of runs by the answers of a judge.
//!
//! The rules of truth, and of reading an answer, are those of `cwm-questions` and `cwm-reasoning`. This crate must not
//! depend on who answered the items, or with which settings.

mod answers;
mod config;
mod cost;
mod counts;
mod items;
mod judge_scores;
mod judges;
mod measures;
mod output;
mod probe;
mod resamples;
mod run;
mod tallies;

use cwm_contract::{
    Context, Failure, Format, Input, Output, ParameterError, ParameterSpec, Parameters, ProbeContext, ProbeOutput,
    Stage, Values,
};

use config::Config;

/// The stage `grade`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Grade;

impl Stage for Grade {
    fn kind(&self) -> &'static str {
        "grade"
    }

    fn description(&self) -> &'static str {
        "Judges the answers of models to items, and sums up what each run is worth, with bootstrap intervals."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::list("items", Format::ITEMS, "The items: a file, or several."),
            Input::many("answers", Format::ANSWERS, "The answers of each run to all items, of any program."),
        ]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::file("grades", Format::GRADES, "parquet", "One row for each run and item."),
            Output::folder(
                "tallies",
                Format::TALLIES,
                "Sums of each run overall, by category and by task; every two runs compared; the tasks; measures of graded tasks.",
            ),
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

    fn probe(&self, context: &ProbeContext) -> Result<Option<ProbeOutput>, Failure> {
        probe::probe(context).map(Some)
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        run::run(context)
    }
}

#[cfg(test)]
mod tests;
