//! The stage `analyse`: the best move of every position of games, as an engine finds it.
//!
//! Engines run side by side, one a core, with one thread each; an answer depends on the position, the engine and its
//! limit alone. It must not know what the moves are used for.

mod blocks;
mod config;
mod evaluator;
mod positions;
mod probe;
mod puzzles;
mod run;

use std::collections::BTreeMap;

use cwm_contract::{
    Context, Failure, Format, Input, Needs, Output, ParameterError, ParameterSpec, Parameters, ProbeContext,
    ProbeOutput, Stage, Values, Work,
};

use config::Config;

/// The stage `analyse`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Analyse;

impl Stage for Analyse {
    fn kind(&self) -> &'static str {
        "analyse"
    }

    fn description(&self) -> &'static str {
        "Asks an engine for the best move of every position of games, and finds puzzles in them."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![Input::one("games", Format::GAMES, "The games, whose positions are evaluated.")]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::file("evaluations", Format::EVALUATIONS, "parquet", "The positions in the order of the games."),
            Output::file(
                "puzzles",
                Format::PUZZLES,
                "csv",
                "The puzzles that were found; none without `puzzles: true`.",
            ),
            Output::file("counts", Format::COUNTS, "json", "How many positions were evaluated, and left out for what."),
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

    fn work(&self, values: &Values, inputs: &BTreeMap<String, Option<u64>>) -> Option<Work> {
        let config = Config::read(values).ok()?;
        let bytes = inputs.values().copied().sum::<Option<u64>>()? as f64;
        // Between positions an engine takes as long as for some 3,000 nodes.
        let of_program = || Work::new(String::new(), bytes * (config.nodes + 3_000) as f64);
        let work =
            if config.engine.is_some() { of_program() } else { Work::new(format!("depth {}", config.depth), bytes) };
        (bytes > 0.0).then_some(work)
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
