//! Orders of games and what goes into batches, as the whole stage has them.

use cwm_contract::Value;

use super::{curves, data, text, trial, written};
use crate::Train;

#[test]
fn each_order_trains_on_all_games_and_they_differ() {
    let data = data();
    let mut seen: Vec<Vec<Vec<u8>>> = Vec::new();
    let authors = |shard_games, workers| {
        vec![("order", text("authors")), ("shard_games", Value::Int(shard_games)), ("workers", Value::Int(workers))]
    };
    let bucketed = vec![("batching", text("bucketed")), ("bucket_batches", Value::Int(2))];
    for (more, steps) in [
        (vec![("order", text("file"))], 9),
        (vec![("order", text("shuffled"))], 9),
        (authors(3, 0), 9),
        // Three epochs of shards of 3, 3, 3 and 2 games for two processes: 6 and 5 games, two batches each.
        (authors(3, 2), 12),
        (bucketed, 9),
    ] {
        let work = tempfile::tempdir().unwrap();
        trial(work.path(), data.path(), &more).run(&Train).unwrap();
        let lines = curves(work.path());
        let made = lines.iter().filter(|line| line["kind"] == "train").count();
        assert_eq!(made, steps, "{more:?}");
        assert!(lines.last().unwrap()["loss"].as_f64() < lines.first().unwrap()["loss"].as_f64(), "{more:?}");
        let outputs = written(work.path());
        assert!(!seen.contains(&outputs), "{more:?} is like another");
        seen.push(outputs);
    }
}

#[test]
fn validation_ends_each_epoch_of_whatever_length() {
    let (data, work) = (data(), tempfile::tempdir().unwrap());
    // Games 0 to 10 in shards of 8 and 3, to two processes: 2 and 1 batches.
    let more = [
        ("order", text("authors")),
        ("shard_games", Value::Int(8)),
        ("workers", Value::Int(2)),
        ("validation_every", Value::Int(100)),
        ("epochs", Value::Int(2)),
    ];
    trial(work.path(), data.path(), &more).run(&Train).unwrap();
    let lines = curves(work.path());
    let validated = lines.iter().filter(|line| line["kind"] == "validation").map(|line| line["step"].as_u64().unwrap());
    assert_eq!(validated.collect::<Vec<_>>(), [3, 6]);
}
