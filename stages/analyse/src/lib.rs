//! The stage `analyse`: the best moves of positions of games, or of positions placed by chance, as an engine finds them.
//!
//! Engines run side by side, one a core, with one thread each; a result depends on the position, the engine and its
//! limit alone. It must not depend on what the moves are used for.

mod blocks;
mod config;
mod draw;
mod evaluator;
mod origin;
mod place;
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
        "Evaluates positions, of games or placed by chance, with an engine, and finds puzzles in games."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![Input::optional("games", Format::GAMES, "The games, whose positions are evaluated; none with `place`.")]
    }

    fn check_inputs_for(&self, values: &Values, inputs: &[&str]) -> Option<String> {
        match (Config::read(values).ok()?.place, inputs.contains(&"games")) {
            (None, false) => Some("needs an input `games`, or the parameter `place`".to_owned()),
            (Some(_), true) => Some("has an input `games`, which it does not read with `place`".to_owned()),
            _ => None,
        }
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::file(
                "evaluations",
                Format::EVALUATIONS,
                "parquet",
                "The positions in the order of the games, or as they were placed.",
            ),
            Output::file(
                "puzzles",
                Format::PUZZLES,
                "csv",
                "The puzzles that were found; none without `puzzles: true`.",
            ),
            Output::file("counts", Format::COUNTS, "json", "How many positions were evaluated, and dropped for what."),
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
        let (group, units) = match config.place {
            Some(positions) => ("placed ", positions as f64),
            None => ("", inputs.values().copied().sum::<Option<u64>>()? as f64),
        };
        // Between positions an engine takes as long as for some 3,000 nodes.
        let of_program = || Work::new(group.trim().to_owned(), units * (config.nodes + 3_000) as f64);
        let own = || Work::new(format!("{group}depth {}", config.depth), units);
        (units > 0.0).then(|| if config.engine.is_some() { of_program() } else { own() })
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
