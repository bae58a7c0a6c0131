//! The run of `comments`.

use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use cwm_chess::Games;
use cwm_chess::pgn::{Block, Blocks, Meter, PgnSource};
use cwm_contract::{Context, Failure};
use cwm_encoding::{PlainMove, legal};
use cwm_game::StreamRng;
use cwm_random::Random;
use shakmaty::{Chess, Position};

use crate::annotated::read_game;
use crate::by_model::ModelAnswers;
use crate::config::Config;
use crate::output::CommentsOutput;
use crate::sentences::sentence;
use crate::written::WrittenComment;

/// One in so many of the moves that rules could comment on gets a comment, as annotators choose.
const ONE_IN: u32 = 8;

/// Faulty games that the log names, at most.
const MAX_LOGGED: u64 = 20;

/// Reads `pgn` or `games` and writes `comments`, `items` and `counts`.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let answers = context.optional_input("answers").map(ModelAnswers::read).transpose()?;
    let mut output = CommentsOutput::create(context, &config, answers)?;
    match context.optional_input("games") {
        Some(games) => write_by_rules(context, games, &mut output)?,
        None => read_annotated(context, &mut output)?,
    }
    output.finish()
}

/// Takes the comments of all files.
fn read_annotated(context: &Context, output: &mut CommentsOutput<'_>) -> Result<(), Failure> {
    context.activity("reading games");
    let meter = Arc::new(Meter::default());
    let mut faulty = 0;
    for file in context.group("pgn") {
        let path = &file.path;
        let wrong = |error: &dyn std::fmt::Display| Failure::input(format!("cannot read {}: {error}", path.display()));
        if path.is_dir() {
            return Err(wrong(&"it is a folder").hint("give its files"));
        }
        let source = PgnSource::open(path, &meter).map_err(|error| wrong(&error))?;
        let mut blocks = Blocks::new(BufReader::with_capacity(1 << 17, source));
        let mut block = Block::default();
        while blocks.next(&mut block).map_err(|error| wrong(&error))? {
            context.check_cancelled()?;
            context.progress(meter.consumed(), None, "bytes");
            for text in block.games() {
                match read_game(&text) {
                    Ok(game) => output.take_annotated(&game)?,
                    Err(reason) => {
                        faulty += 1;
                        if faulty <= MAX_LOGGED {
                            context.log(format!("dropped game {} of {}: {reason}", text.number, path.display()));
                        }
                        output.drop_game(reason);
                    }
                }
            }
        }
    }
    meter.ignored().into_iter().for_each(|ignored| context.note(ignored));
    Ok(())
}

/// Writes comments on the games at `path`.
fn write_by_rules(context: &Context, path: &Path, output: &mut CommentsOutput<'_>) -> Result<(), Failure> {
    context.activity("writing comments");
    let games = Games::open(path)?;
    for game in games.iter() {
        context.check_cancelled()?;
        let game = game?;
        let game = game.row();
        let mut draws = StreamRng::new("comments by rules", "0", game.index);
        let mut position = Chess::default();
        let mut written = Vec::new();
        for (ply, &packed) in game.moves.iter().enumerate() {
            let plain = PlainMove::from_packed(packed);
            let played = plain.and_then(|plain| legal(&position, plain)).ok_or_else(|| {
                Failure::input(format!("move {} of game {} ({:?}) is not legal", ply + 1, game.index, game.id))
                    .hint("games by other rules than standard chess cannot be commented on")
            })?;
            if draws.below(ONE_IN) == 0
                && let Some(text) = sentence(&position, played)
            {
                written.push(WrittenComment::new(&position, played, text));
            }
            position.play_unchecked(played);
        }
        output.take_written(written)?;
        context.progress(output.games(), Some(games.len() as u64), "games");
    }
    Ok(())
}
