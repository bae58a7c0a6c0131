//! `cwm model track`: follows a game with a model and prints what it predicts, ply by ply.

mod drawing;
mod summary;

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, IsTerminal, stdin, stdout};
use std::path::Path;

use cwm_contract::{Failure, TrackRequest};

use crate::cli::TrackArguments;
use crate::commands::model::checkpoint::{self, CHECKPOINT, PROBES};
use crate::output::{has_colour, is_json, print, print_json_line};
use crate::registry::require_model_tools;
use cwm_core::{Error, shell_quote};

use summary::Summary;

/// Runs `cwm model track`: a block for each position as soon as its move is read, then, on standard error, how it went.
///
/// # Errors
/// There is no such model or game, or a move is not legal; or this build cannot do it. What came before was printed.
pub fn run(store: Option<&Path>, arguments: &TrackArguments) -> Result<(), Error> {
    let model_tools = require_model_tools()?;
    let pipeline = &arguments.pipeline;
    let model = checkpoint::find(store, &arguments.checkpoint, pipeline, "cwm model track", &CHECKPOINT)?;
    let probes = arguments.probes.as_ref().map(|name| {
        let command = format!("cwm model track {} --probes", shell_quote(&arguments.checkpoint));
        checkpoint::find(store, name, pipeline, &command, &PROBES)
    });
    let request = TrackRequest {
        model,
        hints: arguments.hints.hints(),
        game: arguments.game,
        probes: probes.transpose()?,
        layer: arguments.layer,
    };
    let mut text = moves(arguments)?;
    let colour = has_colour(&stdout());
    let mut summary = Summary::default();
    let followed = model_tools.track(&request, &mut *text, &mut |position| {
        summary.add(&position);
        let printed = match arguments.summary {
            true => Ok(()),
            false if is_json() => print_json_line(&summary::to_json(&position)),
            false => print(&drawing::draw(&position, colour)),
        };
        printed.map_err(|error| Failure::system(error.message))
    });
    match arguments.summary {
        _ if summary.positions == 0 => {}
        true if is_json() => print_json_line(&summary)?,
        true => print(&summary.to_string())?,
        false => eprintln!("{summary}"),
    }
    Ok(followed?)
}

/// Opens the source of the moves.
fn moves(arguments: &TrackArguments) -> Result<Box<dyn BufRead>, Error> {
    if !arguments.moves.is_empty() {
        return Ok(Box::new(Cursor::new(arguments.moves.join(" ").into_bytes())));
    }
    match arguments.input.as_deref().filter(|input| input.as_os_str() != "-") {
        Some(path) => {
            let file = File::open(path);
            let file = file.map_err(|error| Error::usage(format!("cannot open {}: {error}", path.display())))?;
            if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
                return Err(Error::usage(format!("{} is a folder; name a file of moves or of PGN", path.display())));
            }
            Ok(Box::new(BufReader::new(file)))
        }
        None => {
            if stdin().is_terminal() {
                eprintln!("moves, one or more a line (e4, g1f3, O-O); Ctrl-D ends");
            }
            Ok(Box::new(BufReader::new(stdin())))
        }
    }
}
