//! The probe: a few answers to items of three tasks, with rewards that pass and that do not.

use cwm_answers::{Answer, AnswersWriter, Grade, GradesDescription, GradesWriter, PlayerSettings};
use cwm_contract::{Failure, Label, ProbeContext, ProbeOutput, Value};
use cwm_questions::{AnswerType, Item, Metadata, write_line};
use cwm_reasoning::{AnswerVerdict, CATEGORY, ReasoningTask};

use crate::Keep;

/// Items of the probe.
const ITEMS: usize = 12;

/// Runs `keep` with the thresholds of the parameters on answers that it makes up.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let [items, answers, grades] =
        ["items.jsonl", "answers.parquet", "grades.parquet"].map(|name| context.folder().join(name));
    let run = PlayerSettings { name: "probe".to_owned(), ..PlayerSettings::default() };
    let mut item_lines = Vec::new();
    let mut answer_rows = AnswersWriter::create(&answers, &run)?;
    let runs = [(run.name.clone(), run.clone())].into();
    let mut grade_rows = GradesWriter::create(&grades, &GradesDescription { runs, ..GradesDescription::default() })?;
    for number in 0..ITEMS {
        let item = item(number);
        write_line(&mut item_lines, &item)?;
        for sample in 0..2 {
            let reward = (number * 2 + sample as usize) as f64 / (2 * ITEMS) as f64;
            let verdict = if reward > 0.5 { AnswerVerdict::Right } else { AnswerVerdict::Wrong };
            answer_rows.push(Answer {
                task_id: item.task_id.clone(),
                sample: Some(sample),
                response: Some(format!("<answer>{sample}</answer>")),
                ..Answer::default()
            })?;
            grade_rows.push(Grade {
                run: run.name.clone(),
                task_id: item.task_id.clone(),
                sample,
                verdict: verdict.name().to_owned(),
                reward: Some(reward),
                ..Grade::default()
            })?;
        }
    }
    answer_rows.finish()?;
    grade_rows.finish()?;
    fs_err::write(&items, item_lines)?;
    let limit =
        context.values().get("limit").filter(|limit| **limit != Value::Null).map(|_| context.at_most("limit", 5));
    let values = context.values_with([("limit", limit.unwrap_or_default())]);
    let inputs = [("items", items), ("answers", answers), ("grades", grades)];
    context.run(&Keep, "run", &values, &inputs.map(|(name, path)| (name, Label::stage(name), path)))
}

fn item(number: usize) -> Item {
    let task = ReasoningTask::ALL[number % 4];
    let mut metadata = Metadata::default();
    metadata.insert("system", "s");
    metadata.insert("piece", ["white king", "white rook"][number % 2]);
    Item {
        task_id: format!("{}_{number:04}", task.name()),
        task_type: task.name().to_owned(),
        task_category: CATEGORY.to_owned(),
        input: format!("4k3/8/8/8/8/8/8/R3K3 w - - 0 {}", 1 + 5 * number),
        question: "?".to_owned(),
        format_examples: Vec::new(),
        correct_answer: String::new(),
        answer_type: AnswerType::Graded,
        metadata,
    }
}
