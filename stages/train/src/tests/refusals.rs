//! Faulty parameters and inputs, and their messages.

use cwm_contract::{
    Cancellation, Context, Event, Failure, FailureKind, GroupInput, Invocation, Label, Parameters, Reporter, Value,
};

use super::{data, dataset, shuffle_knights, text, trial};
use crate::Train;
use crate::config::Config;
use crate::data::Games;
use crate::resolved_config::ResolvedConfig;

#[test]
fn bad_parameters_are_refused_in_words() {
    let (data, work) = (data(), tempfile::tempdir().unwrap());
    let error = |name: &str, value: Value| {
        trial(work.path(), data.path(), &[(name, value)]).run(&Train).map(|_| ()).unwrap_err().message
    };
    assert!(
        error("family", text("lstm"))
            .starts_with("parameter `family` is unknown: there is no family `lstm`; known are transformer")
    );
    assert!(error("size", text("big")).starts_with("parameter `size` is wrong: `big` is not a size"));
    assert_eq!(
        error("size", text("d200/l1")),
        "parameter `size` makes no model: size d200/l1: a width of 200 does not divide among 3 heads"
    );
    assert_eq!(error("steps", Value::Int(3)), "parameter `steps` must not be given together with `epochs`");
    assert_eq!(error("lr", Value::Float(0.0)), "parameter `lr` must be a positive number");
    assert_eq!(error("dropout", Value::Float(1.0)), "parameter `dropout` must be from 0 to below 1");
    // Warm-up is 2 updates.
    for horizon in [0, 1, 2] {
        assert_eq!(
            error("horizon", Value::Int(horizon)),
            "parameter `horizon` must be more than `warmup`, after which the learning rate begins to fall"
        );
    }
    let constant = [("horizon", Value::Int(2)), ("schedule", text("constant"))];
    trial(work.path(), data.path(), &constant).run(&Train).unwrap();
    assert!(error("bucket_batches", Value::Int(20_000)).starts_with("parameter `bucket_batches` "));
}

#[test]
fn a_training_that_was_asked_to_stop_reads_no_dataset_to_its_end() {
    let data = data();
    let specs = Config::specs().into_iter();
    let values = specs.filter_map(|spec| Some((spec.name.to_owned(), spec.default?))).collect();
    let path = data.path().join("train");
    let input = GroupInput { label: Label::stage("train"), path: path.clone() };
    let invocation = Invocation { values, inputs: [("train".to_owned(), vec![input])].into(), ..Invocation::default() };
    let cancellation = Cancellation::default();
    cancellation.cancel();
    let context = Context::new(&Train, invocation, Box::new(Silent), cancellation);
    let resolved = ResolvedConfig::read(&context).unwrap();
    let mut games = Games::open("train", &path, None, &resolved.config).unwrap();
    let hashed = resolved.recipe(&context, 1).map(drop);
    let counted = games.shards(&context, 4).map(drop);
    for stopped in [hashed, counted] {
        let failure = stopped.unwrap_err();
        assert_eq!((failure.kind, failure.message), (FailureKind::Cancelled, Failure::cancelled().message));
    }
}

/// Reports nothing.
struct Silent;

impl Reporter for Silent {
    fn report(&self, _: Event) {}
}

#[test]
fn a_game_that_is_none_is_named() {
    let (data, work) = (data(), tempfile::tempdir().unwrap());
    let mut bad = shuffle_knights(6, 0);
    bad[3] = bad[1];
    std::fs::remove_dir_all(data.path().join("train")).unwrap();
    dataset(&data.path().join("train"), [shuffle_knights(5, 0), bad]);
    let failure = trial(work.path(), data.path(), &[]).run(&Train).map(|_| ()).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Input);
    assert!(failure.message.starts_with("input `train`, game 1 (game1): token "), "{}", failure.message);
    assert!(failure.message.ends_with(" at ply 3 is not a legal move"), "{}", failure.message);
}

#[test]
fn more_games_than_there_are_is_an_error() {
    let (data, work) = (data(), tempfile::tempdir().unwrap());
    let failure = trial(work.path(), data.path(), &[("games", Value::Int(12))]).run(&Train).map(|_| ()).unwrap_err();
    assert_eq!(failure.message, "input `train` holds 11 games, not the 12 of `games`");
}

#[test]
fn games_out_of_the_corpus_order_have_no_shards() {
    let (data, work) = (data(), tempfile::tempdir().unwrap());
    let folder = data.path().join("train");
    std::fs::remove_dir_all(&folder).unwrap();
    let mut writer = cwm_chess::DatasetWriter::create(&folder, 1_000).unwrap();
    for index in [0, 1, 5, 4] {
        let tokens = shuffle_knights(6, 0);
        writer.push(cwm_chess::DatasetRow { index, id: "x", tokens: &tokens, result: "*", labels: None }).unwrap();
    }
    writer.finish().unwrap();
    let failure = trial(work.path(), data.path(), &[("order", text("authors"))]).run(&Train).map(|_| ()).unwrap_err();
    assert_eq!(
        failure.message,
        "input `train`: example 3 does not follow the one before it in the corpus: `index` is 4"
    );
}
