//! Encoding games, a window at a time.

use cwm_chess::Games;
use cwm_contract::{Context, Failure};
use rayon::ThreadPool;
use rayon::prelude::*;

use crate::encoded_sequence::EncodedSequence;
use crate::labels::{LabelledGame, Labels};
use crate::output::OutputWriter;

/// Games that are encoded at once, on all cores, at least.
const WINDOW: usize = 1 << 10;

/// Makes sequences of some games.
type EncodeGames<'a> = dyn Fn(&[LabelledGame]) -> Result<Vec<EncodedSequence>, Failure> + Sync + 'a;

/// Encodes all games in order, `together` at a time, with their evaluations if the form reads any.
pub fn encode(
    context: &Context,
    threads: &ThreadPool,
    reads_evaluations: bool,
    together: usize,
    encode: &EncodeGames<'_>,
    output: &mut OutputWriter,
) -> Result<(), Failure> {
    let games = Games::open(context.input("games")?)?;
    let mut labels = Labels::open(context.optional_input("evaluations").filter(|_| reads_evaluations))?;
    let (mut done, total) = (0, games.len() as u64);
    let mut rest = games.iter();
    loop {
        context.check_cancelled()?;
        let window = rest.by_ref().take(together * WINDOW.div_ceil(together)).map(|game| labels.of(&game?.row()));
        let window = window.collect::<Result<Vec<_>, _>>()?;
        if window.is_empty() {
            return labels.finish();
        }
        let encoded: Vec<_> = threads.install(|| window.par_chunks(together).map(encode).collect());
        for encoded in encoded {
            encoded?.into_iter().try_for_each(|encoded| output.push(encoded))?;
        }
        done += window.len() as u64;
        context.progress(done, Some(total), "games");
    }
}
