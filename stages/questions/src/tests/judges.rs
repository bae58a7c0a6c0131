//! Items of judges.

use std::collections::HashSet;

use cwm_answers::{Answer, AnswersWriter, PlayerSettings};
use cwm_contract::Label;
use cwm_reasoning::{JudgeReader, JudgeScores};
use serde_json::json;

use super::*;

/// Items of two tasks of Reasoning, and one of another.
fn reasoned(folder: &TempDir) -> PathBuf {
    let line = |task: &str, number: usize| {
        let item = json!({
            "task_id": format!("{task}_{number:04}"), "task_type": task, "task_category": "Reasoning",
            "input": "7k/8/8/8/8/8/P7/K7 w - - 0 1", "question": format!("Question {number}?"), "format_examples": [],
            "correct_answer": "a2a4", "answer_type": "graded", "metadata": {},
        });
        format!("{item}\n")
    };
    let of = |task: &'static str, count: usize| (0..count).map(move |number| line(task, number));
    let lines = of("reasoning_predict_move", 6).chain(of("reasoning_best_move", 3)).chain(of("other", 1));
    let path = folder.path().join("reasoned.jsonl");
    std::fs::write(&path, lines.collect::<String>()).unwrap();
    path
}

fn answer(task_id: &str, response: &str) -> Answer {
    Answer { task_id: task_id.to_owned(), response: Some(response.to_owned()), ..Answer::default() }
}

/// An answer to each of these items.
fn all_answers() -> Vec<Answer> {
    let of = |task: &'static str, count: usize| {
        (0..count).map(move |number| answer(&format!("{task}_{number:04}"), &format!("I think of {number}.")))
    };
    of("reasoning_predict_move", 6).chain(of("reasoning_best_move", 3)).chain(of("other", 1)).collect()
}

fn write(folder: &TempDir, file: &str, name: &str, answers: &[Answer]) -> PathBuf {
    let path = folder.path().join(file);
    let mut writer =
        AnswersWriter::create(&path, &PlayerSettings { name: name.to_owned(), ..PlayerSettings::default() }).unwrap();
    answers.iter().for_each(|answer| writer.push(answer.clone()).unwrap());
    writer.finish().unwrap();
    path
}

fn judging(folder: &TempDir, answers: &[(&str, PathBuf)], names: &[&str], per_task: i128) -> Trial {
    let mut trial = Trial::new(folder.path().join("run"))
        .input("items", reasoned(folder))
        .with("tasks", tasks(names))
        .with("per_task", Value::Int(per_task));
    for (label, path) in answers {
        trial = trial.labelled("answers", label.parse::<Label>().unwrap(), path);
    }
    trial
}

#[test]
fn every_answer_to_an_item_of_reasoning_is_judged() {
    let folder = tempfile::tempdir().unwrap();
    let mut before = all_answers();
    before[1].reasoning = Some("First a2a4.".to_owned());
    before[2].response = None;
    before[3].response = Some(" \n".to_owned());
    // Without a name, the run has that of its cell.
    let inputs = [
        ("before[data=a]", write(&folder, "before", "", &before)),
        ("after[data=a]", write(&folder, "after", "named", &all_answers())),
    ];
    let outcome = judging(&folder, &inputs, &["judge_*"], 100).run(&Questions).unwrap();
    let (found, counts) = (items(&outcome), counts(&outcome));
    assert_eq!(found.len(), 3 * (7 + 9), "{counts}");
    assert_eq!(counts["tasks"], json!({ "judge_claims": 16, "judge_quality": 16, "judge_strategies": 16 }));
    let dropped = json!({ "other_task": 2, "unanswered": 2 });
    assert_eq!(
        (&counts["sources"]["answers"]["dropped"], &counts["sources"]["answers"]["read"]),
        (&dropped, &json!(20))
    );
    let ids: HashSet<&str> = found.iter().map(|item| item.task_id.as_str()).collect();
    assert!(ids.len() == found.len() && ids.contains("judge_strategies_0015"));
    let of_run = |run: &str| found.iter().filter(|item| item.metadata.text("run") == Some(run)).count();
    assert_eq!((of_run("before[data=a]"), of_run("named")), (21, 27));
    let second = found.iter().find(|item| item.question.contains("\nFirst a2a4.\nI think of 1.\n")).unwrap();
    let text = |name: &str| second.metadata.text(name).unwrap();
    assert_eq!((text("of"), text("task")), ("reasoning_predict_move_0001", "reasoning_predict_move"));
    assert!(second.question.contains("Question 1?") && second.metadata.get("sample") == Some(&json!(0)));
    let quality = "<answer>{'efficacy': 1, 'efficiency': 2, 'faithfulness': 3}</answer>";
    assert_eq!(JudgeReader::new(&found[0]).unwrap().read(quality), Some(JudgeScores::Quality([1, 2, 3])));
}

/// The number of judged answers is bounded: the same items of each run.
#[test]
fn answers_of_a_run_and_task_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let mut reversed = all_answers();
    reversed.reverse();
    let inputs = [("a", write(&folder, "a", "a", &all_answers())), ("b", write(&folder, "b", "b", &reversed))];
    let of = |outcome: &Outcome, run: &str| -> Vec<String> {
        let found = items(outcome);
        let of_run = found.iter().filter(|item| item.metadata.text("run") == Some(run));
        of_run.map(|item| item.metadata.text("of").unwrap().to_owned()).collect()
    };
    let trial = || judging(&folder, &inputs, &["judge_quality"], 2);
    let outcome = trial().run(&Questions).unwrap();
    let drawn = of(&outcome, "a");
    assert_eq!((drawn.len(), &drawn), (4, &of(&outcome, "b")));
    let tasks = drawn.iter().filter(|id| id.starts_with("reasoning_best_move"));
    assert_eq!(tasks.count(), 2);
    let seeds: HashSet<Vec<String>> =
        (0..20).map(|seed| of(&trial().with("seed", Value::Int(seed)).run(&Questions).unwrap(), "a")).collect();
    assert!(seeds.len() > 5, "{seeds:?}");
    let first = of(&trial().with("order", text("file")).run(&Questions).unwrap(), "a");
    assert_eq!(first[..2], ["reasoning_predict_move_0000", "reasoning_predict_move_0001"]);
}

#[test]
fn several_answers_to_an_item_are_judged_each() {
    let folder = tempfile::tempdir().unwrap();
    let twice: Vec<Answer> = [0, 1]
        .into_iter()
        .flat_map(|sample| all_answers().into_iter().map(move |answer| Answer { sample: Some(sample), ..answer }))
        .collect();
    let inputs = [("a", write(&folder, "a", "a", &twice))];
    let found = items(&judging(&folder, &inputs, &["judge_quality"], 100).run(&Questions).unwrap());
    assert_eq!((found.len(), found[1].metadata.get("sample")), (18, Some(&json!(1))));
}

#[test]
fn answers_that_do_not_belong_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let message = |answers: &[(&str, PathBuf)]| {
        judging(&folder, answers, &["judge_quality"], 100).run(&Questions).err().unwrap().message
    };
    let stranger = write(&folder, "stranger", "a", &[answer("reasoning_predict_move_0009", "x")]);
    let found = message(&[("a", stranger)]);
    assert!(
        found.starts_with("the answers of a (")
            && found.ends_with("have reasoning_predict_move_0009 in row 0, which is no item"),
        "{found}"
    );
    let twice = write(&folder, "twice", "a", &[all_answers(), all_answers()].concat());
    let found = message(&[("a", twice)]);
    assert!(found.ends_with("have reasoning_predict_move_0000 with the sample 0 twice"), "{found}");
    let one = write(&folder, "one", "a", &all_answers());
    assert_eq!(message(&[("a", one.clone()), ("b", one)]), "the answers of b are of the run a, as others are");
    let silent = write(&folder, "silent", "a", &[answer("reasoning_predict_move_0000", "")]);
    assert_eq!(message(&[("a", silent)]), "no item could be built; dropped: unanswered 1");
    assert_eq!(message(&[]), "judges need the inputs `items` and `answers`");
}

#[test]
fn judges_need_items_and_answers() {
    let check = |names: &[&str], given: &[&str]| {
        let defaults = Questions.parameters().into_iter().map(|spec| (spec.name.to_owned(), spec.default.unwrap()));
        Questions.check_inputs_for(&defaults.chain([("tasks".to_owned(), tasks(names))]).collect(), given)
    };
    assert_eq!(check(&["judge_*"], &["items", "answers"]), None);
    let needs = "is to build judge_quality, and needs the inputs `items` and `answers` for it";
    assert_eq!(check(&["judge_*"], &["games"]).as_deref(), Some(needs));
    let unused = "has answers, but its `tasks` name none of a judge, such as `judge_*`";
    assert_eq!(check(&["*", "reasoning_*"], &["items", "answers", "evaluations"]).as_deref(), Some(unused));
    assert!(Questions.check_inputs(&["answers"]).is_some() && Questions.check_inputs(&["items"]).is_some());
    assert_eq!(Questions.check_inputs(&["items", "answers"]), None);
    let wants = |name: &str| crate::wanted::WantedTasks::new(&[name.to_owned()]).unwrap().has("judge_claims");
    assert!(wants("judge_*") && wants("judge_claims") && !wants("*") && !wants("reasoning_*"));
}
