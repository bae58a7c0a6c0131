//! Games of models, with fresh weights.

use std::path::{Path, PathBuf};

use cwm_contract::testing::{self, Trial};
use cwm_contract::{Value, Values};
use cwm_matches::{End, Game};
use cwm_player::Form;
use cwm_player::sample::write_checkpoint;
use tempfile::tempdir;

use super::{bytes, counts, games, openings, players, text, trial};
use crate::Match;

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
    let journal = folder.path().join("two/work/keep/games.jsonl");
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
    assert_eq!((players.legality.as_deref(), players.repetition.as_deref()), (Some("attempts"), Some("allow")));
}

#[test]
fn a_full_context_is_a_draw_of_its_own_kind() {
    let folder = tempdir().unwrap();
    // 1,024 characters are about 89 moves of each side.
    let outcome = masked(folder.path(), Form::Characters, 2).with("max_plies", Value::Int(600)).run(&Match).unwrap();
    let full: Vec<Game> = games(&outcome).into_iter().filter(|game| game.end == End::Context).collect();
    for game in &full {
        assert!((120..240).contains(&game.plies) && game.score == 0.5, "{game:?}");
    }
    assert!(!full.is_empty(), "{}", counts(&outcome));
}

#[test]
fn two_models_play_each_other_and_avoid_repetitions() {
    let folder = tempdir().unwrap();
    let openings = openings(folder.path(), 10);
    let run = |repetition: &str| {
        let folder = folder.path().join(repetition);
        let outcome = trial(&folder, "model", "other", 20)
            .input("model", model(&folder, Form::Board, 1))
            .input("other", model(&folder, Form::Moves, 2))
            .input("openings", &openings)
            .with("legality", text("mask"))
            .with("repetition", text(repetition))
            .with("max_plies", Value::Int(400))
            .run(&Match)
            .unwrap();
        let named = players(&outcome);
        assert_eq!(
            (named.first.arm.as_deref(), named.second.arm.as_deref()),
            (Some("board/none"), Some("moves/causal"))
        );
        assert_eq!(named.repetition.as_deref(), Some(repetition));
        games(&outcome).iter().filter(|game| game.end == End::Threefold).count()
    };
    // Fresh models prefer the same few moves in all positions.
    assert!(run("allow") > 0);
    assert_eq!(run("avoid"), 0);
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
