//! The stage as a whole.

use std::io::Read;
use std::path::{Path, PathBuf};

use cwm_answers::{Answer, AnswersWriter, Grades, NOT_ASKED, PlayerSettings, Tallies};
use cwm_contract::testing::{Outcome, Trial, shared};
use cwm_contract::{Label, Value};

use crate::Grade;

mod faults;
mod golden;
mod graded;
mod judge_scores;
mod made;
mod replay;

/// The text of a golden file; none, with a note, if it is not there.
fn golden_text(name: &str) -> Option<String> {
    let mut file = std::fs::File::open(shared(&format!("systems/questions-golden/{name}"))?).unwrap();
    let mut text = String::new();
    match name.ends_with(".zst") {
        true => zstd::Decoder::new(file).unwrap().read_to_string(&mut text),
        false => file.read_to_string(&mut text),
    }
    .unwrap();
    Some(text)
}

fn write(path: &Path, run: &PlayerSettings, answers: &[Answer]) {
    let mut writer = AnswersWriter::create(path, run).unwrap();
    answers.iter().for_each(|answer| writer.push(answer.clone()).unwrap());
    writer.finish().unwrap();
}

fn run_of(name: &str) -> PlayerSettings {
    PlayerSettings { name: name.into(), max_tokens: Some(8_192), ..PlayerSettings::default() }
}

/// An item of a task whose answers are letters.
fn item(task_type: &str, number: usize) -> String {
    format!(
        concat!(
            r#"{{"task_id": "{0}_{1:04}", "task_type": "{0}", "task_category": "Semantic", "input": "fen {1}", "question": "", "#,
            r#""format_examples": ["A", "D"], "correct_answer": "B", "answer_type": "single", "#,
            r#""metadata": {{"options": ["a", "b", "c", "d"]}}}}"#,
            "\n"
        ),
        task_type, number
    )
}

/// An answer of that letter.
fn answer(task_type: &str, number: usize, letter: &str) -> Answer {
    Answer {
        task_id: format!("{task_type}_{number:04}"),
        response: Some(format!("FINAL ANSWER: {letter}")),
        ..Answer::default()
    }
}

const KEYWORD: &str = "semantic_keyword";
const RANDOM: &str = "semantic_easy_random";

/// Ten items of two tasks each.
fn twenty_items(folder: &Path) -> PathBuf {
    let path = folder.join("items.jsonl");
    let lines: String = [KEYWORD, RANDOM].iter().flat_map(|task| (0..10).map(|number| item(task, number))).collect();
    std::fs::write(&path, lines).unwrap();
    path
}

/// Answers to them of which the first ones of each task are right.
fn twenty_answers(right: usize) -> Vec<Answer> {
    let of =
        |task: &'static str| (0..10).map(move |number| answer(task, number, if number < right { "B" } else { "C" }));
    of(KEYWORD).chain(of(RANDOM)).collect()
}

/// A trial on the twenty items and these answers.
fn trial(folder: &Path, answers: &[(&str, PlayerSettings, Vec<Answer>)]) -> Trial {
    let mut trial = Trial::new(folder.join("work")).with("resamples", Value::Int(200)).labelled(
        "items",
        Label::stage("items"),
        twenty_items(folder),
    );
    for (label, run, rows) in answers {
        let path = folder.join(label);
        write(&path, run, rows);
        trial = trial.labelled("answers", label.parse().unwrap(), path);
    }
    trial
}

fn tallies(outcome: &Outcome) -> Tallies {
    Tallies::read(&outcome.outputs["tallies"]).unwrap()
}

fn message(trial: Trial) -> String {
    trial.run(&Grade).err().unwrap().message
}

fn all_bytes(outcome: &Outcome) -> Vec<Vec<u8>> {
    let read = |path: PathBuf| std::fs::read(path).unwrap();
    let names = ["overall", "categories", "tasks", "pairs", "items", "measures"];
    let tallies = names.map(|name| read(outcome.outputs["tallies"].join(format!("{name}.parquet"))));
    [read(outcome.outputs["grades"].clone())].into_iter().chain(tallies).collect()
}
