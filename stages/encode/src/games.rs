//! Encoding games, a window at a time.

use cwm_chess::Games;
use cwm_contract::{Context, Failure};
use rayon::ThreadPool;
use rayon::prelude::*;

use crate::encoded::Encoded;
use crate::labels::{LabelledGame, Labels};
use crate::output::Output;

/// Games that are encoded at once, on all cores.
const WINDOW: usize = 1 << 10;

/// Encodes all games in order, with their evaluations if the form reads any.
pub fn encode(
    context: &Context,
    threads: &ThreadPool,
    reads_evaluations: bool,
    encode: fn(&LabelledGame) -> Result<Encoded, String>,
    output: &mut Output,
) -> Result<(), Failure> {
    let games = Games::open(context.input("games")?)?;
    let mut labels = Labels::open(context.optional_input("evaluations").filter(|_| reads_evaluations))?;
    let (mut done, total) = (0, games.len() as u64);
    let mut rest = games.iter();
    loop {
        context.check_cancelled()?;
        let window = rest.by_ref().take(WINDOW).map(|game| labels.of(&game?.row()));
        let window = window.collect::<Result<Vec<_>, _>>()?;
        if window.is_empty() {
            return labels.finish();
        }
        let encoded: Vec<_> = threads.install(|| window.par_iter().map(encode).collect());
        for (game, encoded) in window.iter().zip(encoded) {
            let place = |wrong: String| Failure::input(format!("game {} ({:?}): {wrong}", game.index, game.id));
            output.push(encoded.map_err(place)?)?;
        }
        done += window.len() as u64;
        context.progress(done, Some(total), "games");
    }
}
