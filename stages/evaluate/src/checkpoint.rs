//! Games through a model, a chunk at a time.

use std::collections::BTreeMap;

use cwm_chess::{Dataset, ShardError};
use cwm_contract::{Context, Failure};
use cwm_encoding::VOCABULARY;
use cwm_models::batch::cut_by_length;
use cwm_models::checkpoint::{DESCRIPTION_FILE, Description};
use cwm_models::device;
use cwm_models::heads::labels::{self, LabelTotals, MicroBatch, PositionScore, score};
use cwm_models::worker_pool::WorkerPool;
use cwm_models::{Device, DeviceWeights, Network, families};
use serde_json::json;

use crate::boards::{BoardsWriter, WrongLabels, find_wrong_labels};
use crate::config::Config;
use crate::kept_predictions::PredictionsWriter;
use crate::scores::{Score, ScoresWriter};

/// Games that are sorted by length together, and whose scores are in memory at once.
const CHUNK: usize = 1_024;

/// Evaluates the checkpoint on the games.
///
/// # Errors
/// An input is not what it should be, an operation on the disk fails, or the stage was cancelled.
pub fn run(context: &Context, config: &Config) -> Result<(), Failure> {
    if let Some(parameter) = config.predictions_only_parameter() {
        return Err(Failure::input(format!("`{parameter}` belongs to predictions; a checkpoint has its own")));
    }
    device::run(context, |device| evaluate(context, config, device))
}

fn evaluate(context: &Context, config: &Config, device: &Device) -> Result<(), Failure> {
    let folder = context.input("checkpoint")?;
    let (mut description, network, weights) = labels::read(folder).map_err(|error| {
        let has_words = Description::read(&folder.join(DESCRIPTION_FILE)).is_ok_and(|it| it.form() == Some("words"));
        let failure = Failure::from(error);
        if has_words { failure.hint("the stage `legality` measures models of words of moves") } else { failure }
    })?;
    check_family(config, &network)?;
    check_vocabulary(&network)?;
    let network = with_options(network, &config.options)?;
    description.architecture = network.architecture().clone();
    let dataset = games(context)?;
    let workers = device::workers(context, device)?;
    device::check_precision(device, config.precision())?;
    let device_weights = DeviceWeights::new(&weights, device).with_precision(config.precision());
    let evaluation = Evaluation {
        context,
        config,
        dataset: &dataset,
        network: &network,
        device_weights: &device_weights,
        workers: &workers,
    };

    let games = json!({ "games": dataset.len(), "positions": dataset.positions() });
    let mut model = model(&description, config);
    if let Some(validated) = is_validated_on(&description, &dataset)? {
        model["validated_on_test"] = json!(validated);
    }
    let mut scores = ScoresWriter::create(context.output("scores")?, model.to_string(), games.to_string())?;
    let mut boards = BoardsWriter::create(context.output("boards")?, &dataset, config.en_passant(), &model)?;
    let path = context.output("predictions")?;
    let mut predictions = PredictionsWriter::create(path, &dataset, config.en_passant(), model.to_string())?;
    let mut tally = LabelTotals::default();
    let mut first = 0;
    while first < dataset.len() {
        context.check_cancelled()?;
        let chunk = first..dataset.len().min(first + CHUNK);
        let games =
            chunk.filter_map(|game| dataset.tokens(game).transpose()).collect::<Result<Vec<_>, ShardError>>()?;
        let (chunk, wrong_by_game) = evaluation.scores(first, &games)?;
        for (game, wrong) in wrong_by_game {
            let loss: Vec<f64> = chunk[game].iter().filter_map(|score| Score::of(score).loss).collect();
            if config.keep_predictions {
                predictions.push(first + game, &wrong, &loss)?;
            }
            if becomes_board(config, first + game) {
                boards.push(first + game, &wrong, Some(loss))?;
            }
        }
        chunk.iter().for_each(|game| tally.add_game(game));
        let rows: Vec<Vec<Score>> = chunk.iter().map(|game| game.iter().map(Score::of).collect()).collect();
        scores.push(first, &rows)?;
        first += games.len();
        context.progress(first as u64, Some(dataset.len() as u64), "games");
    }
    scores.finish()?;
    boards.finish()?;
    predictions.finish()?;
    context.metric("loss", tally.loss());
    context.metric("labelwise", tally.labelwise());
    context.metric("exact", tally.exact());
    context.metric("trajectory", tally.trajectory());
    Ok(())
}

/// The games to score on.
///
/// # Errors
/// They cannot be read, or are more than the table can count.
pub fn games(context: &Context) -> Result<Dataset, Failure> {
    let dataset = Dataset::open(context.input("games")?)?;
    match u32::try_from(dataset.len()) {
        Ok(_) => Ok(dataset),
        Err(_) => {
            Err(Failure::input(format!("{} games are too many: the table counts them in 32 bits", dataset.len())))
        }
    }
}

/// Returns the model, computed with `options`.
fn with_options(network: Network, options: &BTreeMap<String, String>) -> Result<Network, Failure> {
    if options.is_empty() {
        return Ok(network);
    }
    let known = families::find(&network.architecture().family)?.options;
    let architecture = network.architecture().with_options(options, known);
    let architecture =
        architecture.map_err(|error| Failure::input(format!("`options` do not fit the checkpoint: {error}")))?;
    Ok(labels::network(architecture)?)
}

/// Checks that the checkpoint is of the family of the parameter: with another one, the result would depend on code that
/// its key leaves out.
fn check_family(config: &Config, network: &Network) -> Result<(), Failure> {
    let found = &network.architecture().family;
    match &config.family {
        Some(wanted) if wanted != found => {
            Err(Failure::input(format!("the checkpoint is of family `{found}`, but `family` is `{wanted}`"))
                .hint("leave `family` out, or give it the value that the model was trained with"))
        }
        _ => Ok(()),
    }
}

/// Checks that the model has our tokens: a model of others has no rows for them.
fn check_vocabulary(network: &Network) -> Result<(), Failure> {
    match network.architecture().vocabulary {
        VOCABULARY => Ok(()),
        other => {
            Err(Failure::input(format!("the checkpoint is of a model of {other} tokens; games have {VOCABULARY}")))
        }
    }
}

/// Returns true if the game with this place in the dataset is written as a board.
fn becomes_board(config: &Config, game: usize) -> bool {
    (game as u64) < config.board_games
}

/// The wrong labels in each position of some games, by their places.
type WrongByGame = BTreeMap<usize, Vec<WrongLabels>>;

struct Evaluation<'a> {
    context: &'a Context,
    config: &'a Config,
    dataset: &'a Dataset,
    network: &'a Network,
    device_weights: &'a DeviceWeights<'a>,
    workers: &'a WorkerPool,
}

impl Evaluation<'_> {
    /// Scores of these games, the first of which has the ordinal `first`, in their order; and the wrong labels in each
    /// position of those that become boards, or of all if predictions are kept, by their places.
    fn scores(&self, first: usize, games: &[&[u16]]) -> Result<(Vec<Vec<PositionScore>>, WrongByGame), Failure> {
        let is_wanted = |game: usize| self.config.keep_predictions || becomes_board(self.config, first + game);
        let lengths: Vec<usize> = games.iter().map(|game| game.len()).collect();
        let cuts = cut_by_length(&lengths, self.config.batch_tokens as usize);
        let scored: Vec<Result<_, Failure>> = self.workers.map(cuts.len(), |index| {
            self.context.check_cancelled()?;
            let cut = &cuts[index];
            self.network.check_length(cut.iter().map(|&place| games[place].len()).max().unwrap_or(0))?;
            let batch = MicroBatch::labelled(games, cut, |game, rows| {
                self.dataset.labels_into(first + game, self.config.en_passant(), rows)
            });
            let batch = batch.map_err(|error| error.failure("games"))?;
            let scores = score(self.network, self.device_weights, &batch);
            let wanted: Vec<usize> = (0..cut.len()).filter(|&place| is_wanted(cut[place])).collect();
            if wanted.is_empty() {
                return Ok((scores, WrongByGame::new()));
            }
            let wrong = find_wrong_labels(self.network, self.device_weights, &batch, &scores, &wanted);
            let wrong_by_game: WrongByGame = wanted.into_iter().map(|place| cut[place]).zip(wrong).collect();
            Ok((scores, wrong_by_game))
        });
        let (mut by_game, mut wrong_by_game) = (vec![Vec::new(); games.len()], WrongByGame::new());
        for (cut, scored) in cuts.iter().zip(scored) {
            let (scores, wrong) = scored?;
            for (&game, scores) in cut.iter().zip(scores) {
                by_game[game] = scores;
            }
            wrong_by_game.extend(wrong);
        }
        Ok((by_game, wrong_by_game))
    }
}

/// Returns true if the model was validated on these games: on the first so many of them, one by one. `None` where the
/// description does not have their digest.
fn is_validated_on(description: &Description, dataset: &Dataset) -> Result<Option<bool>, Failure> {
    let measured = description.training.get("validation").and_then(|validation| validation.get("games")?.as_u64());
    let digest = description.training.get("validated_on").and_then(serde_json::Value::as_str);
    let Some((games, digest)) = measured.zip(digest) else { return Ok(None) };
    let games = usize::try_from(games).unwrap_or(usize::MAX);
    Ok(Some(games <= dataset.len() && dataset.digest(games)? == digest))
}

/// The model in the header of the table: its architecture, its training and its precision here, in one flat
/// object.
fn model(description: &Description, config: &Config) -> serde_json::Value {
    let mut model = description.training.clone();
    model.insert("family".to_owned(), json!(description.architecture.family));
    model.insert("size".to_owned(), json!(description.architecture.size.to_string()));
    model.insert("options".to_owned(), json!(description.architecture.options));
    model.insert("dropout".to_owned(), json!(description.architecture.dropout));
    model.insert("parameters".to_owned(), json!(description.parameters));
    model.insert("status".to_owned(), json!(description.status));
    // Beside `precision`, which is that of the training.
    model.insert("evaluation_precision".to_owned(), json!(config.precision));
    model.extend(config.test.as_ref().map(|test| ("test".to_owned(), json!(test))));
    serde_json::Value::Object(model)
}

#[cfg(test)]
mod tests {
    use cwm_contract::Parameters;

    use super::*;

    #[test]
    fn another_family_than_named_or_other_tokens_are_refused() {
        let defaults = Config::specs().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?)));
        let mut config = Config::read(&defaults.collect()).unwrap();
        let network = labels::network(cwm_models::Architecture {
            family: "transformer".into(),
            size: "d16/l1".parse().unwrap(),
            vocabulary: 10,
            dropout: 0.0,
            options: Default::default(),
        })
        .unwrap();
        check_family(&config, &network).unwrap();
        config.family = Some("slice".to_owned());
        let message = check_family(&config, &network).unwrap_err().message;
        assert_eq!(message, "the checkpoint is of family `transformer`, but `family` is `slice`");
        let message = check_vocabulary(&network).unwrap_err().message;
        assert_eq!(message, "the checkpoint is of a model of 10 tokens; games have 20482");
    }
}
