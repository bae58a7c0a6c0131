//! The stage `split`: games into train and validation, by the bucket of their id.
//!
//! It looks at ids alone; it must not depend on what the games hold.

mod config;
mod probe;
mod run;

use cwm_contract::{
    Context, Failure, Format, Input, Output, ParameterError, ParameterSpec, Parameters, ProbeContext, ProbeOutput,
    Stage, Values,
};

use config::Config;

/// The stage `split`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Split;

impl Stage for Split {
    fn kind(&self) -> &'static str {
        "split"
    }

    fn description(&self) -> &'static str {
        "Puts each game into train or validation by the MD5 of its id, whatever other games there are."
    }

    fn inputs(&self) -> Vec<Input> {
        vec![Input::one("games", Format::GAMES, "The games to split.")]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::folder("train", Format::GAMES, "The games of the other buckets, in their order."),
            Output::folder("validation", Format::GAMES, "The games of the first buckets, in their order."),
            Output::file("counts", Format::COUNTS, "json", "How many games and plies each part has."),
        ]
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
