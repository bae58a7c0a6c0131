//! Shows the events of a run or a transfer while they happen.

use std::io::{IsTerminal, stderr};

use cwm_contract::Label;
use cwm_engine::EventSink;

use crate::cli::Output;
use crate::events::{Json, Plain, Terminal};
use crate::output::{EventOutput, is_json};

/// Returns the sink that shows events in the form of `--output` or `--json`. `all` are the cells of the
/// pipeline.
pub fn progress_sink(output: Output, verbose: bool, all: Vec<Label>) -> Box<dyn EventSink> {
    let output = match output {
        _ if is_json() => Output::Json,
        Output::Auto if stderr().is_terminal() => Output::Live,
        Output::Auto => Output::Plain,
        chosen => chosen,
    };
    match output {
        Output::Live => Box::new(Terminal::new(verbose, all)),
        Output::Json => Box::new(Json(EventOutput::open())),
        Output::Plain | Output::Auto => Box::new(Plain::new(stderr(), verbose, all)),
    }
}
