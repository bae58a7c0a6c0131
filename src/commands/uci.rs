//! `cwm uci`: plays chess with a model, as an engine for any chess program.

use std::io::{BufReader, stdin};
use std::path::Path;

use cwm_contract::{Failure, UciRequest};

use crate::cli::UciArguments;
use crate::commands::model::checkpoint::{self, CHECKPOINT};
use crate::output::{print, reject_json_with};
use crate::registry::require_model_tools;
use cwm_core::Error;

/// Runs `cwm uci`: answers the commands of standard input on standard output until `quit` or its end.
///
/// # Errors
/// There is no such model or device, or the model chooses no moves; or this build cannot do it.
pub fn run(store: Option<&Path>, arguments: &UciArguments) -> Result<(), Error> {
    reject_json_with("uci")?;
    let model_tools = require_model_tools()?;
    let model = checkpoint::find(store, &arguments.model, &arguments.pipeline, &CHECKPOINT)?;
    if model.is_file() {
        return Err(Error::usage(format!("{} is a file; `cwm uci` takes a checkpoint's folder", model.display())));
    }
    let request = UciRequest { model, device: arguments.device.clone(), is_masked: arguments.legality == "mask" };
    let mut input = BufReader::new(stdin());
    model_tools
        .play_uci(&request, &mut input, &mut |line| print(line).map_err(|error| Failure::system(error.message)))?;
    Ok(())
}
