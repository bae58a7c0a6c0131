//! The stage as a whole, on games made here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use cwm_chess::{DatasetRow, DatasetWriter};
use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Failure, FailureKind, Value};
use cwm_encoding::{EnPassant, LABELS, LOGITS, START, VOCABULARY, classes, first_logit, replay_into};
use cwm_models::checkpoint::{self, Description, FORMAT, Status};
use cwm_models::heads::labels;
use cwm_models::{Architecture, DeviceWeights, ForwardPass, Network, Tokens, device};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::Evaluate;

mod boards;
mod kept;
mod models;
mod predictions;

/// Knights out and back: `plies` plies of a legal game.
fn shuffle_knights(plies: usize) -> Vec<u16> {
    let cycle: [(u16, u16); 4] = [(1, 18), (57, 42), (18, 1), (42, 57)];
    let moves = (0..plies).map(|ply| cycle[ply % 4]).map(|(from, to)| (from * 64 + to) * 5);
    std::iter::once(START).chain(moves).collect()
}

fn games() -> Vec<Vec<u16>> {
    (0..9).map(|game| shuffle_knights(30 - 3 * (game % 5))).collect()
}

fn dataset(folder: &Path, games: &[Vec<u16>]) -> PathBuf {
    let path = folder.join("dataset");
    let mut writer = DatasetWriter::create(&path, 1_000_000).unwrap();
    for (index, tokens) in games.iter().enumerate() {
        let id = format!("game{index}");
        writer.push(DatasetRow { index: index as u64, id: &id, tokens, result: "*", labels: None }).unwrap();
    }
    writer.finish().unwrap();
    path
}

fn network() -> Network {
    network_of("transformer")
}

fn network_of(family: &str) -> Network {
    labels::network(Architecture {
        family: family.into(),
        size: "d16/l1".parse().unwrap(),
        vocabulary: VOCABULARY,
        dropout: 0.1,
        options: BTreeMap::new(),
    })
    .unwrap()
}

/// Sets a value of the training in the description of the checkpoint of [`model`].
fn set_training_value(folder: &Path, key: &str, value: serde_json::Value) {
    let path = folder.join("checkpoint").join(checkpoint::DESCRIPTION_FILE);
    let mut description: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    description["training"][key] = value;
    std::fs::write(&path, description.to_string()).unwrap();
}

/// A checkpoint with fresh weights, changed by `change`.
fn model(folder: &Path, change: impl Fn(&mut cwm_models::parameters::Weights)) -> PathBuf {
    model_of("transformer", folder, change)
}

fn model_of(family: &str, folder: &Path, change: impl Fn(&mut cwm_models::parameters::Weights)) -> PathBuf {
    let (path, network) = (folder.join("checkpoint"), network_of(family));
    let description = Description {
        format: FORMAT,
        architecture: network.architecture().clone(),
        parameters: network.layout().total() as u64,
        status: Status::Finished,
        training: serde_json::Map::from_iter([
            ("seed".to_owned(), 7.into()),
            ("steps".to_owned(), 12.into()),
            ("precision".to_owned(), "bf16".into()),
        ]),
    };
    let mut weights = network.initial_weights(7);
    change(&mut weights);
    checkpoint::write(&path, &description, &weights).unwrap();
    path
}

fn evaluate(folder: &Path, cores: usize, more: &[(&str, Value)]) -> Result<Outcome, Failure> {
    let trial = Trial::new(folder.join("work"))
        .input("checkpoint", folder.join("checkpoint"))
        .input("games", folder.join("dataset"))
        .cores(cores);
    more.iter().fold(trial, |trial, (name, value)| trial.with(name, value.clone())).run(&Evaluate)
}

fn read(path: &Path) -> (RecordBatch, BTreeMap<String, serde_json::Value>) {
    let builder = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(path).unwrap()).unwrap();
    let metadata = builder.metadata().file_metadata().key_value_metadata().unwrap();
    let metadata = metadata
        .iter()
        .filter(|pair| pair.key.starts_with("cwm."))
        .map(|pair| (pair.key.clone(), serde_json::from_str(pair.value.as_deref().unwrap()).unwrap()))
        .collect();
    let batches: Vec<RecordBatch> = builder.with_batch_size(1 << 20).build().unwrap().map(Result::unwrap).collect();
    assert_eq!(batches.len(), 1);
    (batches[0].clone(), metadata)
}

/// The games that a training was validated on may be the first of the test set, or others, or more than that has.
#[test]
fn the_test_set_has_the_name_that_the_stage_gives_it() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), &games());
    model(folder.path(), |_| {});
    let name = |more: &[(&str, Value)]| {
        let outcome = evaluate(folder.path(), 1, more).unwrap();
        let boards = boards::check(&outcome, 2);
        (read(&outcome.outputs["scores"]).1["cwm.model"]["test"].clone(), boards[0]["model"]["test"].clone())
    };
    assert_eq!(name(&[("test", Value::Text("shift".into()))]), ("shift".into(), "shift".into()));
    assert_eq!(name(&[]), (serde_json::Value::Null, serde_json::Value::Null));
}

#[test]
fn games_that_were_validated_on_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let set = cwm_chess::Dataset::open(&dataset(folder.path(), &games())).unwrap();
    let told = |validated_on: Option<&str>, games: u64| {
        model(folder.path(), |_| {});
        set_training_value(folder.path(), "validation", serde_json::json!({ "games": games }));
        if let Some(digest) = validated_on {
            set_training_value(folder.path(), "validated_on", digest.into());
        }
        let outcome = evaluate(folder.path(), 1, &[("board_games", Value::Int(0))]).unwrap();
        read(&outcome.outputs["scores"]).1["cwm.model"].get("validated_on_test").cloned()
    };
    let (first, all) = (set.digest(4).unwrap(), set.digest(9).unwrap());
    assert_eq!(told(Some(&first), 4), Some(true.into()));
    assert_eq!(told(Some(&all), 9), Some(true.into()));
    assert_eq!((told(Some(&first), 5), told(Some(&all), 10)), (Some(false.into()), Some(false.into())));
    assert_eq!(told(None, 4), None);
}

#[test]
fn every_row_says_what_the_logits_say() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), &games());
    model(folder.path(), |_| {});
    let outcome = evaluate(folder.path(), 2, &[]).unwrap();
    let (rows, metadata) = read(&outcome.outputs["scores"]);
    assert_eq!(metadata["cwm.model"]["family"], "transformer");
    assert_eq!(metadata["cwm.model"]["size"], "d16/l1");
    assert_eq!(metadata["cwm.model"]["seed"], 7);
    assert_eq!(metadata["cwm.dataset"]["games"], 9);
    assert_eq!(metadata["cwm.dataset"]["positions"], rows.num_rows());

    let network = network();
    let weights = network.initial_weights(7);
    let device_weights = DeviceWeights::new(&weights, &device::cpu());
    let names = ["pieces", "side", "castling", "ep_file", "ep_rank", "halfmove", "fullmove"];
    let column = |name: &str| rows.column_by_name(name).unwrap_or_else(|| panic!("no column {name}"));
    let mut row = 0;
    let mut total = 0.0;
    for (game, tokens) in games().iter().enumerate() {
        // One game by itself, without padding.
        let alone = Tokens::padded([tokens.as_slice()], 0);
        let logits = network.flat_logits(&ForwardPass::evaluation(&device_weights), &alone).into_data();
        let logits = logits.as_slice::<f32>().unwrap();
        let mut labels = vec![0; tokens.len() * LABELS];
        replay_into(tokens, EnPassant::Always, &mut labels).unwrap();
        for t in 0..tokens.len() {
            let (logits, labels) = (&logits[t * LOGITS..][..LOGITS], &labels[t * LABELS..][..LABELS]);
            let mut right = 0u128;
            let mut loss = 0.0;
            for (label, &wanted) in labels.iter().enumerate() {
                let of = &logits[first_logit(label)..][..classes(label)];
                let best = (0..of.len()).rev().max_by(|&a, &b| of[a].total_cmp(&of[b])).unwrap();
                right |= u128::from(best == usize::from(wanted)) << label;
                loss += of.iter().map(|&x| f64::from(x).exp()).sum::<f64>().ln() - f64::from(of[usize::from(wanted)]);
            }
            assert_eq!(column("game").as_primitive::<UInt32Type>().value(row), game as u32);
            assert_eq!(column("t").as_primitive::<UInt32Type>().value(row), t as u32);
            let found = u128::from(column("right_squares").as_primitive::<UInt64Type>().value(row))
                | u128::from(column("right_state").as_primitive::<UInt16Type>().value(row)) << 64;
            assert_eq!(found, right, "game {game} step {t}");
            let hits = |name: &str| column(&format!("hits_{name}")).as_primitive::<UInt8Type>().value(row);
            assert_eq!(u32::from(hits("pieces")), (right as u64).count_ones());
            let correct = column("correct").as_primitive::<UInt8Type>().value(row);
            assert_eq!(u32::from(correct), right.count_ones());
            assert_eq!(names.iter().map(|name| hits(name)).sum::<u8>(), correct);
            assert_eq!(column("exact").as_boolean().value(row), correct == 75);
            let found = column("loss").as_primitive::<Float64Type>().value(row);
            assert!((found - loss / 75.0).abs() < 1e-5, "game {game} step {t}: {found}");
            total += found;
            row += 1;
        }
    }
    assert_eq!(row, rows.num_rows());
    assert!((outcome.metrics["loss"] - total / row as f64).abs() < 1e-9);
}

#[test]
fn scores_are_equal_to_the_bit_whatever_the_cores() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), &games());
    model(folder.path(), |_| {});
    let bytes = |cores| {
        let outcome = evaluate(folder.path(), cores, &[("batch_tokens", Value::Int(64))]).unwrap();
        std::fs::read(&outcome.outputs["scores"]).unwrap()
    };
    let one = bytes(1);
    assert!(one == bytes(1) && one == bytes(2) && one == bytes(3));
}

#[test]
fn the_size_of_batches_changes_no_more_than_rounding() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), &games());
    model(folder.path(), |_| {});
    let losses = |tokens: i128| -> Vec<f64> {
        let outcome = evaluate(folder.path(), 2, &[("batch_tokens", Value::Int(tokens))]).unwrap();
        let (rows, _) = read(&outcome.outputs["scores"]);
        rows.column_by_name("loss").unwrap().as_primitive::<Float64Type>().values().to_vec()
    };
    let (alone, together) = (losses(1), losses(100_000));
    assert_eq!(alone.len(), together.len());
    assert!(alone.iter().zip(&together).all(|(a, b)| (a - b).abs() < 1e-5));
}

#[test]
fn weights_that_are_not_finite_are_counted_not_hidden() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), &[shuffle_knights(4)]);
    model(folder.path(), |weights| {
        let bias = weights.layout().find("output_head.bias").unwrap();
        weights.get_mut(bias)[1877] = f32::NAN;
    });
    let outcome = evaluate(folder.path(), 1, &[]).unwrap();
    let (rows, _) = read(&outcome.outputs["scores"]);
    let losses = rows.column_by_name("loss").unwrap().as_primitive::<Float64Type>().values().to_vec();
    assert!(losses.len() == 5 && losses.iter().all(|loss| loss.is_nan()));
    let state = rows.column_by_name("right_state").unwrap().as_primitive::<UInt16Type>().values().to_vec();
    assert!(state.iter().all(|bits| bits >> 10 == 0), "the label without finite logits counts as right");
}

#[test]
fn labels_that_a_game_carries_are_what_it_is_scored_against() {
    let folder = tempfile::tempdir().unwrap();
    model(folder.path(), |_| {});
    let scores = |more: &[(&str, Value)], carried: &dyn Fn(&[u16]) -> Option<Vec<u8>>| {
        let path = folder.path().join("dataset");
        let _ = std::fs::remove_dir_all(&path);
        let mut writer = DatasetWriter::create(&path, 1_000_000).unwrap().labelled(true);
        for (index, tokens) in (0..).zip(games()) {
            let labels = carried(&tokens);
            writer
                .push(DatasetRow { index, id: "x", tokens: &tokens, result: "*", labels: labels.as_deref() })
                .unwrap();
        }
        writer.finish().unwrap();
        evaluate(folder.path(), 2, more).map(|outcome| std::fs::read(&outcome.outputs["scores"]).unwrap())
    };
    let replayed = |tokens: &[u16]| {
        let mut labels = vec![0; tokens.len() * LABELS];
        replay_into(tokens, EnPassant::Always, &mut labels).unwrap();
        Some(labels)
    };
    let plain = scores(&[], &|_| None).unwrap();
    assert!(plain == scores(&[], &replayed).unwrap());
    assert!(plain != scores(&[], &|tokens| Some(vec![1; tokens.len() * LABELS])).unwrap());
    let legal = [("en_passant", Value::Text("legal".into()))];
    scores(&legal, &|_| None).unwrap();
    let message = scores(&legal, &replayed).unwrap_err().message;
    assert!(message.starts_with("input `games`, game ") && message.contains("(x) carries its labels"), "{message}");
}

#[test]
fn what_does_not_fit_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), &games());
    model(folder.path(), |_| {});
    let failure = |more: &[(&str, Value)]| evaluate(folder.path(), 1, more).map(|_| ()).unwrap_err();
    assert!(
        failure(&[("family", Value::Text("lstm".into()))])
            .message
            .starts_with("parameter `family` is unknown: there is no family `lstm`; known are transformer")
    );
    let description = folder.path().join("checkpoint/model.json");
    let text = std::fs::read_to_string(&description).unwrap();
    std::fs::write(&description, text.replace("transformer", "lstm")).unwrap();
    let unknown = failure(&[]);
    assert_eq!(unknown.kind, FailureKind::Input);
    assert!(unknown.message.contains("model.json: there is no family `lstm`; known are transformer"));
    std::fs::write(&description, text).unwrap();

    let mut bad = shuffle_knights(6);
    bad[2] = START;
    std::fs::remove_dir_all(folder.path().join("dataset")).unwrap();
    dataset(folder.path(), &[shuffle_knights(3), bad]);
    assert_eq!(failure(&[]).message, "input `games`, game 1 (game1): token 20480 at ply 2 is not a move");
}
