//! The published items and the measures of the published answers, beside the paper's numbers.

use std::path::PathBuf;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use cwm_answers::{AnswersWriter, GradesWriter};
use cwm_contract::testing::shared;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::json;

use super::*;

/// The published items, as lines.
fn items(file: PathBuf) -> String {
    let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(file).unwrap()).unwrap();
    let mut lines = String::new();
    for batch in reader.build().unwrap() {
        let batch: RecordBatch = batch.unwrap();
        let text = |name: &str, row| batch[name].as_string::<i32>().value(row).to_owned();
        let list = |name: &str, row: usize| batch[name].as_list::<i32>().value(row);
        let texts = |name: &str, row: usize| -> Vec<String> {
            list(name, row).as_string::<i32>().iter().map(|text| text.unwrap().to_owned()).collect()
        };
        for row in 0..batch.num_rows() {
            let win = list("win", row);
            let win = win.as_primitive::<Float64Type>().values();
            let most = win.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let best = texts("moves", row).into_iter().zip(win).filter(|(_, win)| **win == most).map(|(uci, _)| uci);
            let answer: Vec<String> = if win.is_empty() { texts("answer", row) } else { best.collect() };
            let item = json!({
                "task_id": format!("reasoning_{}", text("item", row)), "task_type": format!("reasoning_{}", text("task", row)),
                "task_category": "Reasoning", "input": text("fen", row), "question": "", "format_examples": [],
                "correct_answer": answer.join(", "), "answer_type": "graded", "metadata": {},
            });
            lines += &format!("{item}\n");
        }
    }
    lines
}

/// Measures of the published answers, as an independent program computed them.
fn published(table: &str) -> Vec<Measure> {
    let row = |line: &str| {
        let [model, phase, name, value, ..] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let run = if phase.is_empty() { model.to_owned() } else { format!("answers[model={model},phase={phase}]") };
        let (task, name) = match name {
            "best_accuracy" => (BEST, "accuracy"),
            "worst_accuracy" => (WORST, "accuracy"),
            "legal_iou" => (LEGAL, "iou"),
            "legal_iou_all" => (LEGAL, "iou_all"),
            name => (PREDICT, name.strip_prefix("predict_").unwrap_or(name)),
        };
        // The file has percent, and scores.
        let is_score = ["rank", "iou", "iou_all"].contains(&name);
        let value: f64 = value.parse().unwrap();
        measure(&run, task, name, if is_score { value } else { value / 100.0 })
    };
    table.lines().skip(1).map(row).collect()
}

#[test]
fn the_published_answers_give_the_papers_tables() {
    let Some(golden) = shared("systems/reasoning-golden") else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("items");
    std::fs::write(&file, items(golden.join("replay-items.parquet"))).unwrap();
    let table = std::fs::read_to_string(golden.join("replay-tables.csv")).unwrap();
    let tallies = tallies_of(published(&table));
    let empty = [folder.path().join("grades"), folder.path().join("answers")];
    GradesWriter::create(&empty[0], &GradesDescription::default()).unwrap().finish().unwrap();
    AnswersWriter::create(&empty[1], &PlayerSettings::default()).unwrap().finish().unwrap();
    let trial = trial_of(folder.path(), &tallies).input("items", file).input("grades", &empty[0]);
    let report = run(trial.input("answers", &empty[1])).unwrap();
    assert!(!read(&report, "index.html").contains("Not all items are the published ones"));
    // By column how far what was printed may be from what it was rounded from.
    let columns = [
        ("table-1", "legal_percent", 0.5),
        ("table-1", "average_rank", 0.005),
        ("table-1", "trivial_percent", 0.5),
        ("table-2", "legal_moves_iou", 0.005),
        ("table-2", "best_move_percent", 0.5),
        ("table-2", "worst_move_percent", 0.5),
    ];
    let mut compared = 0;
    for (name, column, within) in columns {
        let csv = read(&report, &format!("tables/reasoning-{name}.csv"));
        let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
        for phase in ["sft", "rl"] {
            let key = format!("{column}_{phase}");
            let at =
                header.iter().position(|name| *name == key).unwrap_or_else(|| panic!("{key} is not in {header:?}"));
            for line in lines(&csv, "difference,sft") {
                let difference: f64 = line.split(',').nth(at).unwrap().parse().unwrap();
                assert!(difference.abs() <= within + 1e-6, "{key}: {line}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 144);
    for (name, point) in [
        ("models", "sft8_sft9_xl RL, paper: 83.00 %"),
        ("models", "llama_4_maverick, paper: 62.00 %"),
        ("data-sets", "sft6_bm SFT, paper: 64.00 %"),
        ("claims", "sft6_bm RL, paper: 86.00 %"),
    ] {
        let points = read(&report, &format!("figures/reasoning-{name}.csv"));
        assert!(points.contains(point), "{point} is not in {points}");
    }
    // Other outputs were published than those that the paper's row of this model is of; the row is compared as well.
    let table_1 = read(&report, "tables/reasoning-table-1.csv");
    assert_eq!(lines(&table_1, "difference,llama_4_maverick,").len(), 1, "{table_1}");
    assert_eq!(lines(&table_1, "paper (not run here)").len(), 2, "{table_1}");
}
