//! The four sinks of a run's events ([`cwm_engine::RunEvent`]): the terminal, plain lines, JSON and the run log.

mod cells;
mod costs;
mod failures;
mod json;
mod plain;
mod progress;
mod terminal;
mod text;

use std::io::{IsTerminal, stderr};

use cwm_contract::Label;
use cwm_engine::EventSink;

use crate::cli::OutputStyle;
use crate::output::{is_json, supports_escapes};
use json::Json;
pub use json::RunLog;
use plain::Plain;
use terminal::Terminal;

/// Returns the sink that shows events in the form of `--output` or `--json`. `all` are the cells of the
/// pipeline.
pub fn progress_sink(output: OutputStyle, verbose: bool, all: Vec<Label>) -> Box<dyn EventSink> {
    if is_json() { Box::new(Json) } else { sink_for_people(output, verbose, all) }
}

/// Returns the sink that shows events to people: live on a terminal, unless `output` is plain. Elsewhere there are no bars.
pub fn sink_for_people(output: OutputStyle, verbose: bool, all: Vec<Label>) -> Box<dyn EventSink> {
    let is_live = match output {
        OutputStyle::Live => stderr().is_terminal(),
        OutputStyle::Auto => supports_escapes(&stderr()),
        OutputStyle::Plain => false,
    };
    if is_live { Box::new(Terminal::new(verbose, all)) } else { Box::new(Plain::new(verbose, all)) }
}
