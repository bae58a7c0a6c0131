//! Games of models, with fresh weights.

use std::path::{Path, PathBuf};

use cwm_contract::testing::{self, Trial};
use cwm_contract::{Parameters, Value, Values};
use cwm_game::StreamRng;
use cwm_matches::End;
use cwm_models::checkpoint::{self, Description, FORMAT, Status};
use cwm_models::{Architecture, Network, device};
use cwm_player::sample::write_checkpoint;
use cwm_player::{Form, Player};
use shakmaty::uci::UciMove;
use tempfile::tempdir;

use super::{bytes, counts, games, openings, players, text, trial, values};
use crate::Match;
use crate::board::Board;
use crate::config::Config;
use crate::side::{MoveChoice, Side};

fn model(folder: &Path, form: Form, seed: u64) -> PathBuf {
    let path = folder.join(format!("{}-{seed}", form.name()));
    let mask = if form == Form::Board { "none" } else { "causal" };
    write_checkpoint(&path, form, "d32/l1", mask, seed).unwrap();
    path
}

/// A short match of a fresh model among legal moves.
fn masked(folder: &Path, form: Form, games: i128) -> Trial {
    trial(folder, "model", "random", games)
        .input("model", model(folder, form, 1))
        .with("legality", text("mask"))
        .with("max_plies", Value::Int(24))
}

#[test]
fn models_of_every_form_play_legal_moves_by_mask() {
    for form in Form::ALL {
        let folder = tempdir().unwrap();
        let outcome = masked(folder.path(), form, 2).run(&Match).unwrap();
        for game in games(&outcome) {
            assert!(game.plies == 24 || game.end == End::Mate, "{form:?}: {game:?}");
            assert_eq!(game.illegal_attempts, 0);
        }
        let first = players(&outcome).first;
        let mask = if form == Form::Board { "none" } else { "causal" };
        assert_eq!(first.arm, Some(format!("{}/{mask}", form.name())));
        assert_eq!((first.size.as_deref(), first.seed), (Some("d32/l1"), Some(1)));
        assert!(first.parameters.unwrap() > 0);
    }
}

#[test]
fn cores_and_interruptions_change_nothing() {
    let folder = tempdir().unwrap();
    let run = |name: &str, cores| {
        let folder = folder.path().join(name);
        bytes(&masked(&folder, Form::Board, 4).with("temperature", Value::Float(2.0)).cores(cores).run(&Match).unwrap())
    };
    let one = run("one", 1);
    assert_eq!(one, run("two", 2));
    let journal = folder.path().join("two/work/checkpoints/games.jsonl");
    let whole = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(one, run("two", 2));
}

#[test]
fn a_model_without_a_legal_answer_loses() {
    let folder = tempdir().unwrap();
    // Fresh weights know no letters: an answer of theirs is hardly ever a legal move in words.
    let outcome = trial(folder.path(), "random", "model", 4)
        .input("model", model(folder.path(), Form::Characters, 1))
        .with("attempts", Value::Int(3))
        .run(&Match)
        .unwrap();
    for game in games(&outcome) {
        assert_eq!((game.end, game.score, game.illegal_attempts), (End::Attempts, 1.0, 3), "{game:?}");
        assert_eq!(game.result, if game.first_white { "1-0" } else { "0-1" });
    }
    assert_eq!(counts(&outcome)["illegal_attempts"], 12);
    let players = players(&outcome);
    assert_eq!((players.legality.as_deref(), players.repetition.as_deref()), (Some("attempts 3"), Some("allow")));
}

#[test]
fn illegal_answers_are_counted_and_a_legal_one_is_played() {
    let folder = tempdir().unwrap();
    // So hot that all of the 200 likeliest moves are as likely; few of them are legal, if any.
    let outcome = trial(folder.path(), "model", "random", 4)
        .input("model", model(folder.path(), Form::Board, 1))
        .with("attempts", Value::Int(1_000))
        .with("temperature", Value::Float(1e6))
        .with("max_plies", Value::Int(9))
        .run(&Match)
        .unwrap();
    let games = games(&outcome);
    assert!(games.iter().all(|game| game.end != End::Attempts || game.illegal_attempts >= 1_000), "{games:?}");
    // Illegal answers before a legal one.
    assert!(games.iter().any(|game| game.plies > 1 && game.illegal_attempts % 1_000 > 0), "{games:?}");
}

#[test]
fn a_full_context_is_a_draw_of_its_own_kind() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("short");
    let vocabulary = Form::Moves.vocabulary();
    let options = [("tied", "true"), ("mask", "causal"), ("positions", "21")];
    let network = Network::build(
        Architecture {
            family: "gpt".to_owned(),
            size: "d32/l1".parse().unwrap(),
            vocabulary: usize::from(vocabulary.inputs),
            dropout: 0.0,
            options: options.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        },
        usize::from(vocabulary.targets),
    )
    .unwrap();
    let description = Description {
        format: FORMAT,
        architecture: network.architecture().clone(),
        parameters: network.layout().total() as u64,
        status: Status::Finished,
        training: serde_json::Map::from_iter([("vocabulary".to_owned(), serde_json::json!(vocabulary))]),
    };
    checkpoint::write(&path, &description, &network.initial_weights(1)).unwrap();
    let outcome = trial(folder.path(), "model", "random", 2)
        .input("model", &path)
        .with("legality", text("mask"))
        .run(&Match)
        .unwrap();
    for game in games(&outcome) {
        // START and 20 moves are 21 tokens: with Black's first move the model has no place for the 21st move of the game.
        let plies = if game.first_white { 22 } else { 21 };
        assert_eq!((game.end, game.plies, game.score), (End::Context, plies, 0.5), "{game:?}");
    }
}

#[test]
fn two_models_play_each_other() {
    let folder = tempdir().unwrap();
    let outcome = trial(folder.path(), "model", "other", 4)
        .input("model", model(folder.path(), Form::Board, 1))
        .input("other", model(folder.path(), Form::Moves, 2))
        .input("openings", openings(folder.path(), 2))
        .with("legality", text("mask"))
        .with("max_plies", Value::Int(20))
        .run(&Match)
        .unwrap();
    let named = players(&outcome);
    assert_eq!((named.first.arm.as_deref(), named.second.arm.as_deref()), (Some("board/none"), Some("moves/causal")));
    for game in games(&outcome) {
        let (white, black) = if game.first_white { ("model", "other") } else { ("other", "model") };
        assert_eq!((game.white.as_str(), game.black.as_str()), (white, black));
    }
}

#[test]
fn a_third_repetition_is_avoided_while_there_is_another_move() {
    let folder = tempdir().unwrap();
    let player = Player::open(&model(folder.path(), Form::Board, 1), &device::cpu()).unwrap();
    let word = |word: &str| word.parse::<UciMove>().unwrap();
    let mut board = Board::default();
    for played in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"].map(word) {
        board.play(played.to_move(board.position()).unwrap());
    }
    let repetition = word("f6g8").to_move(board.position()).unwrap();
    // So hot that every legal move is as likely.
    let chosen = |rule: &str| {
        let given = [("second", text("random")), ("legality", text("mask")), ("repetition", text(rule))];
        let hot = [("temperature", Value::Float(1e6)), ("games", Value::Int(2))];
        let config = Config::read(&values(&[&given[..], &hot].concat())).unwrap();
        let (mut side, mut random) = (Side::of_model(&player, &config), StreamRng::new("test", "0", 0));
        let answers = (0..200).map(|_| side.choose(&board, &mut random, &mut 0).unwrap());
        answers.filter(|answer| *answer == MoveChoice::Move(repetition)).count()
    };
    assert!(chosen("allow") > 0);
    assert_eq!(chosen("avoid"), 0);
}

#[test]
fn a_checkpoint_of_another_kind_is_refused() {
    let folder = tempdir().unwrap();
    let path = model(folder.path(), Form::Board, 1);
    let description = path.join("model.json");
    let text = std::fs::read_to_string(&description).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    json["training"].as_object_mut().unwrap().remove("vocabulary");
    std::fs::write(&description, json.to_string()).unwrap();
    let failure = trial(folder.path(), "model", "random", 2).input("model", &path).run(&Match).err().unwrap();
    assert!(failure.message.contains("was not trained on sequences"), "{}", failure.message);
}

#[test]
fn the_probe_plays_every_form_and_is_the_same_twice() {
    let folder = tempdir().unwrap();
    let values = || {
        Values::from([
            ("second".to_owned(), text("other")),
            ("games".to_owned(), Value::Int(1_000)),
            ("legality".to_owned(), text("mask")),
        ])
    };
    let probe = || testing::probe(&Match, values(), folder.path()).unwrap().unwrap();
    let probed = probe();
    for form in Form::ALL {
        assert!(probed.contains_key(&format!("{}/matches", form.name())), "{:?}", probed.keys());
    }
    std::fs::remove_dir_all(folder.path()).unwrap();
    std::fs::create_dir_all(folder.path()).unwrap();
    assert!(probe() == probed);
}
