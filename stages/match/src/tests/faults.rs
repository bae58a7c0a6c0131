//! Parameters and inputs that are refused, and what is part of the key.

use cwm_contract::{Parameters, Stage, Value};
use tempfile::tempdir;

use super::{openings, text, trial, values};
use crate::Match;
use crate::config::Config;

#[test]
fn wrong_parameters_are_errors_in_words() {
    let fault = |given: &[(&str, Value)]| {
        let all = [&[("second", text("random")), ("games", Value::Int(2))], given].concat();
        let faults = Match.check(&values(&all));
        let fault = faults.first().unwrap_or_else(|| panic!("{given:?} is taken"));
        format!("`{}` {}", fault.parameter, fault.message)
    };
    assert_eq!(fault(&[("second", text("level:20"))]), "`second` has no level 20: levels are 0 to 19");
    assert!(
        fault(&[("second", text("stockfish"))]).starts_with("`second` must be `model`, `other`, `random`, `level:L`")
    );
    assert!(fault(&[("first", text("nodes:0"))]).starts_with("`first` must have at least one node"));
    assert_eq!(
        fault(&[("games", Value::Int(3))]),
        "`games` must be even, not 3: each opening is played with both colours"
    );
    assert_eq!(fault(&[("max_plies", Value::Int(8))]), "`max_plies` must be above `opening_plies: 8`, not 8");
    assert!(fault(&[("temperature", Value::Float(0.0))]).starts_with("`temperature` must be"));
    let message = fault(&[("second", text("level:3"))]);
    assert!(message.starts_with("`engine` must be given for `second: level:3`: "), "{message}");
    assert!(message.contains("apt-get install stockfish"), "{message}");
    let hint = Match.check(&values(&[("second", text("level:3")), ("games", Value::Int(2))]))[0].hint.clone();
    assert!(hint.unwrap().ends_with("`second: depth:1`"));
    let odd = [("second", text("random")), ("games", Value::Int(3)), ("colours", text("first_white"))];
    assert!(Match.check(&values(&odd)).is_empty());
}

#[test]
fn an_engine_that_cannot_be_started_is_an_error_before_anything_runs() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let faults = |path: &std::path::Path, second: &str| {
        let engine = ("engine", text(&path.display().to_string()));
        Match.check(&values(&[("second", text(second)), ("games", Value::Int(2)), engine]))
    };
    for (path, what) in [(folder.path(), "is a folder"), (&file, "is not executable")] {
        let fault = faults(path, "level:0").remove(0);
        assert!(fault.parameter == "engine" && fault.message.ends_with(what), "{fault:?}");
        assert!(fault.hint.unwrap().contains("apt-get install stockfish"));
        assert!(faults(path, "depth:1").is_empty());
    }
}

#[test]
fn the_models_that_play_are_the_inputs_that_are_given() {
    let check = |first: &str, second: &str, given: &[&str]| {
        let values = values(&[("first", text(first)), ("second", text(second)), ("games", Value::Int(2))]);
        Match.check_inputs_for(&values, given)
    };
    assert_eq!(check("model", "other", &["model", "other"]), None);
    assert_eq!(check("random", "model", &["model", "openings"]), None);
    assert_eq!(check("model", "random", &[]).unwrap(), "needs the input `model`, since it has `first: model`");
    assert_eq!(
        check("random", "random", &["other"]).unwrap(),
        "has the input `other`, but neither player is `other`: `first: random`, `second: random`"
    );
}

#[test]
fn engines_that_draw_nothing_need_openings() {
    let check = |second: &str, games: i128, plies: i128, given: &[&str]| {
        let (first, second) = (("first", text("depth:1")), ("second", text(second)));
        let (games, plies) = (("games", Value::Int(games)), ("opening_plies", Value::Int(plies)));
        Match.check_inputs_for(&values(&[first, second, games, plies]), given)
    };
    let message = check("nodes:5", 4, 8, &[]).unwrap();
    assert!(message.starts_with("has `games: 4`, and no more than 2 of them would differ"), "{message}");
    assert_eq!(check("nodes:5", 4, 0, &["openings"]), Some(message));
    assert_eq!(check("nodes:5", 2, 8, &[]), None);
    assert_eq!(check("nodes:5", 4, 8, &["openings"]), None);
    assert_eq!(check("random", 4, 8, &[]), None);
}

#[test]
fn rules_that_are_not_the_papers_have_other_names() {
    let rule = |attempts: i128, temperature: Value, legality: &str| {
        let attempts = ("attempts", Value::Int(attempts));
        let rest = [("temperature", temperature), ("legality", text(legality))];
        let players = [("second", text("random")), ("games", Value::Int(2))];
        let given: Vec<_> = players.into_iter().chain(rest).chain([attempts]).collect();
        Config::read(&values(&given)).unwrap().rule_of_moves()
    };
    assert_eq!(rule(5, Value::Null, "attempts"), "attempts");
    assert_eq!(rule(9, Value::Null, "attempts"), "attempts 9");
    assert_eq!(rule(9, Value::Float(0.5), "mask"), "mask, temperature 0.5");
}

#[test]
fn parameters_without_effect_are_in_no_key() {
    let unused =
        |given: &[(&str, Value)]| Match.unused_parameters(&values(&[&[("games", Value::Int(2))], given].concat()));
    assert_eq!(
        unused(&[("first", text("random")), ("second", text("random"))]),
        ["engine", "legality", "attempts", "temperature", "repetition"]
    );
    assert_eq!(unused(&[("second", text("level:3"))]), [""; 0]);
    assert_eq!(unused(&[("second", text("other")), ("legality", text("mask"))]), ["engine", "attempts"]);
    let without_models = [("first", text("random")), ("second", text("nodes:5")), ("games", Value::Int(2))];
    assert_eq!(Match.code_parts(&values(&without_models)), Some(Vec::new()));
    assert_eq!(Match.code_parts(&values(&[("second", text("random")), ("games", Value::Int(2))])), None);
}

#[test]
fn fewer_openings_than_pairs_are_an_error_with_both_numbers() {
    let folder = tempdir().unwrap();
    let openings = openings(folder.path(), 5);
    let run = |games, plies| {
        trial(folder.path(), "random", "random", games)
            .input("openings", &openings)
            .with("opening_plies", Value::Int(plies))
            .run(&Match)
            .err()
            .unwrap()
    };
    let failure = run(20, 8);
    assert_eq!(
        failure.message,
        "`games: 20` needs 10 openings, and 5 of the 5 games in `openings` are longer than `opening_plies: 8`"
    );
    assert_eq!(failure.hint.unwrap(), "lower `games` to 10, shorten `opening_plies`, or give more games");
    // They have 30 plies.
    let failure = run(2, 40);
    assert_eq!(
        failure.message,
        "`games: 2` needs 1 openings, and 0 of the 5 games in `openings` are longer than `opening_plies: 40`"
    );
    assert_eq!(failure.hint.unwrap(), "shorten `opening_plies`, or give more games");
}
