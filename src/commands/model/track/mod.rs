//! `cwm model track`: follows a game with a model and prints the board that it predicts, ply by ply.

mod drawing;
mod summary;

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, IsTerminal, stdin, stdout};
use std::path::{Path, PathBuf};

use cwm_contract::{Failure, Format, TrackRequest};

use crate::cli::TrackArguments;
use crate::output::{has_colour, is_json, print, print_json_line};
use crate::registry::require_model_tools;
use crate::workspace::Workspace;
use cwm_core::{Error, list_some, shell_quote};
use cwm_pipeline::plan::{Cell, Plan, StagePlan};

use summary::Summary;

/// The most stages that a hint lists.
const MAX_STAGES: usize = 8;

/// Runs `cwm model track`: a block for each position as soon as its move is read, then, on standard error, how it went.
///
/// # Errors
/// There is no such model or game, or a move is not legal; or this build cannot do it. What came before was printed.
pub fn run(store: Option<&Path>, arguments: &TrackArguments) -> Result<(), Error> {
    let model_tools = require_model_tools()?;
    let request =
        TrackRequest { model: model(store, arguments)?, hints: arguments.hints.hints(), game: arguments.game };
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

/// Returns the path of the model: the one that was named, or one in the store.
fn model(store: Option<&Path>, arguments: &TrackArguments) -> Result<PathBuf, Error> {
    let path = Path::new(&arguments.checkpoint);
    if path.is_file() || path.join("model.json").is_file() {
        return Ok(path.to_owned());
    }
    if path.is_dir() && arguments.checkpoint.contains('/') {
        return Err(Error::usage(format!("{} is no checkpoint: it has no model.json", path.display())));
    }
    let workspace = Workspace::open_skipping_damaged(store, &arguments.pipeline)?;
    let plan = &workspace.plan;
    if let Ok(cells) = plan.select(&arguments.checkpoint)
        && !cells.iter().any(|&cell| has_checkpoint(&plan.cells[cell]))
    {
        let message = format!("{} has no checkpoint among its outputs", arguments.checkpoint);
        return Err(Error::usage(message).hint(trackable(plan)));
    }
    let outputs = plan.select_outputs(&arguments.checkpoint, Some(&Format::CHECKPOINT))?;
    let (index, port) = workspace.single_output(&arguments.checkpoint, outputs)?;
    let (output, path) = workspace.stored_output(&arguments.checkpoint, index, &port)?;
    if output.format != Format::CHECKPOINT {
        let message = format!("{} is of format {}, and no checkpoint", arguments.checkpoint, output.format);
        return Err(Error::usage(message).hint(trackable(plan)));
    }
    Ok(path)
}

fn has_checkpoint(cell: &Cell) -> bool {
    cell.outputs.iter().any(|output| output.format == Format::CHECKPOINT)
}

/// Returns the hint that lists the stages with checkpoints, with a command for the first.
fn trackable(plan: &Plan) -> String {
    let first_cell = |stage: &StagePlan| stage.cells.iter().copied().find(|&cell| has_checkpoint(&plan.cells[cell]));
    let cells: Vec<usize> = plan.stages.iter().filter_map(first_cell).collect();
    let Some(&first) = cells.first() else {
        let hint =
            "no stage of this pipeline has one: name a checkpoint's folder, or a file that `cwm model import` takes";
        return hint.to_owned();
    };
    let stages = list_some(cells.iter().map(|&cell| &plan.cells[cell].label.stage), MAX_STAGES);
    let first = shell_quote(&plan.cells[first].label.to_string());
    format!("stages with a checkpoint: {stages}; `cwm model track {first}` follows a game with the first")
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
