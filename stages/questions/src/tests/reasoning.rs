//! Items of Reasoning.

use std::collections::{BTreeMap, HashSet};

use cwm_encoding::{PlainMove, legal};
use cwm_questions::build::four_fields;
use cwm_reasoning::{RewardOptions, Verifier};
use shakmaty::fen::Fen;
use shakmaty::{Chess, EnPassantMode, Position};

use super::*;

/// The positions of the sample's games, each legal move with a made-up value; every tenth lacks the value of one.
fn evaluations(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("evaluations.parquet");
    let mut writer = EvaluationsWriter::create(&path, &Source::default()).unwrap();
    let mut record = 0;
    for (game, moves) in (0_u64..).zip(sample::games()) {
        let mut position = Chess::default();
        for (ply, plain) in (0_u32..).zip(moves) {
            let value = |packed: u16| i32::from(packed) * 37 % 1_201 + i32::try_from(ply).unwrap() - 600;
            let line =
                |packed| Line { score: Some(Score::Centipawns(value(packed))), depth: None, moves: vec![packed] };
            let mut lines: Vec<Line> =
                position.legal_moves().iter().map(|played| line(PlainMove::from(*played).packed())).collect();
            if record % 10 == 9 {
                lines[0].score = None;
            }
            let fen = Fen::from_position(&position, EnPassantMode::Legal).to_string();
            let row = Evaluation { record, game: Some(game), id: String::new(), t: Some(ply), fen, lines };
            writer.push(row).unwrap();
            record += 1;
            let Some(played) = legal(&position, plain) else { break };
            position.play_unchecked(played);
        }
    }
    writer.finish().unwrap();
    path
}

fn values(names: &[&str], per_task: i128) -> Vec<(&'static str, Value)> {
    vec![("tasks", tasks(names)), ("per_task", Value::Int(per_task))]
}

fn shares(ranges: &[(&str, f64)]) -> Value {
    Value::Map(ranges.iter().map(|(range, share)| ((*range).to_owned(), Value::Float(*share))).collect())
}

#[test]
fn positions_with_all_values_give_the_four_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let evaluations = evaluations(&folder);
    let outcome = run(&folder, &[("evaluations", &evaluations)], &values(&["reasoning_*"], 20)).unwrap();
    let (found, counts) = (items(&outcome), counts(&outcome));
    assert_eq!(found.len(), 80, "{counts}");
    let mut boards = HashSet::new();
    for item in &found {
        assert!(boards.insert(four_fields(&item.input).unwrap()), "{} is there twice", item.input);
        assert!(item.question.contains("- Fullmove number: ") && item.metadata.text("system").is_some());
        assert!(item.metadata.get("game").is_some() && item.metadata.get("ply").is_some());
        let answer = match item.task_type.as_str() {
            "reasoning_legal_moves" => format!("<answer>['{}']</answer>", item.correct_answer.replace(", ", "', '")),
            _ => format!("<answer>{}</answer>", item.correct_answer.split(", ").next().unwrap()),
        };
        let judged = Verifier::new(item).unwrap().judge(&answer, &RewardOptions::default());
        assert_eq!(judged.reward, 1.0, "{item:?}");
    }
    let ids: Vec<&str> = found.iter().map(|item| item.task_id.as_str()).collect();
    assert_eq!(
        (ids[0], ids[20], ids[79]),
        ("reasoning_predict_move_0000", "reasoning_best_move_0000", "reasoning_legal_moves_0019")
    );
    assert_eq!(counts["tasks"]["reasoning_worst_move"], 20);
    let source = &counts["sources"]["values"];
    assert_eq!(source["dropped"]["incomplete"], source["read"].as_u64().unwrap() / 10, "{counts}");
    let bytes = std::fs::read(&outcome.outputs["items"]).unwrap();
    let again = run(&folder, &[("evaluations", &evaluations)], &values(&["reasoning_*"], 20)).unwrap();
    assert!(std::fs::read(&again.outputs["items"]).unwrap() == bytes);
    let other = [values(&["reasoning_*"], 20), vec![("seed", Value::Int(7))]].concat();
    let other = run(&folder, &[("evaluations", &evaluations)], &other).unwrap();
    assert!(std::fs::read(&other.outputs["items"]).unwrap() != bytes);
}

#[test]
fn boards_of_the_items_of_apart_get_no_item() {
    let folder = tempfile::tempdir().unwrap();
    let evaluations = evaluations(&folder);
    let given = values(&["reasoning_predict_move"], 30);
    let all = run(&folder, &[("evaluations", &evaluations)], &given).unwrap();
    let held_out = folder.path().join("held-out.jsonl");
    std::fs::copy(&all.outputs["items"], &held_out).unwrap();
    let boards = |outcome: &Outcome| -> HashSet<String> {
        items(outcome).iter().map(|item| four_fields(&item.input).unwrap()).collect()
    };
    let held_out_boards = boards(&all);
    let rest = run(&folder, &[("evaluations", &evaluations), ("apart", &held_out)], &given).unwrap();
    assert!(boards(&rest).is_disjoint(&held_out_boards) && boards(&rest).len() == 30);
    // Other games may have the same boards.
    assert!(counts(&rest)["sources"]["values"]["dropped"]["apart"].as_u64().unwrap() >= 30);
    let lines = std::fs::read_to_string(&held_out).unwrap();
    std::fs::write(&held_out, lines.replacen("\"input\": \"", "\"input\": \"x", 1)).unwrap();
    let refused = run(&folder, &[("evaluations", &evaluations), ("apart", &held_out)], &given).err().unwrap().message;
    assert!(
        refused.contains("held-out.jsonl: reasoning_predict_move_0000: ") && refused.contains("is no FEN"),
        "{refused}"
    );
    let refused = Questions.check_inputs(&["games", "apart"]);
    assert_eq!(refused.as_deref(), Some("drops boards of no source: `apart` needs an input `evaluations`"));
}

#[test]
fn full_move_numbers_have_their_shares() {
    let folder = tempfile::tempdir().unwrap();
    let evaluations = evaluations(&folder);
    let given = |ranges: &[(&str, f64)]| {
        [values(&["reasoning_predict_move"], 10), vec![("fullmoves", shares(ranges))]].concat()
    };
    let of = |outcome: &Outcome| {
        let mut found: BTreeMap<u32, usize> = BTreeMap::new();
        for item in items(outcome) {
            let fullmove: u32 = item.input.rsplit(' ').next().unwrap().parse().unwrap();
            *found.entry(fullmove.min(29) / 10).or_default() += 1;
        }
        found.into_values().collect::<Vec<_>>()
    };
    let outcome = run(&folder, &[("evaluations", &evaluations)], &given(&[("0-9", 0.25), ("10-19", 0.75)])).unwrap();
    // Of 2.5 and 7.5 items, the first of equal remainders gets one more.
    assert_eq!(of(&outcome), [3, 7]);
    assert!(counts(&outcome)["sources"]["values"]["dropped"]["fullmove"].as_u64().unwrap() > 0);
    // A range without positions is made up for.
    let outcome = run(&folder, &[("evaluations", &evaluations)], &given(&[("0-9", 0.5), ("900+", 0.5)])).unwrap();
    assert_eq!(of(&outcome), [10]);
    let wrong = given(&[("0-9", 0.5), ("5+", 0.5)]);
    let found = run(&folder, &[("evaluations", &evaluations)], &wrong).err().unwrap().message;
    assert_eq!(found, "parameter `fullmoves` has `0-9` and `5+`, which overlap");
}

#[test]
fn tasks_of_reasoning_are_wanted_by_their_names_alone() {
    let wants = |names: &[&str], task: &str| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        crate::wanted::WantedTasks::new(&names).unwrap().has(task)
    };
    assert!(wants(&["reasoning_*"], "reasoning_best_move") && wants(&["reasoning_best_move"], "reasoning_best_move"));
    assert!(!wants(&["reasoning_*"], "motifs_pin") && !wants(&["*"], "reasoning_best_move"));
    assert!(!wants(&[], "reasoning_best_move") && wants(&[], "motifs_pin"));
    let unused = |names: &[&str]| {
        let defaults = Questions.parameters().into_iter().map(|spec| (spec.name.to_owned(), spec.default.unwrap()));
        Questions.unused_parameters(&defaults.chain([("tasks".to_owned(), tasks(names))]).collect())
    };
    assert_eq!(unused(&["motifs_*", "*"]), ["fullmoves", "board", "threshold", "candidates", "min_moves", "legal_min"]);
    assert!(unused(&["reasoning_legal_moves"]).is_empty());
}

#[test]
fn evaluations_of_the_best_move_alone_are_not_enough() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("evaluations.jsonl");
    std::fs::write(&path, r#"{"fen":"4k3/8/8/8/8/8/8/K7 w - -","evals":[{"depth":9,"pvs":[{"cp":0}]}]}"#).unwrap();
    let refused = run(&folder, &[("evaluations", &path)], &values(&["reasoning_*"], 1)).err().unwrap();
    assert_eq!(
        refused.hint.as_deref(),
        Some("tasks of Reasoning are built from evaluations of `analyse` with `multipv: all`")
    );
    let path = folder.path().join("evaluations.parquet");
    let mut writer = EvaluationsWriter::create(&path, &Source::default()).unwrap();
    let line = Line { score: Some(Score::Centipawns(1)), depth: None, moves: vec![0x0208] };
    let fen = "4k3/8/8/8/8/8/P7/K7 w - - 0 1".to_owned();
    writer.push(Evaluation { record: 0, game: None, id: String::new(), t: None, fen, lines: vec![line] }).unwrap();
    writer.finish().unwrap();
    let refused = run(&folder, &[("evaluations", &path)], &values(&["reasoning_*"], 1)).err().unwrap();
    assert_eq!(refused.message, "no item could be built; dropped: incomplete 1");
    let named = run(&folder, &[("evaluations", &path)], &values(&["reasoning_best_move"], 1)).err().unwrap();
    assert_eq!(named.message, "reasoning_best_move has 0 of 1 items: `evaluations` has no more for it");
    let given = |names: &[&str]| {
        let defaults = Questions.parameters().into_iter().map(|spec| (spec.name.to_owned(), spec.default.unwrap()));
        Questions.check_inputs_for(&defaults.chain([("tasks".to_owned(), tasks(names))]).collect(), &["games"])
    };
    assert_eq!(
        given(&["reasoning_best_move"]).as_deref(),
        Some("is to build reasoning_best_move, and needs an input `evaluations` for it")
    );
}
