//! Answers of judges.

use cwm_answers::{Grade as GradeRow, Measure};
use cwm_questions::{AnswerType, Item, Metadata, write_line};
use cwm_reasoning::{JudgeTask, JudgedOutput, judge_item};

use super::*;

const PREDICT: &str = "reasoning_predict_move";

const RUNS: [&str; 2] = ["after[data=a]", "before[data=a]"];

/// An item of each of these tasks about the answers of both runs to this many items, two samples each.
fn items(folder: &Path, tasks: &[JudgeTask], count: usize) -> PathBuf {
    let mut lines = Vec::new();
    for task in tasks {
        let mut number = 0;
        for run in RUNS {
            for at in 0..count {
                let of = Item {
                    task_id: format!("{PREDICT}_{at:04}"),
                    task_type: PREDICT.into(),
                    task_category: "Reasoning".into(),
                    input: "7k/8/8/8/8/8/P7/K7 w - - 0 1".into(),
                    question: "Find a good move.".into(),
                    format_examples: Vec::new(),
                    correct_answer: "a2a4".into(),
                    answer_type: AnswerType::Graded,
                    metadata: Metadata::default(),
                };
                for sample in 0..2 {
                    let about = JudgedOutput { item: &of, run, sample, output: "I play a2a4, or a2a3." };
                    let item = Item { task_id: format!("{task}_{number:04}"), ..judge_item(*task, &about) };
                    write_line(&mut lines, &item).unwrap();
                    number += 1;
                }
            }
        }
    }
    let path = folder.join("judged.jsonl");
    std::fs::write(&path, lines).unwrap();
    path
}

fn answered(task: JudgeTask, number: usize, sample: u64, text: &str) -> Answer {
    let response = Some(format!("Well. <answer>{text}</answer>"));
    Answer { task_id: format!("{task}_{number:04}"), sample: Some(sample), response, ..Answer::default() }
}

fn points(all: u64) -> String {
    format!("{{'efficacy': {all}, 'efficiency': {all}, 'faithfulness': 10}}")
}

fn trial(folder: &Path, items: PathBuf, answers: &[Answer]) -> Trial {
    let path = folder.join("judge");
    write(&path, &run_of("judge"), answers);
    Trial::new(folder.join("work")).with("resamples", Value::Int(200)).input("items", items).labelled(
        "answers",
        Label::stage("judge"),
        path,
    )
}

fn grades(outcome: &Outcome) -> Vec<GradeRow> {
    Grades::open(&outcome.outputs["grades"]).unwrap().map(Result::unwrap).collect()
}

fn measure<'m>(measures: &'m [Measure], run: &str, name: &str) -> Option<&'m Measure> {
    measures.iter().find(|row| row.run == run && row.measure == name)
}

/// Eight answers of two runs are judged for quality. Each item has two samples: the first that can be read counts.
#[test]
fn a_judged_run_has_the_measures() {
    let folder = tempfile::tempdir().unwrap();
    let mut answers = Vec::new();
    for number in 0..8 {
        // The first run gets 2, 3, 4 and 5 points. The first answer about the other one cannot be read.
        let texts = match number {
            0..4 => [points(number + 2), points(1)],
            4 => ["{}".to_owned(), points(11)],
            5 => ["no".to_owned(), points(6)],
            _ => [points(8), "no".to_owned()],
        };
        let both = (0..).zip(texts).map(|(sample, text)| answered(JudgeTask::Quality, number as usize, sample, &text));
        answers.extend(both);
    }
    let items = items(folder.path(), &[JudgeTask::Quality], 2);
    let outcome = trial(folder.path(), items, &answers).run(&Grade).unwrap();
    let grades = grades(&outcome);
    assert_eq!((grades.len(), grades[0].run.as_str(), grades[0].category.as_str()), (16, "judge", "Judges"));
    assert_eq!((grades[0].verdict.as_str(), grades[0].correct, grades[0].reward), ("judged", true, None));
    assert!((grades[0].score.unwrap() - 14. / 30.).abs() < 1e-12, "{:?}", grades[0]);
    assert_eq!(grades[0].extracted.as_deref(), Some("efficacy 2, efficiency 2, faithfulness 10"));
    assert_eq!(
        (grades[8].verdict.as_str(), grades[8].correct, grades[8].sound, grades[8].score),
        ("judge_failed", false, None, None)
    );
    let tallies = tallies(&outcome);
    assert_eq!((tallies.overall[0].items, tallies.overall[0].correct, tallies.overall[0].format_error), (16, 11, 5));
    assert_eq!(tallies.measures.len(), 8, "{:?}", tallies.measures);
    assert!(tallies.measures.iter().all(|row| row.task == PREDICT && row.low.unwrap() <= row.high.unwrap()));
    let value = |run, name| measure(&tallies.measures, run, name).map(|row| (row.n, row.value));
    let near = |found: Option<(u64, f64)>, n, expected: f64| {
        let (count, value) = found.unwrap();
        assert!(count == n && (value - expected).abs() < 1e-12, "{found:?}");
    };
    near(value(RUNS[0], "efficacy"), 4, 0.35);
    near(value(RUNS[0], "faithfulness"), 4, 1.0);
    near(value(RUNS[0], "quality"), 4, (0.35 + 0.35 + 1.0) / 3.0);
    // 6, 8 and 8 points; one answer has no judgement.
    near(value(RUNS[1], "efficiency"), 3, 22. / 30.);
    assert_eq!(value("judge", "efficacy"), None);
    // An item is drawn with both of its samples: the means of the two items are 2.5 and 4.5 points.
    let row = measure(&tallies.measures, RUNS[0], "efficacy").unwrap();
    let ends = [row.low.unwrap(), row.high.unwrap()];
    assert!((ends[0] - 0.25).abs() < 1e-12 && (ends[1] - 0.45).abs() < 1e-12, "{row:?}");
}

#[test]
fn strategies_and_claims_are_verified() {
    let folder = tempfile::tempdir().unwrap();
    let strategies = "{'enumeration': 'I play a2a4, or', 'tree_search': 'then he replies', 'backtracking': None, \
                      'self_correction': None, 'subgoal_setting': None, 'verification': 'a2a3.'}";
    let claims = "{'moves': ['a2a4', 'a2a5'], 'pieces': ['white pawn on a2']}";
    let tasks = [JudgeTask::Strategies, JudgeTask::Claims];
    let answers: Vec<Answer> = (0..4)
        .flat_map(|at| tasks.into_iter().zip([strategies, claims]).map(move |(task, text)| answered(task, at, 0, text)))
        .collect();
    let outcome = trial(folder.path(), items(folder.path(), &tasks, 1), &answers).run(&Grade).unwrap();
    let grades = grades(&outcome);
    let shown = |at: usize| (grades[at].extracted.clone().unwrap(), grades[at].score.unwrap());
    assert_eq!(shown(0), ("enumeration, verification".to_owned(), 2. / 6.));
    assert_eq!(shown(4), ("2 of 3 claims are true".to_owned(), 2. / 3.));
    let tallies = tallies(&outcome);
    let value = |name| measure(&tallies.measures, RUNS[1], name).map(|row| (row.n, row.value));
    assert_eq!(value("strategy_enumeration"), Some((2, 1.0)));
    assert_eq!(value("strategy_tree_search"), Some((2, 0.0)), "the text has no such words");
    assert_eq!(value("judged_accuracy"), Some((6, 2. / 3.)));
    assert_eq!(tallies.measures.len(), 2 * 7);
}

#[test]
fn items_of_judges_have_one_judge() {
    let folder = tempfile::tempdir().unwrap();
    let answers: Vec<Answer> = (0..4).map(|number| answered(JudgeTask::Quality, number, 0, &points(3))).collect();
    let items = items(folder.path(), &[JudgeTask::Quality], 1);
    let other = folder.path().join("other");
    write(&other, &run_of("other"), &answers);
    let trial = trial(folder.path(), items, &answers).labelled("answers", Label::stage("second"), other);
    assert_eq!(message(trial), "items of judges have one judge, but there are answers of judge, second");
}
