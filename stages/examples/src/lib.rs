//! The stage `examples`: builds examples that models are fine-tuned on, by rule, from positions and an engine's values.
//!
//! The content of an example is the work of `cwm-reasoning`; this stage reads positions, draws them, and searches them.
//! An example depends on its position, the engine, the parameters and the seed alone: not on cores, or on the other
//! positions that are drawn.

mod build_result;
mod builders;
mod config;
mod drawing;
mod engine;
mod guided;
mod output;
mod positions;
mod probe;
mod run;
mod work;

use cwm_contract::{
    Context, Failure, Format, Input, Needs, Output, ParameterError, ParameterSpec, Parameters, ProbeContext,
    ProbeOutput, Stage, Values,
};

use config::Config;

/// The stage `examples`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Examples;

impl Stage for Examples {
    fn kind(&self) -> &'static str {
        "examples"
    }

    fn description(&self) -> &'static str {
        "Builds examples of chess that models are fine-tuned on, each with its true answer."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::optional(
                "evaluations",
                Format::EVALUATIONS,
                "Positions, and for `best_move` and some kinds of `factual` the values of their moves.",
            ),
            Input::optional("games", Format::GAMES, "Games, whose positions are taken in place of `evaluations`."),
            Input::optional_many(
                "apart",
                Format::ITEMS,
                "Items whose boards get no example, such as those that models are judged by.",
            ),
        ]
    }

    fn check_inputs(&self, inputs: &[&str]) -> Option<String> {
        let is_one = inputs.contains(&"evaluations") != inputs.contains(&"games");
        (!is_one).then(|| "needs one input: `evaluations` or `games`".into())
    }

    fn check_inputs_for(&self, values: &Values, inputs: &[&str]) -> Option<String> {
        let config = Config::read(values).ok()?;
        (config.needs_evaluations() && inputs.contains(&"games"))
            .then(|| format!("builds `{}` of values of moves: it needs an input `evaluations`", config.builder))
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::file(
                "examples",
                Format::EXAMPLES,
                "jsonl",
                "The examples, in the order of their positions; none of `guided`.",
            ),
            Output::file(
                "items",
                Format::ITEMS,
                "jsonl",
                "The items for a teacher, with `builder: guided`; none of other builders.",
            ),
            Output::file("counts", Format::COUNTS, "json", "How many positions were read, and dropped for what."),
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
        Needs { cpu: None, gpu: 0.0, memory: 512 << 20 }
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
