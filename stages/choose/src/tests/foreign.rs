use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use cwm_choices::{ChoicesWriter, Correctness};
use parquet::arrow::ArrowWriter;

use super::*;

impl Bench {
    fn choices(&self, rows: impl IntoIterator<Item = Choice>) {
        let mut writer = ChoicesWriter::create(&self.path("choices"), &Chooser::default()).unwrap();
        rows.into_iter().for_each(|row| writer.push(row).unwrap());
        writer.finish().unwrap();
    }
}

fn row(record: u64, text: impl Into<String>) -> Choice {
    Choice { record, text: text.into(), ..Choice::default() }
}

fn best_texts() -> Vec<String> {
    short_games().iter().flat_map(|game| game.iter().step_by(7)).map(PlainMove::to_string).collect()
}

#[test]
fn labels_as_answers_are_all_valid_legal_and_best() {
    let bench = Bench::new();
    let mut answers: Vec<Choice> = (0..).zip(best_texts()).map(|(record, text)| row(record, text)).collect();
    // In any order.
    answers.reverse();
    bench.choices(answers);
    let outcome = bench.run_with(2, &[named("labels")]).unwrap();
    let (chooser, rows) = rows(&outcome);
    assert_eq!((chooser.arm().as_str(), chooser.form), ("labels", None));
    assert_eq!(rows.len(), best_texts().len());
    assert!(
        rows.iter().all(|row| row.free == Correctness { valid: true, legal: true, best: true } && row.forced.is_none())
    );
    assert!(rows.iter().enumerate().all(|(record, row)| row.record == record as u64));
    for metric in ["valid", "legal", "best"] {
        assert_eq!(outcome.metrics[metric], 1.0);
    }
}

#[test]
fn illegal_answers_are_valid_and_never_legal() {
    let bench = Bench::new();
    bench.choices((0..best_texts().len() as u64).map(|record| row(record, "a1h8")));
    let outcome = bench.run_with(2, &[named("x")]).unwrap();
    assert_eq!(["valid", "legal", "best"].map(|metric| outcome.metrics[metric]), [1.0, 0.0, 0.0]);
    bench.choices((0..best_texts().len() as u64).map(|record| row(record, "I resign")));
    let outcome = bench.run_with(2, &[named("x")]).unwrap();
    assert_eq!(["valid", "legal", "best"].map(|metric| outcome.metrics[metric]), [0.0, 0.0, 0.0]);
}

/// The choices of our own models, read as those of another program, have the same correctness.
#[test]
fn what_was_chosen_here_is_read_as_of_another_program() {
    let bench = Bench::new();
    for form in [Form::Moves, Form::Prompt] {
        bench.model(form);
        let outcome = bench.run();
        let (_, ours) = rows(&outcome);
        std::fs::copy(&outcome.outputs["choices"], bench.path("choices")).unwrap();
        std::fs::remove_dir_all(bench.path("checkpoint")).unwrap();
        let (_, theirs) = rows(&bench.run_with(2, &[named("again")]).unwrap());
        let expected: Vec<Choice> =
            ours.into_iter().map(|row| Choice { mask_best: None, mask_loss: None, ..row }).collect();
        if form == Form::Moves {
            assert_eq!(theirs, expected);
        } else {
            // Another program's text may be in either notation.
            let is_near =
                |(a, b): (&Choice, &Choice)| (a.text == b.text) & (a.loss == b.loss) & (a.free.legal >= b.free.legal);
            assert!(theirs.iter().zip(&expected).all(is_near));
        }
        std::fs::remove_file(bench.path("choices")).unwrap();
    }
}

#[test]
fn rows_too_few_too_many_or_doubled_are_errors() {
    let bench = Bench::new();
    let all: Vec<Choice> = (0..).zip(best_texts()).map(|(record, text)| row(record, text)).collect();
    let message = |rows: Vec<Choice>| {
        bench.choices(rows);
        bench.failure(&[named("x")]).message
    };
    let count = all.len();
    assert_eq!(
        message(all[..count - 2].to_vec()),
        format!("the choices lack 2 of {count} positions: the first is record {}", count - 2)
    );
    let mut more = all.clone();
    more.push(row(4_000, "e2e4"));
    assert_eq!(
        message(more),
        format!("row {count} of the choices is of record 4000, which the evaluations do not have")
    );
    let mut doubled = all.clone();
    doubled.push(row(1, "e2e4"));
    assert_eq!(message(doubled), format!("row {count} of the choices is of record 1, of which there was a row before"));
    // Positions beyond the limit need no row, and may have one.
    bench.choices(all[..2].to_vec());
    assert_eq!(rows(&bench.run_with(1, &[named("x"), ("limit", Value::Int(2))]).unwrap()).1.len(), 2);
    bench.choices(all);
    assert_eq!(rows(&bench.run_with(1, &[named("x"), ("limit", Value::Int(2))]).unwrap()).1.len(), 2);
}

#[test]
fn losses_and_records_that_cannot_be_are_errors_with_their_row() {
    let bench = Bench::new();
    let all: Vec<Choice> = (0..).zip(best_texts()).map(|(record, text)| row(record, text)).collect();
    for (loss, shown) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (-0.5, "-0.5")] {
        let mut rows = all.clone();
        rows[2].loss = Some(loss);
        bench.choices(rows);
        let message = bench.failure(&[named("x")]).message;
        assert_eq!(message, format!("row 2 of the choices has the `loss` {shown}, which is no number from 0"));
    }
    let columns: [(&str, ArrayRef); 2] =
        [("record", Arc::new(Int64Array::from(vec![0, -1]))), ("text", Arc::new(StringArray::from(vec!["e2e4"; 2])))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = std::fs::File::create(bench.path("choices")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let message = bench.failure(&[named("x")]).message;
    assert_eq!(message, "row 1 of the choices has the `record` -1, which is no whole number from 0");
}

#[test]
fn other_files_are_errors_in_words() {
    let bench = Bench::new();
    std::fs::write(bench.path("choices"), "text").unwrap();
    assert!(bench.failure(&[named("x")]).message.contains("are no readable Parquet file"));
    std::fs::copy(bench.path("evaluations"), bench.path("choices")).unwrap();
    let message = bench.failure(&[named("x")]).message;
    assert_eq!(message, "the choices have no column `text`; they have `record`, `game`, `id`, `t`, `fen`, `lines`");
}
