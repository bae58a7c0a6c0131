//! The form `words`: rows of games and of blocks, and the parameters that it alone has.

use cwm_contract::testing::shared;
use cwm_parse::Parse;
use cwm_sequences::NO_LOSS;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use super::*;
use crate::probe::shuffle;

fn words(more: &[(&str, Value)]) -> Values {
    let mut values = values("words");
    values.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    values
}

fn blocks(block_tokens: i128, chunk_games: i128) -> Values {
    let packing = ("packing", Value::Text("blocks".to_owned()));
    words(&[packing, ("block_tokens", Value::Int(block_tokens)), ("chunk_games", Value::Int(chunk_games))])
}

fn numbers(value: &Json) -> Vec<u16> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap() as u16).collect()
}

#[test]
fn golden_games_are_golden_blocks_and_rows() {
    let Some(path) = shared("systems/inside-models-golden/blocks.json") else { return };
    let Some(sample) = shared("data/lichess-sample.pgn.zst") else { return };
    let golden: Json = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let bench = Bench::new();
    let parsed =
        Trial::new(bench.path("parse")).input("pgn", sample).with("limit", Value::Int(50)).run(&Parse).unwrap();
    std::fs::rename(&parsed.outputs["games"], bench.path("games")).unwrap();

    let outcome = bench.run_with(blocks(64, 20), 2).unwrap();
    let found = rows(&outcome);
    assert_eq!(found.len() as u64, golden["blocks"].as_u64().unwrap());
    for (row, block) in found.iter().zip(golden["first"].as_array().unwrap()) {
        assert_eq!(row.1, numbers(block));
    }
    assert_eq!(found.last().unwrap().1, numbers(&golden["last"]));
    let bytes: Vec<u8> = found.iter().flat_map(|row| &row.1).map(|&id| id as u8).collect();
    let digest: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, golden["sha256_u8"].as_str().unwrap());
    let counted: Json = serde_json::from_str(&counts(&outcome)).unwrap();
    assert_eq!(counted["dropped"]["tokens_beyond_blocks"], golden["dropped_tokens"]);

    let outcome = bench.run_with(words(&[]), 2).unwrap();
    let games = std::fs::read_to_string(shared("systems/inside-models-golden/tokens.jsonl").unwrap()).unwrap();
    for (row, game) in rows(&outcome).iter().zip(games.lines().take(20)) {
        let game: Json = serde_json::from_str(game).unwrap();
        assert_eq!(row.1, numbers(&game["ids"]));
    }
}

#[test]
fn the_word_after_a_game_is_that_before_the_next_and_a_game_that_is_cut_goes_on() {
    let bench = Bench::new().games(&[shuffle(3), Vec::new(), shuffle(1)]);
    let outcome = bench.run_with(words(&[("max_tokens", Value::Int(4))]), 1).unwrap();
    let [g1, f3, g8, f6] = [10, 25, 66, 49];
    assert_eq!(
        rows(&outcome),
        [
            ("sample_0000".to_owned(), vec![1, g1, f3, g8], vec![g1, f3, g8, f6]),
            ("sample_0002".to_owned(), vec![1, g1, f3], vec![g1, f3, 1]),
        ]
    );
    assert_eq!(
        counts(&outcome),
        "{\"cut\":1,\"dropped\":{\"empty_games\":1,\"tokens_beyond_blocks\":0,\
         \"tokens_beyond_context\":3},\"form\":\"words\",\"rows\":2,\"stage\":\"encode\",\"targets\":7,\"tokens\":7}\n"
    );
    assert_eq!(vocabulary(&outcome).longest, 4);
}

#[test]
fn blocks_go_on_over_games_of_a_chunk_and_no_further() {
    let bench = Bench::new().games(&[shuffle(2), shuffle(1), shuffle(4)]);
    let outcome = bench.run_with(blocks(4, 2), 2).unwrap();
    let found = rows(&outcome);
    let names: Vec<&str> = found.iter().map(|row| row.0.as_str()).collect();
    assert_eq!(names, ["sample_0000:0", "sample_0000:1", "sample_0002:0", "sample_0002:1"]);
    assert_eq!((&found[1].1, &found[1].2), (&vec![49, 1, 10, 25], &vec![1, 10, 25, NO_LOSS]));
    assert!(counts(&outcome).contains("\"tokens_beyond_blocks\":1,"));
    assert_eq!(
        bytes(&outcome.outputs["sequences"]),
        bytes(&bench.run_with(blocks(4, 2), 1).unwrap().outputs["sequences"])
    );
}

#[test]
fn parameters_of_words_are_unused_by_other_forms() {
    let unused = |values: Values| Encode.unused_parameters(&values);
    assert_eq!(unused(values("moves")), ["packing", "max_tokens", "block_tokens", "chunk_games", "position"]);
    assert_eq!(unused(words(&[])), ["block_tokens", "chunk_games", "position"]);
    assert_eq!(unused(blocks(4, 2)), ["max_tokens", "position"]);
    assert_eq!(unused(values("speech")), ["packing", "block_tokens", "chunk_games"]);
    let refused = |name: &str, value| {
        let bench = Bench::new().games(&[shuffle(2)]);
        bench.run_with(words(&[(name, value)]), 1).err().unwrap().message
    };
    assert!(refused("max_tokens", Value::Int(1)).contains("from 2 to 65535"));
    assert!(refused("chunk_games", Value::Int(0)).contains("from 1 to 1000000"));
    assert!(refused("packing", Value::Text("streams".to_owned())).contains("one of games, blocks"));
}
