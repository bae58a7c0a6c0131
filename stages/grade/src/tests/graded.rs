//! Graded items.

use cwm_answers::{Grade as GradeRow, Measure};
use cwm_contract::Stage;
use serde_json::json;

use super::*;

/// A king in the corner behind his pawn: four legal moves.
const FEN: &str = "7k/8/8/8/8/8/P7/K7 w - - 0 1";

/// An item of each task.
fn items(folder: &Path) -> PathBuf {
    let candidates = json!({ "candidates": ["a2a4", "a2a3", "a1b1"] });
    let values = json!({ "values": { "a1b1": 0.2, "a1b2": 0.6, "a2a3": 0.5, "a2a4": 0.7 } });
    let lines: String = [
        ("predict_move", "a2a4", values),
        ("best_move", "a2a4", candidates.clone()),
        ("worst_move", "a1b1", candidates),
        ("legal_moves", "a2a3, a2a4", json!({})),
    ]
    .into_iter()
    .map(|(task, key, metadata)| {
        let item = json!({
            "task_id": format!("reasoning_{task}_0000"), "task_type": format!("reasoning_{task}"), "task_category": "Reasoning",
            "input": FEN, "question": "", "format_examples": [], "correct_answer": key, "answer_type": "graded",
            "metadata": metadata,
        });
        format!("{item}\n")
    })
    .collect();
    let path = folder.join("items.jsonl");
    std::fs::write(&path, lines).unwrap();
    path
}

fn answered(task: &str, sample: Option<u64>, response: &str) -> Answer {
    let task_id = format!("reasoning_{task}_0000");
    Answer { task_id, sample, response: Some(response.to_owned()), ..Answer::default() }
}

fn trial(folder: &Path, answers: &[Answer]) -> Trial {
    let path = folder.join("answers");
    write(&path, &run_of("x"), answers);
    Trial::new(folder.join("work")).with("resamples", Value::Int(200)).input("items", items(folder)).labelled(
        "answers",
        Label::stage("made"),
        path,
    )
}

fn answers() -> Vec<Answer> {
    vec![
        answered("predict_move", None, "The pawn on a2 and the rook on a1: a2a3 or a1b2. <answer>a1b2</answer>"),
        answered("best_move", None, "<answer> a2a4 </answer>"),
        answered("worst_move", None, "a1b1"),
        answered("legal_moves", None, "<answer>['a2a4', 'a2a5']</answer>"),
    ]
}

fn grades(outcome: &Outcome) -> Vec<GradeRow> {
    Grades::open(&outcome.outputs["grades"]).unwrap().map(Result::unwrap).collect()
}

fn measure<'m>(measures: &'m [Measure], task: &str, name: &str) -> Option<&'m Measure> {
    measures.iter().find(|row| row.task == format!("reasoning_{task}") && row.measure == name)
}

#[test]
fn graded_answers_have_verdicts_rewards_and_claims() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = trial(folder.path(), &answers()).run(&Grade).unwrap();
    let [legal, right, unreadable, scored] = &grades(&outcome)[..] else { panic!() };
    assert_eq!((legal.verdict.as_str(), legal.correct, legal.sound), ("legal", false, Some(false)));
    assert!((legal.reward.unwrap() - 0.8).abs() < 1e-12, "{legal:?}");
    assert!((legal.rank.unwrap() - 2.0 / 3.0).abs() < 1e-12, "{legal:?}");
    assert!((legal.win_loss.unwrap() - 0.1).abs() < 1e-12, "{legal:?}");
    assert_eq!(
        (legal.move_claims, legal.true_move_claims, legal.grounded, legal.last),
        (Some(2), Some(2), Some(true), Some(true))
    );
    assert_eq!((legal.piece_claims, legal.true_piece_claims, legal.trivial), (Some(2), Some(1), Some(false)));
    assert_eq!((right.verdict.as_str(), right.reward, right.correct, right.rank), ("right", Some(1.0), true, None));
    assert_eq!((unreadable.verdict.as_str(), unreadable.reward, unreadable.sound), ("unreadable", Some(-0.2), None));
    assert_eq!((scored.extracted.as_deref(), scored.score), (Some("a2a4, a2a5"), Some(1.0 / 3.0)));
    let tallies = tallies(&outcome);
    let overall = &tallies.overall[0];
    assert_eq!((overall.correct, overall.format_error, overall.wrong_answer, overall.unread), (1, 1, 2, 1));
    assert_eq!(tallies.items.iter().map(|task| task.chance).collect::<Vec<_>>(), [0.25, 1.0 / 3.0, 1.0 / 3.0, 0.0]);
    let value = |task: &str, name: &str| measure(&tallies.measures, task, name).map(|row| (row.n, row.value));
    assert_eq!(value("predict_move", "legal"), Some((1, 1.0)));
    assert_eq!(value("predict_move", "rank_6"), Some((1, 1.0)));
    assert_eq!(value("predict_move", "pieces_accuracy"), Some((2, 0.5)));
    assert_eq!(value("predict_move", "distinct"), Some((1, 1.0)));
    assert_eq!(value("worst_move", "readable"), Some((1, 0.0)));
    assert_eq!(value("worst_move", "referenced_accuracy"), Some((1, 1.0)));
    assert_eq!(value("legal_moves", "referenced_accuracy"), None, "there is no claim");
}

#[test]
fn reading_cut_scaling_and_claims_are_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let with =
        |name: &str, value: Value| grades(&trial(folder.path(), &answers()).with(name, value).run(&Grade).unwrap());
    let text = |text: &str| Value::Text(text.to_owned());
    assert_eq!(with("reading", text("lenient"))[2].verdict, "right");
    assert_eq!(with("cut", Value::Float(0.9))[0].reward, Some(0.0));
    let linear = with("scaling", text("linear"))[0].reward.unwrap();
    assert!((linear - 2.0 / 3.0).abs() < 1e-12, "{linear}");
    let none = &with("claims", text("none"))[0];
    assert_eq!((none.move_claims, none.grounded), (None, None));
    let found = message(trial(folder.path(), &answers()).with("cut", Value::Float(1.5)));
    assert_eq!(found, "parameter `cut` must lie between 0 and 1");
}

#[test]
fn results_from_before_graded_items_keep_their_keys() {
    let unused = |others: &[(&str, Value)]| {
        let defaults = Grade.parameters().into_iter().map(|spec| (spec.name.to_owned(), spec.default.unwrap()));
        let others = others.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        Grade.unused_parameters(&defaults.chain(others).collect())
    };
    assert_eq!(unused(&[]), ["reading", "claims", "cut", "scaling"]);
    let text = |text: &str| Value::Text(text.to_owned());
    let others = [("reading", text("lenient")), ("claims", text("none")), ("cut", Value::Float(0.0))];
    assert_eq!(unused(&others), ["scaling"]);
    assert!(unused(&[("scaling", text("linear"))]).iter().all(|name| *name != "scaling"));
}

#[test]
fn several_answers_to_an_item_count_together() {
    let folder = tempfile::tempdir().unwrap();
    let both: Vec<Answer> = (0..2)
        .rev()
        .flat_map(|sample| answers().into_iter().map(move |answer| Answer { sample: Some(sample), ..answer }))
        .collect();
    let mut changed = both.clone();
    changed[0].response = Some("<answer>a2a4</answer>".to_owned());
    let outcome = trial(folder.path(), &changed).run(&Grade).unwrap();
    let samples: Vec<(u64, String)> =
        grades(&outcome).iter().map(|grade| (grade.sample, grade.extracted.clone().unwrap_or_default())).collect();
    assert_eq!(samples[..2], [(0, "a1b2".to_owned()), (1, "a2a4".to_owned())]);
    let tallies = tallies(&outcome);
    assert_eq!((tallies.overall[0].items, tallies.overall[0].correct, tallies.overall[0].accuracy), (8, 3, 0.375));
    let reward = measure(&tallies.measures, "predict_move", "reward").unwrap();
    assert_eq!(reward.n, 2);
    assert!((reward.value - 0.9).abs() < 1e-12, "{reward:?}");
    assert_eq!(measure(&tallies.measures, "predict_move", "distinct").unwrap().value, 1.0);
    let found = message(trial(folder.path(), &[&both[..], &both[..1]].concat()));
    assert!(
        found.contains("have reasoning_predict_move_0000 with the sample 1 twice: in row 0 and in row 8"),
        "{found}"
    );
    let found = message(trial(folder.path(), &both[..7]));
    assert!(
        found.contains("have 2 rows of reasoning_predict_move_0000, and 1 of reasoning_legal_moves_0000"),
        "{found}"
    );
}

#[test]
fn reasoning_that_the_server_sends_apart_can_claim() {
    let folder = tempfile::tempdir().unwrap();
    let mut answers = answers();
    (answers[0].reasoning, answers[0].response) = (Some("a2a4!".to_owned()), Some("<answer>a2a4</answer>".to_owned()));
    let grade = &grades(&trial(folder.path(), &answers).run(&Grade).unwrap())[0];
    assert_eq!((grade.reward, grade.move_claims, grade.grounded), (Some(1.0), Some(1), Some(true)));
}

/// The intervals of means over 400 items are those of theory: the deviation of a share is sqrt(p (1 - p) / n).
#[test]
fn intervals_are_as_wide_as_the_theory_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let line = std::fs::read_to_string(items(folder.path())).unwrap();
    let line = line.lines().nth(1).unwrap();
    let many: String =
        (0..400).map(|number| format!("{}\n", line.replace("_0000", &format!("_{number:04}")))).collect();
    let path = folder.path().join("many.jsonl");
    std::fs::write(&path, many).unwrap();
    let answer = |number: usize| Answer {
        task_id: format!("reasoning_best_move_{number:04}"),
        response: Some(format!("<answer>{}</answer>", ["a2a4", "a2a3"][number % 2])),
        ..Answer::default()
    };
    let answered = folder.path().join("answered");
    write(&answered, &run_of("x"), &(0..400).map(answer).collect::<Vec<_>>());
    let trial = Trial::new(folder.path().join("work")).input("items", path).input("answers", answered);
    let tallies = tallies(&trial.run(&Grade).unwrap());
    let row = measure(&tallies.measures, "best_move", "accuracy").unwrap();
    let width = row.high.unwrap() - row.low.unwrap();
    assert!((width - 2.0 * 1.96 * 0.025).abs() < 0.015, "{row:?}");
    assert_eq!(
        (row.value, row.low, row.high),
        (tallies.tasks[0].accuracy, Some(tallies.tasks[0].low), Some(tallies.tasks[0].high))
    );
}

#[test]
fn graded_items_that_cannot_be_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = items(folder.path());
    let text = std::fs::read_to_string(&path).unwrap().replace("\"a1b1\":0.2,", "");
    let broken = folder.path().join("broken.jsonl");
    std::fs::write(&broken, text).unwrap();
    let answered = folder.path().join("answered");
    write(&answered, &run_of("x"), &answers());
    let found = message(Trial::new(folder.path().join("work")).input("items", broken).input("answers", answered));
    assert_eq!(found, "reasoning_predict_move_0000: its `values` lack the legal move a1b1");
}
