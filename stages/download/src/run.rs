//! The stage.

use cwm_contract::{
    Context, Failure, Fault, Format, Input, Output, ParameterSpec, Parameters, SourceLocation, Stage, Value, Values,
};

use crate::config::{self, Config};
use crate::settings::Settings;
use crate::{fetch, local};

/// The stage `download`: gets a file of games from a URL, or refers to one that is here.
pub struct Download;

impl Stage for Download {
    fn kind(&self) -> &'static str {
        "download"
    }

    fn about(&self) -> &'static str {
        "Gets a file of games from a URL, or refers to one that is here, and checks its sum"
    }

    fn inputs(&self) -> Vec<Input> {
        Vec::new()
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::file("pgn", Format::PGN, "pgn.zst", "The file, byte for byte")]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn check(&self, values: &Values) -> Vec<Fault> {
        config::faults(values)
    }

    /// The expected sum, which stands for the content wherever it comes from; else the URL. A file without a sum
    /// enters the key by its content anyway.
    fn fixed_key(&self, values: &Values) -> Option<Value> {
        let config = Config::read(values).ok()?;
        match (config.checksum().ok()?, config.source) {
            (Some(sum), _) => Some(Value::Text(sum.to_string())),
            (None, SourceLocation::Url(url)) => Some(Value::Text(url)),
            (None, SourceLocation::File(_)) => None,
        }
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        run(context, &Settings::default())
    }
}

/// The stage with patience of the caller's choice.
pub(crate) fn run(context: &Context, settings: &Settings) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let expected = config
        .checksum()
        .map_err(|fault| Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message)))?;
    match &config.source {
        SourceLocation::File(path) => local::refer(context, path, expected),
        SourceLocation::Url(url) => fetch::fetch(context, url.trim(), expected, settings),
    }
}
