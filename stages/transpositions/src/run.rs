//! The run of `transpositions`.

use cwm_chess::Dataset;
use cwm_contract::{Context, Failure};
use cwm_inside_rows::{Transposition, TranspositionsDescription, TranspositionsWriter};
use rayon::prelude::*;
use serde_json::json;

use crate::classes::Classes;
use crate::config::Config;
use crate::key::text;
use crate::sequences::{Sequence, Sequences, distinct_sequences, replay};

/// Reads `games` and writes `transpositions` and `counts`.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let dataset = Dataset::open(context.input("games")?)?;
    if u32::try_from(dataset.len()).is_err() {
        return Err(Failure::input(format!("{} games are too many: the table counts them in 32 bits", dataset.len())));
    }
    let threads = rayon::ThreadPoolBuilder::new().num_threads(context.cores()).build();
    let threads = threads.map_err(|error| Failure::system(format!("cannot start threads: {error}")))?;
    context.activity("replaying games");
    let Sequences { mut all, games, of_other_rules } = distinct_sequences(context, &threads, &dataset, &config)?;
    context.activity("comparing positions");
    threads.install(|| all.par_sort_unstable_by_key(|sequence| (sequence.position, sequence.game, sequence.ply)));
    let sequences = all.len() as u64;
    let classes = Classes::of(all);
    if classes.len() == 0 {
        let message = format!("no two of {sequences} sequences of moves end in the same {}", config.same);
        return Err(Failure::input(message).hint("take more games, or `sequences: prefixes` with a larger `max_plies`"));
    }
    let of = TranspositionsDescription {
        same: config.same.clone(),
        sequences: config.sequences.clone(),
        plies: config.plies(),
        members: config.members,
        seed: config.seed,
        games,
        different: sequences,
        classes: classes.len() as u64,
        sizes: classes.sizes.clone(),
    };
    let rows = write(context, &dataset, &config, &classes, &of)?;
    let counts = json!({
        "stage": "transpositions",
        "games": games,
        "dropped": { "other_rules": of_other_rules },
        "sequences": sequences,
        "classes": classes.len(),
        "rows": rows,
    });
    fs_err::write(context.output("counts")?, format!("{counts}\n"))?;
    context.metric("sequences", sequences as f64);
    context.metric("classes", classes.len() as f64);
    Ok(())
}

/// Writes the classes that are drawn, and returns the number of rows.
fn write(
    context: &Context,
    dataset: &Dataset,
    config: &Config,
    classes: &Classes,
    of: &TranspositionsDescription,
) -> Result<u64, Failure> {
    let limit = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let drawn = classes.drawn(limit(config.classes), config.seed);
    let with_key = |members| key(dataset, config, members).map(|key| (key, members));
    let mut drawn = drawn.into_iter().map(with_key).collect::<Result<Vec<_>, Failure>>()?;
    drawn.sort_unstable();
    let mut writer = TranspositionsWriter::create(context.output("transpositions")?, of)?;
    let mut rows = 0;
    for (class, (key, members)) in (0..).zip(drawn) {
        for &Sequence { game, ply, .. } in members.iter().take(limit(config.members)) {
            writer.push(Transposition { class, key: key.clone(), game, ply })?;
            rows += 1;
        }
    }
    writer.finish()?;
    Ok(rows)
}

/// Returns the key that the members of a class share, as text.
fn key(dataset: &Dataset, config: &Config, members: &[Sequence]) -> Result<String, Failure> {
    let lost = || Failure::internal("a class lacks its first game");
    let first = members.first().ok_or_else(lost)?;
    let tokens = dataset.tokens(first.game as usize)?.ok_or_else(lost)?;
    let position = replay(&tokens[1..], first.ply, |_, _| {}).map_err(Failure::internal)?;
    Ok(text(&position, config.is_placement()))
}
