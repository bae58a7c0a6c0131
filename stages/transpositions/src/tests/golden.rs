//! The classes that an independent program found.

use cwm_chess::{DatasetRow, DatasetWriter, Games, SHARD_GAMES};
use cwm_contract::testing::shared;
use cwm_encoding::START;
use cwm_parse::Parse;
use sha2::{Digest, Sha256};

use super::*;

/// The kept games of the sample as a dataset.
fn kept(sample: &Path) -> Bench {
    let bench = Bench(tempdir().unwrap());
    let parsed = Trial::new(bench.path("parse")).input("pgn", sample).run(&Parse).unwrap();
    let mut writer = DatasetWriter::create(&bench.path("games"), SHARD_GAMES).unwrap();
    for game in Games::open(&parsed.outputs["games"]).unwrap().iter() {
        let game = game.unwrap();
        let row = game.row();
        let moves = row.moves.iter().map(|&packed| PlainMove::from_packed(packed).unwrap().token());
        let tokens: Vec<u16> = std::iter::once(START).chain(moves).collect();
        let row = DatasetRow { index: row.index, id: row.id, tokens: &tokens, result: row.result, labels: None };
        writer.push(row).unwrap();
    }
    writer.finish().unwrap();
    bench
}

#[test]
fn golden_games_have_golden_classes() {
    let Some(path) = shared("systems/inside-models-golden/transpositions.json") else { return };
    let Some(sample) = shared("data/lichess-sample.pgn.zst") else { return };
    let golden: serde_json::Value = serde_json::from_slice(&bytes(&path)).unwrap();
    let bench = kept(&sample);
    let whole = [("members", Value::Int(1_000)), ("classes", Value::Int(100_000))];
    let prefixes = [("games", Value::Int(2_000)), ("max_plies", Value::Int(20))];
    for (sequences, more) in [("prefixes", &prefixes[..]), ("ends", &[])] {
        for same in ["position", "placement"] {
            let more = [&whole[..], more, &[("same", text(same)), ("sequences", text(sequences))]].concat();
            for cores in [1, 2] {
                let outcome = bench.run_on(&more, cores).unwrap();
                let (of, rows) = read(&outcome);
                let expected = &golden[sequences][same];
                assert_eq!(of.games, golden[sequences]["games"].as_u64().unwrap());
                assert_eq!(of.different, golden[sequences]["sequences"].as_u64().unwrap());
                assert_eq!(of.classes, expected["classes"].as_u64().unwrap(), "{sequences} {same}");
                assert_eq!(serde_json::to_value(&of.sizes).unwrap(), expected["sizes"], "{sequences} {same}");
                let digest: String = Sha256::digest(listing(&rows)).iter().map(|byte| format!("{byte:02x}")).collect();
                assert_eq!(digest, expected["sha256"].as_str().unwrap(), "{sequences} {same}");
            }
        }
    }
}
