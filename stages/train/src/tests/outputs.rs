//! The outputs, which are the same on any number of cores.

use cwm_contract::{Stage, Value};
use cwm_encoding::{EnPassant, LABELS, LOGITS, replay_into};
use cwm_models::checkpoint;

use super::{carrying, curves, data, dataset, shuffle_knights, text, trial, written};
use crate::Train;

#[test]
fn the_outputs_are_what_the_formats_say() {
    let (data, work) = (data(), tempfile::tempdir().unwrap());
    let outcome = trial(work.path(), data.path(), &[]).run(&Train).unwrap();
    let (description, network, weights) = checkpoint::read(&outcome.outputs["checkpoint"], LOGITS).unwrap();
    assert_eq!(description.status, checkpoint::Status::Finished);
    assert_eq!(network.architecture().size.to_string(), "d16/l1");
    assert_eq!(description.training["steps"], 9);
    assert_ne!(weights.values(), network.initial_weights(5).values());
    // On which games it was validated: all three, in their order.
    let validation = cwm_chess::Dataset::open(&data.path().join("validation")).unwrap();
    assert_eq!(description.training["validated_on"], validation.digest(3).unwrap());
    assert_ne!(description.training["validated_on"], validation.digest(2).unwrap());
    let described = std::fs::read(outcome.outputs["checkpoint"].join(checkpoint::DESCRIPTION_FILE)).unwrap();
    assert_eq!(std::fs::read(&outcome.outputs["summary"]).unwrap(), described);
    let lines = curves(work.path());
    let steps = |kind: &str| -> Vec<u64> {
        lines.iter().filter(|line| line["kind"] == kind).map(|line| line["step"].as_u64().unwrap()).collect()
    };
    assert_eq!(steps("train"), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    // every second step and the end of each epoch of three
    assert_eq!(steps("validation"), [2, 3, 4, 6, 8, 9]);
    let losses: Vec<f64> = lines.iter().filter_map(|line| line["loss"].as_f64()).collect();
    assert_eq!(losses.len(), lines.len());
    assert!(losses.last().unwrap() < losses.first().unwrap(), "nothing was learnt: {losses:?}");
    assert_eq!(outcome.metrics["validation_loss"], *losses.last().unwrap());
}

#[test]
fn runs_are_equal_to_the_bit_whatever_the_cores() {
    let data = data();
    let run = |cores: usize, seed_dropout: i128| {
        let work = tempfile::tempdir().unwrap();
        let trial = trial(work.path(), data.path(), &[("seed_dropout", Value::Int(seed_dropout))]);
        trial.cores(cores).run(&Train).unwrap();
        written(work.path())
    };
    let one = run(1, 5);
    assert!(one == run(1, 5), "a second run differs");
    assert!(one == run(2, 5), "two cores differ from one");
    assert!(one == run(3, 5), "three cores differ from one");
    assert!(one[0] != run(1, 6)[0], "the seed of dropout changes nothing");
}

#[test]
fn a_precision_rounds_training_and_validation_and_little_changes() {
    let data = data();
    let losses = |precision: &str| -> Vec<f64> {
        let work = tempfile::tempdir().unwrap();
        let trial = trial(work.path(), data.path(), &[("precision", text(precision))]);
        trial.run(&Train).unwrap();
        curves(work.path()).iter().map(|line| line["loss"].as_f64().unwrap()).collect()
    };
    let strict = losses("fp32");
    for (precision, allowed) in [("tf32", 2e-3), ("bf16", 2e-2)] {
        let found = losses(precision);
        assert_eq!(found.len(), strict.len());
        for (found, strict) in found.iter().zip(&strict) {
            assert!(found != strict && (found / strict - 1.0).abs() < allowed, "{precision}: {found} {strict}");
        }
    }
}

#[test]
fn labels_that_games_carry_are_used_as_if_they_had_been_replayed() {
    let replayed = |tokens: &[u16]| {
        let mut labels = vec![0; tokens.len() * LABELS];
        replay_into(tokens, EnPassant::Always, &mut labels).unwrap();
        labels
    };
    // Of games that no replay knows: white passes at every move.
    let passing = |tokens: &[u16]| vec![1; tokens.len() * LABELS];
    let run = |change: fn(&mut Vec<u16>), labels: &dyn Fn(&[u16]) -> Option<Vec<u8>>| {
        let (data, work) = (data(), tempfile::tempdir().unwrap());
        std::fs::remove_dir_all(data.path().join("train")).unwrap();
        let mut games: Vec<_> = (0..11).map(|game| shuffle_knights(3 + game * 2, game % 2)).collect();
        games.iter_mut().for_each(change);
        carrying(&data.path().join("train"), games, labels);
        trial(work.path(), data.path(), &[]).run(&Train).map(|_| written(work.path()))
    };
    let plain = run(|_| {}, &|_| None).unwrap();
    assert!(plain == run(|_| {}, &|tokens| (tokens.len() % 4 == 0).then(|| replayed(tokens))).unwrap());
    assert!(plain != run(|_| {}, &|tokens| Some(passing(tokens))).unwrap());
    let pass = |tokens: &mut Vec<u16>| tokens[1] = 0;
    run(pass, &|tokens| Some(passing(tokens))).unwrap();
    let failure = run(pass, &|_| None).unwrap_err();
    assert!(failure.message.ends_with(": token 0 (a1a1) at ply 1 is not a legal move"), "{failure}");
}

#[test]
fn a_run_without_finite_losses_ends_as_diverged() {
    let (data, work) = (data(), tempfile::tempdir().unwrap());
    let trial = trial(
        work.path(),
        data.path(),
        &[("lr", Value::Float(1e38)), ("warmup", Value::Int(0)), ("epochs", Value::Int(40))],
    );
    let outcome = trial.run(&Train).unwrap();
    let (description, _, weights) = checkpoint::read(&outcome.outputs["checkpoint"], LOGITS).unwrap();
    assert_eq!(description.status, checkpoint::Status::Diverged);
    assert!(weights.is_finite());
    assert!(description.training["skipped"].as_u64().unwrap() >= 20);
}

#[test]
fn the_first_games_are_trained_on_and_the_first_validated_on() {
    let (data, few) = (data(), tempfile::tempdir().unwrap());
    dataset(&few.path().join("train"), (0..5).map(|game| shuffle_knights(3 + game * 2, game % 2)));
    dataset(&few.path().join("validation"), (0..2).map(|game| shuffle_knights(4 + game, game % 2)));
    let run = |data: &std::path::Path, more: &[(&str, Value)]| {
        let work = tempfile::tempdir().unwrap();
        trial(work.path(), data, more).run(&Train).unwrap();
        assert!(curves(work.path()).iter().filter(|line| line["kind"] == "validation").all(|line| line["games"] == 2));
        written(work.path())
    };
    let limited = run(data.path(), &[("games", Value::Int(5)), ("validation_games", Value::Int(2))]);
    assert!(limited == run(few.path(), &[]));
}

#[test]
fn what_changes_no_result_is_no_part_of_the_key() {
    let idle = |more: &[(&str, Value)]| {
        let mut values: cwm_contract::Values =
            Train.parameters().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?))).collect();
        values.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        Train.unused_parameters(&values)
    };
    assert_eq!(idle(&[]), ["checkpoint_every", "bucket_batches", "checkpoint", "shard_games", "workers"]);
    let used = [("order", text("authors")), ("batching", text("bucketed")), ("checkpoint", text("best"))];
    assert_eq!(idle(&used), ["checkpoint_every"]);
    let data = data();
    let run = |more: &[(&str, Value)]| {
        let work = tempfile::tempdir().unwrap();
        trial(work.path(), data.path(), more).run(&Train).unwrap();
        written(work.path())
    };
    let others = [("checkpoint_every", 1), ("shard_games", 3), ("workers", 2), ("bucket_batches", 2)];
    assert!(run(&[]) == run(&others.map(|(name, value)| (name, Value::Int(value)))));
}

#[test]
fn where_the_time_went_is_reported_and_in_no_output() {
    let (data, work) = (data(), tempfile::tempdir().unwrap());
    let outcome = trial(work.path(), data.path(), &[]).run(&Train).unwrap();
    for name in ["training_seconds", "positions_per_second", "steps_per_second"] {
        assert!(outcome.metrics[name] > 0.0, "{name}");
    }
    assert!((0.0..1.0).contains(&outcome.metrics["waiting_share"]));
    let logged = |event: &cwm_contract::Event| matches!(event, cwm_contract::Event::Log(line) if line.starts_with("9 steps in ") && line.contains("waiting for data"));
    assert!(outcome.events.iter().any(logged));
}
