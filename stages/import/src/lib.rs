//! The stage `import`: the JSON lines of the paper's own program into games.
//!
//! It checks that the lines agree with their moves, and keeps the games as they are. It must not depend on tokens
//! beyond reading them back into moves, of splits, or of models.

mod block_stream;
mod config;
mod lines;
mod parsed_record;
mod record;
mod run;
mod validate;

use cwm_contract::{
    Context, Failure, Format, Input, Needs, Output, ParameterError, ParameterSpec, Parameters, Stage, Values,
};

use config::Config;

/// The stage `import`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Import;

impl Stage for Import {
    fn kind(&self) -> &'static str {
        "import"
    }

    fn description(&self) -> &'static str {
        "Reads games from the JSON lines of the paper's own program, and checks every state that they hold."
    }

    fn inputs(&self) -> Vec<Input> {
        Vec::new()
    }

    fn outputs(&self) -> Vec<Output> {
        vec![
            Output::folder("games", Format::GAMES, "The games in the order of the lines."),
            Output::file("counts", Format::COUNTS, "json", "How many records were read, kept, and dropped for what."),
            Output::file("faults", Format::FAULTS, "jsonl", "Every record that was dropped, and its place."),
        ]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<ParameterError> {
        Config::read(values).map_or_else(|fault| vec![fault], |config| config.validate())
    }

    fn needs(&self, _values: &Values) -> Needs {
        Needs { cpu: None, gpu: 0.0, memory: 512 << 20 }
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        run::run(context)
    }
}

#[cfg(test)]
mod tests;
