//! `cwm model track`: follows a game with a model and prints what it predicts, ply by ply.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, IsTerminal, stdin, stdout};
use std::path::Path;

use cwm_contract::{Failure, TrackReport, TrackRequest};
use owo_colors::{OwoColorize, Style};

use crate::cli::TrackArguments;
use crate::commands::model::checkpoint::{self, CHECKPOINT, PROBES};
use crate::output::{has_colour, is_json, print};
use crate::registry::require_model_tools;
use cwm_core::Error;

/// Runs `cwm model track`: a block for each position as soon as its move is read, then, on standard error, how it went.
///
/// # Errors
/// There is no such model or game, or a move is not legal; or this build cannot do it. What came before was printed.
pub fn run(store: Option<&Path>, arguments: &TrackArguments) -> Result<(), Error> {
    let model_tools = require_model_tools()?;
    let pipeline = &arguments.pipeline;
    let model = checkpoint::find(store, &arguments.checkpoint, pipeline, &CHECKPOINT)?;
    let probes = arguments.probes.as_ref().map(|name| checkpoint::find(store, name, pipeline, &PROBES));
    let request = TrackRequest {
        model,
        hints: arguments.hints.hints(),
        game: arguments.game,
        probes: probes.transpose()?,
        layer: arguments.layer,
    };
    let mut text = moves(arguments)?;
    let colour = has_colour(&stdout());
    let print_report = &mut |report: TrackReport| {
        let printed = match report {
            TrackReport::Position { .. } if arguments.summary => Ok(()),
            TrackReport::Position { json, .. } if is_json() => print(&json),
            TrackReport::Position { text, .. } => print(&paint(&text, colour)),
            TrackReport::Summary { json, .. } if arguments.summary && is_json() => print(&json),
            TrackReport::Summary { text, .. } if arguments.summary => print(&text),
            TrackReport::Summary { text, .. } => {
                eprintln!("{text}");
                Ok(())
            }
        };
        printed.map_err(|error| Failure::system(error.message))
    };
    Ok(model_tools.track(&request, &mut *text, print_report)?)
}

/// Joins pieces of text; the wrong ones are red with `colour`.
fn paint(pieces: &[(String, bool)], colour: bool) -> String {
    let painted = pieces.iter().map(|(piece, wrong)| match *wrong && colour {
        true => piece.style(Style::new().red().bold()).to_string(),
        false => piece.clone(),
    });
    painted.collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_wrong_is_red() {
        let pieces = [("  castling  ".to_owned(), false), ("*KQ".to_owned(), true)];
        assert_eq!(paint(&pieces, false), "  castling  *KQ");
        let coloured = paint(&pieces, true);
        assert!(coloured.starts_with("  castling  \u{1b}[") && coloured.contains("*KQ"), "{coloured}");
    }
}
