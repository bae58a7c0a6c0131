//! Refusals and their messages.

use cwm_chess::{DatasetRow, DatasetWriter, SHARD_GAMES};
use cwm_contract::{Failure, Value};
use cwm_encoding::START;
use cwm_inside::ModelTask;

use super::{inputs, trial};
use crate::AutoencoderStage;

fn refused(more: &[(&str, Value)]) -> Failure {
    let (folder, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    inputs(folder.path(), ModelTask::Moves, "gpt");
    trial(work.path(), folder.path(), more).run(&AutoencoderStage).err().unwrap()
}

#[test]
fn layers_lengths_and_rates_that_cannot_be_are_refused() {
    let list = |layers: &[i128]| Value::List(layers.iter().map(|&layer| Value::Int(layer)).collect());
    for (name, value, message) in [
        ("layers", list(&[3]), "`layers` has layer 3, and gpt d16/l2 has layers 0 to 2"),
        ("layers", list(&[1, 1]), "parameter `layers` must be different layers"),
        ("max_tokens", Value::Int(600), "`max_tokens` is 600, and gpt d16/l2 reads 512 tokens at most"),
        ("lr", Value::Float(0.0), "parameter `lr` must be a number above 0"),
        ("sparsity", Value::Float(f64::NAN), "parameter `sparsity` must be a number of at least 0"),
        ("beta1", Value::Float(1.0), "parameter `beta1` must be a number from 0 up to, and not, 1"),
    ] {
        let failure = refused(&[(name, value)]);
        assert!(failure.message.contains(message), "{failure}");
    }
}

#[test]
fn a_training_that_diverges_names_layer_and_update() {
    let failure = refused(&[("lr", Value::Float(1e30)), ("scale", Value::Text("none".into()))]);
    assert!(failure.message.starts_with("the autoencoder of layer 1 diverged at update "), "{failure}");
}

#[test]
fn a_game_to_train_on_is_not_measured_on() {
    let (folder, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    inputs(folder.path(), ModelTask::Moves, "gpt");
    let test = folder.path().join("test");
    std::fs::remove_dir_all(&test).unwrap();
    std::os::unix::fs::symlink(folder.path().join("train"), &test).unwrap();
    let failure = trial(work.path(), folder.path(), &[]).run(&AutoencoderStage).err().unwrap();
    assert!(failure.message.ends_with("is among the games to train on, and is to be measured on"), "{failure}");
}

#[test]
fn games_without_a_move_are_refused_before_the_training() {
    let (folder, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    inputs(folder.path(), ModelTask::Moves, "gpt");
    let test = folder.path().join("test");
    std::fs::remove_dir_all(&test).unwrap();
    let mut writer = DatasetWriter::create(&test, SHARD_GAMES).unwrap();
    writer.push(DatasetRow { index: 0, id: "empty", tokens: &[START], result: "*", labels: None }).unwrap();
    writer.finish().unwrap();
    let failure = trial(work.path(), folder.path(), &[]).run(&AutoencoderStage).err().unwrap();
    assert_eq!(failure.message, "the first games of `test` have no move that the model reads");
}
