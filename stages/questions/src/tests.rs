mod comments;
mod judges;
mod reasoning;

use std::path::{Path, PathBuf};

use cwm_chess::sample;
use cwm_contract::testing::{Outcome, Trial, probe, shared};
use cwm_contract::{Failure, Stage, Value, Values};
use cwm_evaluations::{Evaluation, EvaluationsWriter, Line, Score, Source};
use cwm_questions::{Category, Item, Task, UnknownTasks, read_items};
use serde_json::Value as Json;
use tempfile::TempDir;

use crate::Questions;

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

fn tasks(names: &[&str]) -> Value {
    Value::List(names.iter().map(|name| text(name)).collect())
}

fn items(outcome: &Outcome) -> Vec<Item> {
    let text = std::fs::read(&outcome.outputs["items"]).unwrap();
    read_items(&text[..], "items", UnknownTasks::Fail).unwrap()
}

fn counts(outcome: &Outcome) -> Json {
    serde_json::from_slice(&std::fs::read(&outcome.outputs["counts"]).unwrap()).unwrap()
}

fn run(folder: &TempDir, inputs: &[(&str, &Path)], values: &[(&str, Value)]) -> Result<Outcome, Failure> {
    let mut trial = Trial::new(folder.path().join("run"));
    for (name, path) in inputs {
        trial = trial.input(name, path);
    }
    for (name, value) in values {
        trial = trial.with(name, value.clone());
    }
    trial.run(&Questions)
}

fn games(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("games");
    sample::write_games(&path, &sample::games()).unwrap();
    path
}

fn of_category(items: &[Item], category: Category) -> usize {
    items.iter().filter(|item| item.task().unwrap().category() == category).count()
}

#[test]
fn puzzles_games_and_evaluations_give_the_tasks_that_they_allow() {
    let Some(golden) = shared("systems/questions-golden") else { return };
    let [puzzles, evaluations] = ["lichess-puzzles-6605.csv.zst", "evaluations.jsonl"].map(|name| golden.join(name));
    let folder = tempfile::tempdir().unwrap();
    let games = games(&folder);
    let inputs: [(&str, &Path); 3] = [("puzzles", &puzzles), ("games", &games), ("evaluations", &evaluations)];
    let values = [("per_task", Value::Int(20)), ("per_theme", Value::Int(6))];
    let outcome = run(&folder, &inputs, &values).unwrap();
    let found = items(&outcome);
    let categories = [Category::Structural, Category::Motifs, Category::ShortTactics, Category::PositionJudgement];
    assert!(found.is_sorted_by_key(|item| item.task().unwrap().category()));
    // Of six games some have 30 plies and more, and each serves one task.
    let counted = categories.map(|category| of_category(&found, category));
    // Four of its positions have a double check.
    assert_eq!((counted[1], counted[3]), (5 * 20 + 4, 100));
    assert!((161..166).contains(&counted[0]), "{counted:?}");
    // No puzzle of that file has the themes advancedPawn, queensideAttack and zugzwang.
    assert_eq!(counted[2], 4 * 20 + 17 * 6);
    let counts = counts(&outcome);
    assert_eq!(counts["items"], found.len());
    assert_eq!(counts["sources"]["puzzles"]["read"], 6_605);
    assert_eq!(counts["tasks"]["short_tactics_theme_zugzwang"], 0);
    assert!(found.iter().all(|item| item.question.contains("FINAL ANSWER: <answer>")));
    let bytes = std::fs::read(&outcome.outputs["items"]).unwrap();
    for cores in [1, 2] {
        let mut again = Trial::new(folder.path().join("again")).cores(cores);
        for (name, path) in inputs.iter().rev() {
            again = again.input(name, path);
        }
        for (name, value) in &values {
            again = again.with(name, value.clone());
        }
        let again = again.run(&Questions).unwrap();
        assert!(std::fs::read(&again.outputs["items"]).unwrap() == bytes);
    }
}

#[test]
fn positions_of_games_know_their_moves_and_their_keys_hold() {
    let folder = tempfile::tempdir().unwrap();
    let games = games(&folder);
    let values = [("positions", text("games")), ("keys", text("sound")), ("per_task", Value::Int(30))];
    let found = items(&run(&folder, &[("games", &games)], &values).unwrap());
    assert!(of_category(&found, Category::Motifs) > 100);
    for item in &found {
        let moves: Vec<&str> =
            item.metadata.get("moves").unwrap().as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
        let initial = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let fen = cwm_questions::truth::fen_after(initial, &moves.join(" "), cwm_encoding::EnPassant::Legal);
        assert_eq!(fen.as_deref(), Ok(item.input.split(" | ").next().unwrap()));
        let key = cwm_questions::truth::key(item, cwm_questions::truth::Keys::Sound).unwrap();
        assert_eq!(key.as_ref(), Some(&item.correct_answer));
    }
    let by_file = [values[0].clone(), ("order", text("file")), ("per_task", Value::Int(2))];
    let by_file = items(&run(&folder, &[("games", &games)], &by_file).unwrap());
    let first = by_file[0].metadata.get("moves").unwrap().as_array().unwrap().len();
    assert_eq!((by_file[0].task(), first), (Some(Task::PieceArrangement), 1));
}

#[test]
fn the_published_wording_is_taken_over() {
    let Some(golden) = shared("systems/questions-golden") else { return };
    let [puzzles, motifs] = ["puzzles.csv", "published/motifs.jsonl.zst"].map(|name| golden.join(name));
    let folder = tempfile::tempdir().unwrap();
    let values = [("tasks", tasks(&["motifs_*"])), ("order", text("file")), ("per_task", Value::Int(6))];
    let inputs: [(&str, &Path); 2] = [("puzzles", &puzzles), ("wording", &motifs)];
    let found = items(&run(&folder, &inputs, &values).unwrap());
    assert!(found.iter().any(|item| item.question.contains("Identify all forks")));
    let refused = run(&folder, &inputs, &values[1..]).err().unwrap();
    assert_eq!(refused.message, "the wording has no item of the task structural_piece_arrangement");
}

#[test]
fn what_cannot_be_built_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let puzzles = folder.path().join("puzzles.csv");
    let row = "a,6k1/5ppp/7r/8/8/8/5PPP/3R2K1 b - - 0 1,h6a6 d1d8,900,80,95,mateIn1";
    std::fs::write(&puzzles, format!("PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,Themes\n{row}\n")).unwrap();
    let refused =
        |inputs: &[(&str, &Path)], values: &[(&str, Value)]| run(&folder, inputs, values).err().unwrap().message;
    let named = [("tasks", tasks(&["short_tactics_theme_mateIn1"]))];
    let message = refused(&[("puzzles", &puzzles)], &named);
    assert_eq!(message, "short_tactics_theme_mateIn1 has 1 of 25 items: `puzzles` has no more for it");
    let unknown = [("tasks", tasks(&["motif_*"]))];
    assert_eq!(refused(&[("puzzles", &puzzles)], &unknown), "parameter `tasks` has `motif_*`, which is no task");
    let evaluations = folder.path().join("evaluations.jsonl");
    let line = r#"{"fen":"4k3/8/8/8/8/8/8/K7 w - -","evals":[{"depth":9,"pvs":[{"cp":0}]}]}"#;
    std::fs::write(&evaluations, format!("{line}\nnull\n")).unwrap();
    let message = refused(&[("evaluations", &evaluations)], &[]);
    let expected = "no position is evaluated as `losing`; of 2 there are: losing 0, disadvantage 0, neutral 1, advantage 0, winning 0";
    assert!(message.ends_with(expected), "{message}");
    let neutral = [("tasks", tasks(&["*_neutral"]))];
    assert_eq!(items(&run(&folder, &[("evaluations", &evaluations)], &neutral).unwrap()).len(), 1);
    let none = [("tasks", tasks(&["motifs_double_check"])), ("per_task", Value::Int(1))];
    assert!(refused(&[("puzzles", &puzzles)], &none).starts_with("motifs_double_check has 0 of 1 items"));
}

#[test]
fn inputs_that_named_tasks_need_are_missed_before_the_run() {
    let with = |positions: &str| -> Values {
        let defaults = Questions.parameters().into_iter().map(|spec| (spec.name.to_owned(), spec.default.unwrap()));
        let named = tasks(&["structural_state_tracking_mid", "structural_check_in_1", "short_tactics_*"]);
        defaults.chain([("tasks".to_owned(), named), ("positions".to_owned(), text(positions))]).collect()
    };
    let missing = |positions: &str, given: &[&str]| Questions.check_inputs_for(&with(positions), given);
    let needs = |task: &str, input: &str| Some(format!("is to build {task}, and needs an input `{input}` for it"));
    assert_eq!(missing("puzzles", &["puzzles"]), needs("structural_state_tracking_mid", "games"));
    assert_eq!(missing("puzzles", &["games"]), needs("structural_check_in_1", "puzzles"));
    assert_eq!(missing("games", &["games"]), None);
    let without_games = missing("games", &["puzzles"]);
    assert_eq!(without_games.as_deref(), Some("has `positions: games`, and needs an input `games` for it"));
    assert!(Questions.check_inputs(&["wording"]).is_some());
    assert!(Questions.check_inputs(&["games"]).is_none());
}

#[test]
fn evaluations_of_analyse_are_turned_to_whites_side() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("evaluations.parquet");
    let mut writer = EvaluationsWriter::create(&path, &Source { nodes: Some(50_000), ..Source::default() }).unwrap();
    let positions = [("w", 210, "advantage"), ("b", 210, "disadvantage"), ("b", -190, "advantage")];
    for (record, (side, value, _)) in (0..).zip(positions) {
        let line = Line { score: Some(Score::Centipawns(value)), depth: Some(7), moves: vec![0x0208] };
        let fen = format!("4k3/8/8/8/8/{record}P{}/8/K7 {side} - - 0 1", 7 - record).replace("0P7", "P7");
        let row = Evaluation { record, game: None, id: String::new(), t: None, fen, lines: vec![line] };
        writer.push(row).unwrap();
    }
    writer.finish().unwrap();
    let values = [("tasks", tasks(&["*advantage"])), ("order", text("file"))];
    let found = items(&run(&folder, &[("evaluations", &path)], &values).unwrap());
    let bands: Vec<&str> = found.iter().map(|item| item.metadata.text("category").unwrap()).collect();
    assert_eq!(bands, ["disadvantage", "advantage", "advantage"]);
    assert_eq!(found[0].metadata.get("knodes"), Some(&Json::from(50)));
    assert_eq!(found[0].correct_answer, "-200");
}

#[test]
fn the_probe_gives_items_of_most_tasks() {
    let folder = tempfile::tempdir().unwrap();
    for (positions, order) in [("puzzles", "file"), ("games", "shuffled")] {
        let values = Values::from([("positions".to_owned(), text(positions)), ("order".to_owned(), text(order))]);
        let probed = probe(&Questions, values, &folder.path().join(positions)).unwrap().unwrap();
        let found = read_items(&probed["all/items"][..], "items", UnknownTasks::Fail).unwrap();
        let mut tasks: Vec<&str> = found.iter().map(|item| item.task_type.as_str()).collect();
        tasks.dedup();
        tasks.sort_unstable();
        tasks.dedup();
        assert!(tasks.len() >= 28, "{tasks:?}");
        assert!(probed.contains_key("puzzles/items"), "{:?}", probed.keys());
    }
}
