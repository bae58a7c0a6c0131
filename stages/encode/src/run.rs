//! The run of `encode`.

use cwm_contract::{Context, Failure};

use crate::config::Config;
use crate::forms::{self, Encoder};
use crate::labels::LabelledGame;
use crate::output::OutputWriter;
use crate::{examples, games, positions};

/// Reads `evaluations`, `games` or both, or `examples`, and writes `sequences` and `counts`.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let form = forms::find(&config.form).map_err(|unknown| Failure::input(format!("parameter `form` {unknown}")))?;
    if let Some(problem) = form.missing_input(|name| context.optional_input(name).is_some()) {
        return Err(Failure::input(format!("encode {problem}")));
    }
    let threads = rayon::ThreadPoolBuilder::new().num_threads(context.cores()).build();
    let threads = threads.map_err(|error| Failure::system(format!("cannot start threads: {error}")))?;
    let mut output = OutputWriter::create(context, form, &config)?;
    context.activity("encoding");
    match form.encoder {
        Encoder::Position(encode) => positions::encode(context, &threads, encode, &mut output)?,
        Encoder::Game(encode) => {
            let reads_evaluations = form.inputs.contains(&"evaluations");
            let encode = |games: &[LabelledGame]| {
                games.iter().map(|game| encode(game).map_err(|wrong| game.failure(&wrong))).collect()
            };
            games::encode(context, &threads, reads_evaluations, 1, &encode, &mut output)?;
        }
        Encoder::Games(encode) => {
            let together = if config.has_blocks() { config.chunk_games } else { 1 };
            let encode = |games: &[LabelledGame]| encode(games, &config);
            games::encode(context, &threads, false, together, &encode, &mut output)?;
        }
        Encoder::Example(encode) => {
            examples::encode(context, &threads, &|example| encode(example, &config), &mut output)?;
        }
    }
    output.finish(context)
}
