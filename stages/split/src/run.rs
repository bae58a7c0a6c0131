//! The run of `split`.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_chess::{GameRow, Games, GamesWriter, ShardError, bucket};
use cwm_contract::{Context, Failure};
use serde_json::{Value, json};

use crate::config::Config;

/// Games between two checks for cancellation.
const STRIDE: usize = 4096;

/// Reads `games` and writes `train`, `validation` and `counts`.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let games = Games::open(context.input("games")?)?;
    let mut train = Part::create(context.output("train")?, config.shard_games, games.labelled())?;
    let mut validation = Part::create(context.output("validation")?, config.shard_games, games.labelled())?;
    let total = games.len() as u64;
    for (done, game) in games.iter().enumerate() {
        if done % STRIDE == 0 {
            context.check_cancelled()?;
            context.progress(done as u64, Some(total), "games");
        }
        let game = game?;
        let game = game.row();
        let part = if bucket(game.id, config.buckets) < config.validation { &mut validation } else { &mut train };
        part.push(game)?;
    }
    context.progress(total, Some(total), "games");
    context.metric("train_games", train.games as f64);
    context.metric("validation_games", validation.games as f64);
    let counts: BTreeMap<&str, Value> = BTreeMap::from([
        ("stage", json!("split")),
        ("buckets", json!(config.buckets)),
        ("validation_buckets", json!(config.validation)),
        ("train", train.finish()?),
        ("validation", validation.finish()?),
    ]);
    fs_err::write(context.output("counts")?, format!("{}\n", json!(counts)))?;
    Ok(())
}

/// One of the two outputs.
struct Part {
    writer: GamesWriter,
    games: u64,
    plies: u64,
}

impl Part {
    fn create(folder: &Path, shard_games: u64, labelled: bool) -> Result<Self, ShardError> {
        Ok(Part { writer: GamesWriter::create(folder, shard_games)?.labelled(labelled), games: 0, plies: 0 })
    }

    fn push(&mut self, game: GameRow<'_>) -> Result<(), ShardError> {
        self.games += 1;
        self.plies += game.moves.len() as u64;
        self.writer.push(game)
    }

    fn finish(self) -> Result<Value, ShardError> {
        self.writer.finish()?;
        Ok(json!(BTreeMap::from([("games", self.games), ("plies", self.plies)])))
    }
}

#[cfg(test)]
mod tests {
    use cwm_contract::testing::Trial;
    use cwm_contract::{Cancellation, FailureKind};
    use proptest::prelude::*;
    use tempfile::tempdir;

    use super::*;
    use crate::Split;

    fn write(folder: &Path, ids: &[String]) {
        let mut writer = GamesWriter::create(folder, 7).unwrap();
        for (index, id) in ids.iter().enumerate() {
            let moves = vec![0; index % 5];
            writer
                .push(GameRow { index: index as u64, id, site: "here", result: "*", moves: &moves, labels: None })
                .unwrap();
        }
        writer.finish().unwrap();
    }

    fn read(folder: &Path) -> Vec<(u64, String, usize)> {
        let games = Games::open(folder).unwrap();
        let told = |game: GameRow<'_>| (game.index, game.id.to_owned(), game.moves.len());
        games.iter().map(|game| told(game.unwrap().row())).collect()
    }

    fn split(folder: &Path, buckets: i128, validation: i128) -> Trial {
        let int = cwm_contract::Value::Int;
        Trial::new(folder.join("work"))
            .input("games", folder.join("games"))
            .with("buckets", int(buckets))
            .with("validation", int(validation))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn every_game_goes_where_its_bucket_says_in_order(
            ids in proptest::collection::vec("[a-z]{0,9}", 0..60),
            buckets in 1..20u64,
            share in 0..=20u64,
        ) {
            let validation = share.min(buckets);
            let folder = tempdir().unwrap();
            write(&folder.path().join("games"), &ids);
            let outcome = split(folder.path(), buckets.into(), validation.into()).run(&Split).unwrap();
            let held_out = |(_, id, _): &(u64, String, usize)| bucket(id, buckets) < validation;
            let (expected_validation, expected_train): (Vec<_>, Vec<_>) =
                read(&folder.path().join("games")).into_iter().partition(held_out);
            prop_assert_eq!(&read(&outcome.outputs["train"]), &expected_train);
            prop_assert_eq!(&read(&outcome.outputs["validation"]), &expected_validation);
            let plies = |games: &[(u64, String, usize)]| games.iter().map(|game| game.2).sum::<usize>();
            let counts = std::fs::read_to_string(&outcome.outputs["counts"]).unwrap();
            prop_assert_eq!(counts, format!(
                "{{\"buckets\":{buckets},\"stage\":\"split\",\"train\":{{\"games\":{},\"plies\":{}}},\
                 \"validation\":{{\"games\":{},\"plies\":{}}},\"validation_buckets\":{validation}}}\n",
                expected_train.len(), plies(&expected_train), expected_validation.len(), plies(&expected_validation),
            ));
        }
    }

    #[test]
    fn labels_go_with_their_games() {
        let folder = tempdir().unwrap();
        let mut writer = GamesWriter::create(&folder.path().join("games"), 7).unwrap().labelled(true);
        let carried = [1; 75];
        let labels = |index: u64| (index % 3 == 1).then_some(&carried[..]);
        for index in 0..30 {
            let (id, labels) = (format!("cwm_{index}"), labels(index));
            writer.push(GameRow { index, id: &id, site: "", result: "*", moves: &[], labels }).unwrap();
        }
        writer.finish().unwrap();
        let outcome = split(folder.path(), 2, 1).run(&Split).unwrap();
        let mut found = 0;
        for part in ["train", "validation"] {
            let games = Games::open(&outcome.outputs[part]).unwrap();
            assert!(games.labelled() && !games.is_empty());
            for game in games.iter() {
                let game = game.unwrap();
                assert_eq!(game.row().labels, labels(game.row().index));
                found += 1;
            }
        }
        assert_eq!(found, 30);
    }

    #[test]
    fn equal_runs_give_equal_bytes_and_bad_shares_are_refused() {
        let folder = tempdir().unwrap();
        let ids: Vec<String> = (0..50).map(|index| format!("cwm_{index}")).collect();
        write(&folder.path().join("games"), &ids);
        let bytes = [1, 2].map(|cores| {
            let outcome = split(folder.path(), 10, 3).cores(cores).run(&Split).unwrap();
            ["train", "validation"].map(|part| std::fs::read(outcome.outputs[part].join("games-00000.arrow")).unwrap())
        });
        assert_eq!(bytes[0], bytes[1]);
        let failure = split(folder.path(), 10, 11).run(&Split).err().unwrap();
        assert_eq!(failure.message, "parameter `validation` must be at most `buckets`, which is 10");
        let cancelled = Cancellation::default();
        cancelled.cancel();
        let failure = split(folder.path(), 10, 3).run_until(&Split, cancelled).err().unwrap();
        assert_eq!(failure.kind, FailureKind::Cancelled);
    }
}
