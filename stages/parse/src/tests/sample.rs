//! The real games of the sample, against what the paper's own code makes of them.

use std::fs;
use std::path::Path;

use cwm_contract::Value;
use cwm_contract::testing::shared;
use tempfile::tempdir;

use super::{counts, games, golden, parse};

#[test]
fn every_game_is_kept_or_dropped_as_by_the_paper_s_code() {
    let (Some(golden), Some(sample)) = (golden::kept(), shared("data/lichess-sample.pgn.zst")) else { return };
    let expected: Vec<_> = golden.into_iter().filter(|game| game.file == "lichess-sample.pgn").collect();
    assert_eq!(expected.len(), 14_807);
    let folder = tempdir().unwrap();
    let outcome = parse(folder.path(), &sample, &[]).unwrap();
    let found = games(&outcome);
    let mut kept = expected.iter().filter(|game| game.kept);
    for (at, game) in found.iter().enumerate() {
        let golden = kept.next().unwrap();
        assert_eq!(game.index, at as u64);
        assert_eq!((&game.site, &game.id, &game.result), (&golden.site, &golden.id, &golden.result));
        assert_eq!(game.moves.len(), golden.plies, "{}", game.site);
        let bucket = cwm_chess::bucket(&game.id, 10_000);
        assert_eq!(Some(bucket), golden.bucket, "{}", game.id);
        assert_eq!(golden.split, if bucket < 50 { "validation" } else { "train" });
    }
    assert!(kept.next().is_none());
    let counts = counts(&outcome);
    let plies: usize = expected.iter().filter(|game| game.kept).map(|game| game.plies).sum();
    assert_eq!((&counts["read"], &counts["kept"], &counts["plies"]), (&14_807.into(), &14_100.into(), &plies.into()));
    assert_eq!(counts["dropped"]["short"], 707);
    assert!(expected.iter().all(|game| game.kept || game.reason == "short"));
}

fn bytes(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_cores() {
    let Some(sample) = shared("data/lichess-sample.pgn.zst") else { return };
    let folders = [1, 2, 5, 2].map(|cores| (cores, tempdir().unwrap()));
    let outputs = folders.each_ref().map(|(cores, folder)| {
        let parameters = [("cores", Value::Int(*cores)), ("shard_games", Value::Int(6_000))];
        let outcome = parse(folder.path(), &sample, &parameters).unwrap();
        (bytes(&outcome.outputs["games"]), fs::read(&outcome.outputs["counts"]).unwrap())
    });
    let names: Vec<&str> = outputs[0].0.iter().map(|(name, _)| &name[..]).collect();
    assert_eq!(names, ["games-00000.arrow", "games-00001.arrow", "games-00002.arrow"]);
    assert!(outputs.iter().all(|output| *output == outputs[0]));
}

#[test]
fn the_limit_counts_kept_games_in_the_order_of_the_file() {
    let Some(sample) = shared("data/lichess-sample.pgn.zst") else { return };
    let folder = tempdir().unwrap();
    let all = parse(folder.path(), &sample, &[]).map(|outcome| games(&outcome)).unwrap();
    for (limit, cores) in [(1, 1), (7_000, 2), (14_100, 2)] {
        let folder = tempdir().unwrap();
        let parameters = [("limit", Value::Int(limit)), ("cores", Value::Int(cores))];
        let outcome = parse(folder.path(), &sample, &parameters).unwrap();
        assert!(games(&outcome).iter().eq(all.iter().take(limit as usize)));
        assert_eq!(counts(&outcome)["kept"], limit as u64);
    }
    let folder = tempdir().unwrap();
    let failure = parse(folder.path(), &sample, &[("limit", Value::Int(14_101))]).err().unwrap();
    assert!(failure.message.starts_with("`limit` is 14101 games, and of the 14807 in "), "{failure}");
    assert!(failure.message.ends_with(" only 14100 are kept"), "{failure}");
}
