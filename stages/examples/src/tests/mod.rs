mod drawn;
mod facts;
mod faults;
mod guided;
mod searches;
#[path = "../../../../crates/uci/src/tests/stockfish.rs"]
mod stockfish;

use std::path::Path;

use cwm_chess::sample;
use cwm_contract::testing::{self, Outcome, Trial};
use cwm_contract::{Value, Values};
use cwm_encoding::PlainMove;
use cwm_evaluations::{Evaluation, EvaluationsWriter, Line, Score, Source};
use cwm_questions::truth::chess_of_fen;
use cwm_reasoning::{Example, read_examples};
use shakmaty::Chess;
use tempfile::tempdir;

use crate::Examples;

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// A trial of a builder on so many of the sample's games, cut to so many plies.
fn on_games(folder: &Path, builder: &str, games: usize, plies: usize) -> Trial {
    let all: Vec<_> = sample::games().iter().take(games).map(|game| game[..plies.min(game.len())].to_vec()).collect();
    let _ = std::fs::remove_dir_all(folder.join("games"));
    sample::write_games(&folder.join("games"), &all).unwrap();
    Trial::new(folder.join("work")).input("games", folder.join("games")).with("builder", text(builder))
}

/// A trial of a builder on these positions, each with lines of one move and its centipawns.
fn on_evaluations(folder: &Path, builder: &str, rows: &[(&str, &[(&str, i32)])]) -> Trial {
    let path = folder.join("evaluations.parquet");
    let mut writer =
        EvaluationsWriter::create(&path, &Source { made_by: "a test".into(), ..Source::default() }).unwrap();
    for (record, (fen, lines)) in rows.iter().enumerate() {
        let line = |(uci, centipawns): &(&str, i32)| Line {
            score: Some(Score::Centipawns(*centipawns)),
            depth: None,
            moves: vec![plain(uci).packed()],
        };
        let lines = lines.iter().map(line).collect();
        let record = record as u64;
        writer.push(Evaluation { record, game: None, id: String::new(), t: None, fen: (*fen).into(), lines }).unwrap();
    }
    writer.finish().unwrap();
    Trial::new(folder.join("work")).input("evaluations", path).with("builder", text(builder))
}

fn plain(uci: &str) -> PlainMove {
    let parsed: shakmaty::uci::UciMove = uci.parse().unwrap();
    let shakmaty::uci::UciMove::Normal { from, to, promotion } = parsed else { panic!("{uci}") };
    PlainMove { from, to, promotion }
}

fn bytes(outcome: &Outcome) -> Vec<u8> {
    std::fs::read(&outcome.outputs["examples"]).unwrap()
}

fn examples(outcome: &Outcome) -> Vec<Example> {
    read_examples(&*bytes(outcome), "examples").unwrap()
}

fn counts(outcome: &Outcome) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(&outcome.outputs["counts"]).unwrap()).unwrap()
}

/// The position of an example.
fn position(example: &Example) -> Chess {
    chess_of_fen(example.meta.text("fen").unwrap()).unwrap().0
}

#[test]
fn a_best_move_is_that_of_the_greatest_value_or_as_given() {
    let folder = tempdir().unwrap();
    let bare = "8/8/8/8/8/1k6/8/3K4 w - - 0 1";
    let all: &[(&str, i32)] = &[("d1e2", 4), ("d1c1", 9), ("d1d2", 9), ("d1e1", -3)];
    let trial = on_evaluations(
        folder.path(),
        "best_move",
        &[
            (bare, all),
            // One line alone: what it has first.
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", &[("g1f3", 5)]),
            // The same board with other clocks.
            ("8/8/8/8/8/1k6/8/3K4 w - - 7 9", &[("d1e1", 5)]),
            // Stalemate.
            ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", &[("h8g8", 5)]),
        ],
    );
    let outcome = trial.run(&Examples).unwrap();
    let found = examples(&outcome);
    let found: Vec<_> = found.iter().map(|example| (&*example.id, example.target())).collect();
    assert_eq!(found, [("best_move-000000", "d1c1"), ("best_move-000001", "g1f3")]);
    let counts = counts(&outcome);
    assert_eq!(
        counts.to_string(),
        concat!(
            r#"{"builder":"best_move","dropped":{"apart":0,"draw":0,"few_questions":0,"fullmove":0,"#,
            r#""game_over":1,"incomplete":0,"no_line":0,"not_explained":0,"repeated":1},"examples":2,"not_drawn":0,"positions":4,"#,
            r#""stage":"examples"}"#
        )
    );
}

#[test]
fn boards_of_items_apart_get_no_example() {
    let folder = tempdir().unwrap();
    let bare = "8/8/8/8/8/1k6/8/3K4 w - - 0 1";
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let path = folder.path().join("items.jsonl");
    let write = |input: &str| {
        let item = serde_json::json!({
            "task_id": "a_0000", "task_type": "a", "task_category": "A", "input": input, "question": "",
            "format_examples": [], "correct_answer": "", "answer_type": "single", "metadata": {},
        });
        std::fs::write(&path, format!("{item}\n")).unwrap();
    };
    let rows: [(&str, &[(&str, i32)]); 2] = [(bare, &[("d1e2", 4)]), (start, &[("g1f3", 5)])];
    let trial = || on_evaluations(folder.path(), "best_move", &rows).input("apart", &path);
    // With other clocks.
    write("8/8/8/8/8/1k6/8/3K4 w - - 7 9");
    let outcome = trial().run(&Examples).unwrap();
    let found: Vec<String> = examples(&outcome).iter().map(|example| example.target().to_owned()).collect();
    assert_eq!((found, counts(&outcome)["dropped"]["apart"].as_u64()), (vec!["g1f3".to_owned()], Some(1)));
    write("8/8");
    let failure = trial().run(&Examples).err().unwrap();
    assert!(failure.message.contains("items.jsonl: a_0000: \"8/8\" is no FEN"), "{}", failure.message);
}

#[test]
fn cores_change_nothing() {
    for builder in ["factual", "best_line", "verbalised"] {
        let folder = tempdir().unwrap();
        let run = |name: &str, cores| {
            let trial = on_games(&folder.path().join(name), builder, 3, 20).cores(cores).with("seed", Value::Int(3));
            trial.with("limit", Value::Int(24)).with("depth", Value::Int(1)).run(&Examples).unwrap()
        };
        let one = run("one", 1);
        assert!(bytes(&one) == bytes(&run("two", 2)), "{builder}");
        assert_eq!(examples(&one).len(), 24, "{builder}");
    }
}

#[test]
fn an_example_does_not_depend_on_which_others_are_built() {
    let folder = tempdir().unwrap();
    let all = examples(&on_games(folder.path(), "factual", 2, 20).run(&Examples).unwrap());
    let some =
        examples(&on_games(folder.path(), "factual", 2, 20).with("limit", Value::Int(9)).run(&Examples).unwrap());
    assert_eq!(some.len(), 9);
    for example in some {
        let same = all.iter().find(|other| other.meta == example.meta).unwrap();
        assert_eq!(same.messages, example.messages);
    }
    let (game, ply) = (all[30].meta.get("game"), all[30].meta.get("ply"));
    assert!(game.is_some() && ply.is_some(), "{:?}", all[30].meta);
}

#[test]
fn the_probes_are_the_same_twice() {
    for builder in ["best_move", "best_line", "factual", "verbalised", "guided"] {
        let folders = [tempdir().unwrap(), tempdir().unwrap()];
        let values = || Values::from([("builder".to_owned(), text(builder))]);
        let [one, two] =
            folders.each_ref().map(|folder| testing::probe(&Examples, values(), folder.path()).unwrap().unwrap());
        assert!(one.contains_key("run/examples") && one == two, "{builder}: {:?}", one.keys());
    }
}

#[test]
fn the_probe_has_values_where_questions_are_about_them() {
    let folder = tempdir().unwrap();
    let kinds = [("win_probability", 900), ("mobility", 10), ("legal", 10), ("check", 2)];
    let kinds = kinds.map(|(name, weight)| (name.to_owned(), Value::Int(weight)));
    let values = [("builder".to_owned(), text("factual")), ("kinds".to_owned(), Value::Map(kinds.into()))];
    let probed = testing::probe(&Examples, values.into(), folder.path()).unwrap().unwrap();
    let written = String::from_utf8(probed["run/examples"].clone()).unwrap();
    assert!(written.contains("probability of winning"), "{written}");
}
