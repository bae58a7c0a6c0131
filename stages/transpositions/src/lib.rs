//! The stage `transpositions`: different sequences of moves that end in the same position.
//!
//! - `key`: the key of a position, as digest and as text.
//! - `sequences`: the sequences of all games as digests. `classes`: those that end alike, and the draw among them.
//! - `run`: reading, writing and the counts.
//!
//! It must not depend on models, or what the classes are for.

mod classes;
mod config;
mod key;
mod probe;
mod run;
mod sequences;

use cwm_contract::{
    Context, Failure, Format, Input, Needs, Output, ParameterError, ParameterSpec, Parameters, ProbeContext,
    ProbeOutput, Stage, Values,
};

use config::Config;

/// The stage `transpositions`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transpositions;

impl Stage for Transpositions {
    fn kind(&self) -> &'static str {
        "transpositions"
    }

    fn description(&self) -> &'static str {
        "Finds different sequences of moves that end in the same position."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![Input::one("games", Format::DATASET, "The games whose beginnings or ends are compared.")]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::file(
                "transpositions",
                Format::TRANSPOSITIONS,
                "parquet",
                "One row for each sequence of the classes that are written, class by class.",
            ),
            Output::file("counts", Format::COUNTS, "json", "How many games, sequences and classes there are."),
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
        Needs { cpu: None, gpu: 0.0, memory: 1 << 30 }
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
