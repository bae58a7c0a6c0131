//! The run of `legality`.

use cwm_chess::Dataset;
use cwm_contract::{Context, Failure};
use cwm_inside::{Batch, Model, ModelTask, WeightsSource};
use cwm_inside_rows::{Legality, LegalityDescription, LegalityWriter};
use cwm_models::device;
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{Device, Sites};
use cwm_policy::inputs::words::VOCABULARY;

use crate::config::Config;
use crate::games::{Game, Games};
use crate::score::score;
use crate::totals::Totals;
use crate::whole_moves;

/// Games that are sorted by length together, and whose rows are in memory at once.
const CHUNK: usize = 1_024;

/// Reads `checkpoint` and `games`, and writes `legality` and `findings`.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    device::run(context, |device| measure(context, &config, device))
}

fn measure(context: &Context, config: &Config, device: &Device) -> Result<(), Failure> {
    let model = Model::open(context.input("checkpoint")?, WeightsSource::Trained, device)?
        .with_precision(config.precision())?;
    model.check_family(config.family.as_deref())?;
    if model.task() == ModelTask::State {
        let message =
            format!("{} answers with boards, and `legality` is about models that answer with moves", model.name());
        return Err(Failure::input(message).hint("`evaluate` scores models of boards"));
    }
    let workers = device::workers(context, device)?;
    let batch_tokens = config.batch_tokens as usize;
    let dataset = Dataset::open(context.input("games")?)?;
    let mut games = Games::new(&dataset, &model, config)?;
    games.dropped_note().into_iter().for_each(|note| context.note(note));
    let train = context.optional_input("train").map(Dataset::open).transpose()?;
    let seen = train.map(|train| games.seen_in(&train)).transpose()?;
    let of = LegalityDescription {
        model: model.name(),
        games: games.progress().1,
        dropped: games.dropped.clone(),
        seen,
        max_tokens: config.max_tokens,
        precision: config.precision.clone(),
    };
    let mut writer = LegalityWriter::create(context.output("legality")?, &of)?;
    let mut totals = Totals::default();
    context.activity("reading games");
    loop {
        context.check_cancelled()?;
        let chunk = games.take(CHUNK)?;
        if chunk.is_empty() {
            break;
        }
        let answered = usize::try_from(config.move_games.saturating_sub(totals.games())).unwrap_or(usize::MAX);
        for rows in scored(context, &model, &workers, batch_tokens, &games, &chunk)? {
            totals.add(&rows);
            rows.into_iter().try_for_each(|row| writer.push(row))?;
        }
        let answered = &chunk[..answered.min(chunk.len())];
        totals.add_moves(whole_moves::count(context, &model, &workers, batch_tokens, &games, answered)?);
        let (done, total) = games.progress();
        context.progress(done, Some(total), "games");
    }
    writer.finish()?;
    context.activity("resampling");
    let mut findings = totals.findings(&model.name(), config.resamples, config.seed, &workers);
    if let (Some(all), Some(seen)) = (findings.first_mut(), seen) {
        all.values.insert("seen_games".to_owned(), seen as f64);
    }
    cwm_findings::write(context.output("findings")?, findings)?;
    for name in ["legal", "loss"] {
        totals.mean(name).into_iter().for_each(|mean| context.metric(name, mean));
    }
    Ok(())
}

/// The rows of each game.
fn scored(
    context: &Context,
    model: &Model,
    workers: &WorkerPool,
    batch_tokens: usize,
    games: &Games<'_>,
    chunk: &[Game],
) -> Result<Vec<Vec<Legality>>, Failure> {
    model.by_batch(workers, batch_tokens, chunk, |batch: &Batch<'_>| {
        context.check_cancelled()?;
        let words = |place: usize| chunk[place].words.len();
        let of_game = |(game, &place)| (0..words(place)).map(move |token| batch.row(game, token));
        let rows: Vec<usize> = batch.places.iter().enumerate().flat_map(of_game).collect();
        let (_, logits) = batch.logits(Sites::default(), &rows);
        let mut rest = &logits[..];
        let score = |&place: &usize| {
            let (of_game, others) = rest.split_at(words(place) * VOCABULARY);
            rest = others;
            score(&chunk[place], of_game).map_err(|wrong| games.failure(chunk[place].number, &wrong))
        };
        batch.places.iter().map(score).collect()
    })
}
