//! The answers that the authors published, and what the paper prints of them.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value as Json, json};

use super::*;

/// The rows of a file as JSON objects of their columns of texts, numbers, and lists of these.
fn rows(name: &str) -> Option<Vec<BTreeMap<String, Json>>> {
    let file = std::fs::File::open(shared(&format!("systems/reasoning-golden/{name}"))?).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let batches: Vec<RecordBatch> = reader.collect::<Result<_, _>>().unwrap();
    let of_batch = |batch: &RecordBatch| {
        let schema = batch.schema();
        let row = |row| {
            let columns = schema.fields().iter().map(|field| field.name().clone()).zip(batch.columns());
            columns.map(|(name, column)| (name, value(column, row))).collect()
        };
        (0..batch.num_rows()).map(row).collect::<Vec<_>>()
    };
    Some(batches.iter().flat_map(of_batch).collect())
}

fn value(column: &dyn Array, row: usize) -> Json {
    if column.is_null(row) {
        return Json::Null;
    }
    if let Some(texts) = column.as_string_opt::<i32>() {
        return texts.value(row).into();
    }
    if let Some(numbers) = column.as_primitive_opt::<Float64Type>() {
        return numbers.value(row).into();
    }
    column.as_list_opt::<i32>().map_or(Json::Null, |list| {
        let list = list.value(row);
        (0..list.len()).map(|at| value(&list, at)).collect()
    })
}

/// The published item as one of ours.
fn item(row: &BTreeMap<String, Json>) -> String {
    let task = format!("reasoning_{}", row["task"].as_str().unwrap());
    let texts = |name: &str| -> Vec<String> {
        row[name].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let values = texts("moves").into_iter().zip(row["win"].as_array().unwrap().iter().cloned());
    let metadata = match task.as_str() {
        "reasoning_predict_move" => json!({ "values": values.collect::<BTreeMap<String, Json>>() }),
        "reasoning_legal_moves" => json!({}),
        _ => json!({ "candidates": row["candidates"] }),
    };
    let item = json!({
        "task_id": row["item"], "task_type": task, "task_category": "Reasoning", "input": row["fen"], "question": "",
        "format_examples": [], "correct_answer": texts("answer").join(", "), "answer_type": "graded", "metadata": metadata,
    });
    format!("{item}\n")
}

/// The published items, and the published answers of each run.
fn replay(folder: &Path) -> Option<(Trial, Vec<BTreeMap<String, Json>>)> {
    let (items, answers) = (rows("replay-items.parquet")?, rows("replay-answers.parquet")?);
    let path = folder.join("items.jsonl");
    std::fs::write(&path, items.iter().map(item).collect::<String>()).unwrap();
    let mut of_runs: BTreeMap<String, Vec<Answer>> = BTreeMap::new();
    for row in &answers {
        of_runs.entry(run_name(row)).or_default().push(Answer {
            task_id: row["item"].as_str().unwrap().to_owned(),
            response: row["answer"].as_str().map(|answer| format!("<answer>{answer}</answer>")),
            ..Answer::default()
        });
    }
    let mut trial = Trial::new(folder.join("work")).with("resamples", Value::Int(100)).input("items", path);
    for (name, answers) in of_runs {
        let path = folder.join(&name);
        write(&path, &run_of(&name), &answers);
        trial = trial.labelled("answers", Label::stage(&name), path);
    }
    Some((trial, answers))
}

fn run_name(row: &BTreeMap<String, Json>) -> String {
    format!("{}_{}", row["model"].as_str().unwrap(), row["phase"].as_str().unwrap())
}

#[test]
fn published_answers_have_their_published_verdicts_and_measures() {
    let folder = tempfile::tempdir().unwrap();
    let Some((trial, answers)) = replay(folder.path()) else { return };
    let outcome = trial.run(&Grade).unwrap();
    let grades: BTreeMap<(String, String), cwm_answers::Grade> = Grades::open(&outcome.outputs["grades"])
        .unwrap()
        .map(|grade| grade.map(|grade| ((grade.run.clone(), grade.task_id.clone()), grade)).unwrap())
        .collect();
    assert_eq!((grades.len(), answers.len()), (40_000, 40_000));
    for row in &answers {
        let grade = &grades[&(run_name(row), row["item"].as_str().unwrap().to_owned())];
        let place = format!("{} {}", grade.run, grade.task_id);
        assert_eq!(grade.verdict, row["verdict"].as_str().unwrap(), "{place}");
        assert!((grade.reward.unwrap() - row["reward"].as_f64().unwrap()).abs() < 1e-12, "{place}");
        assert_eq!(grade.score.is_some(), !row["score"].is_null(), "{place}");
        let score = grade.score.unwrap_or_default() - row["score"].as_f64().unwrap_or_default();
        assert!(score.abs() < 1e-12, "{place}");
    }
    let measures = tallies(&outcome).measures;
    assert_eq!(printed(&measures), 144);
    assert!(measures.iter().all(|row| row.low.is_none_or(|low| low <= row.value + 1e-12)), "{measures:?}");
}

/// Compares the measures with those of the golden table. Returns how many of them round to what the paper prints of the
/// trained models.
fn printed(measures: &[cwm_answers::Measure]) -> usize {
    let text = std::fs::read_to_string(shared("systems/reasoning-golden/replay-tables.csv").unwrap()).unwrap();
    let mut printed = 0;
    for line in text.lines().skip(1) {
        let [model, phase, golden, value, shown, _] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let (task, measure, unit) = match golden {
            "predict_legal" => ("predict_move", "legal", 100.0),
            "predict_rank" => ("predict_move", "rank", 1.0),
            "trivial" => ("predict_move", "trivial", 100.0),
            "best_accuracy" => ("best_move", "accuracy", 100.0),
            "worst_accuracy" => ("worst_move", "accuracy", 100.0),
            "legal_iou" => ("legal_moves", "iou", 1.0),
            "legal_iou_all" => ("legal_moves", "iou_all", 1.0),
            // Claims need the whole texts.
            _ => continue,
        };
        let (run, task) = (format!("{model}_{phase}"), format!("reasoning_{task}"));
        let row = measures.iter().find(|row| row.run == run && row.task == task && row.measure == measure);
        let found = row.unwrap_or_else(|| panic!("{line}")).value * unit;
        assert!((found - value.parse::<f64>().unwrap()).abs() < 6e-7, "{line}: {found}");
        let digits = shown.split_once('.').map_or(0, |(_, digits)| digits.len());
        let scale = 10_f64.powi(digits as i32);
        let rounds = !shown.is_empty()
            && (found * scale + 0.5 + 1e-9).floor() == (shown.parse::<f64>().unwrap() * scale).round();
        printed += usize::from(rounds && !phase.is_empty());
    }
    printed
}
