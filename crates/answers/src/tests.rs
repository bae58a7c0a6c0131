use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int64Array, LargeStringArray, NullArray, RecordBatch, StringArray,
};
use cwm_table::Row;
use parquet::arrow::ArrowWriter;
use proptest::prelude::*;
use tempfile::tempdir;

use super::*;

fn run() -> PlayerSettings {
    PlayerSettings {
        name: "oracle".into(),
        player: Some("oracle".into()),
        max_tokens: Some(8_192),
        ..PlayerSettings::default()
    }
}

fn text() -> impl Strategy<Value = Option<String>> {
    proptest::option::of("\\PC{0,9}")
}

fn answer() -> impl Strategy<Value = Answer> {
    let texts = ("[a-z_0-9]{1,9}", text(), text(), text(), text());
    let numbers = (any::<[Option<u64>; 6]>(), proptest::option::of(0.0..9.0f64), any::<Option<[u8; 16]>>());
    (texts, numbers).prop_map(|((task_id, response, reasoning, finish, fault), (counts, cost, request))| {
        let [prompt_tokens, completion_tokens, reasoning_tokens, total_tokens, attempts, sample] = counts;
        Answer {
            task_id,
            sample,
            request,
            response,
            reasoning,
            finish,
            prompt_tokens,
            completion_tokens,
            reasoning_tokens,
            total_tokens,
            cost,
            attempts,
            fault,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn what_was_written_is_read_and_equal_rows_are_equal_bytes(rows in proptest::collection::vec(answer(), 0..20)) {
        let folder = tempdir().unwrap();
        let paths = ["a", "b"].map(|name| folder.path().join(name));
        for path in &paths {
            let mut writer = AnswersWriter::create(path, &run()).unwrap();
            rows.iter().for_each(|row| writer.push(row.clone()).unwrap());
            writer.finish().unwrap();
        }
        let answers = AnswersReader::open(&paths[0]).unwrap();
        prop_assert_eq!(answers.run(), Some(&run()));
        prop_assert_eq!(answers.collect::<Result<Vec<_>, _>>().unwrap(), rows);
        prop_assert_eq!(std::fs::read(&paths[0]).unwrap(), std::fs::read(&paths[1]).unwrap());
    }
}

/// Texts of 160 MiB are more than one batch.
#[test]
fn long_texts_are_read_as_written() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("file");
    let text = "FINAL ANSWER: a\n".repeat(1 << 21);
    let row =
        |number: usize| Answer { task_id: format!("x_{number}"), response: Some(text.clone()), ..Answer::default() };
    let mut writer = AnswersWriter::create(&path, &run()).unwrap();
    (0..5).for_each(|number| writer.push(row(number)).unwrap());
    writer.finish().unwrap();
    for (number, answer) in AnswersReader::open(&path).unwrap().enumerate() {
        assert!(answer.unwrap() == row(number), "row {number}");
    }
}

/// A file of another program.
fn foreign(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let columns = columns.into_iter().map(|(name, values)| (name, values, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn ids(ids: &[Option<&str>]) -> ArrayRef {
    Arc::new(ids.iter().collect::<LargeStringArray>())
}

#[test]
fn any_program_may_write_answers() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("file");
    let tokens = Float64Array::from(vec![Some(12.0), Some(f64::NAN)]);
    foreign(
        &path,
        vec![
            ("response", Arc::new(StringArray::from(vec![Some("FINAL ANSWER: a"), None]))),
            ("more", Arc::new(Int64Array::from(vec![1, 2]))),
            ("task_id", ids(&[Some("x_0000"), Some("x_0001")])),
            ("completion_tokens", Arc::new(tokens)),
            ("cost", Arc::new(NullArray::new(2))),
        ],
    );
    let answers = AnswersReader::open(&path).unwrap();
    assert_eq!(answers.run(), None);
    let read: Vec<Answer> = answers.collect::<Result<_, _>>().unwrap();
    let first = Answer {
        task_id: "x_0000".into(),
        response: Some("FINAL ANSWER: a".into()),
        completion_tokens: Some(12),
        ..Answer::default()
    };
    assert_eq!(read, [first, Answer { task_id: "x_0001".into(), ..Answer::default() }]);
    assert!(read[0].is_asked());
    let categories: DictionaryArray<Int32Type> = [Some("a"), None].into_iter().collect();
    foreign(&path, vec![("task_id", ids(&[Some("x_0000"), Some("x_0001")])), ("response", Arc::new(categories))]);
    let read: Vec<Answer> = AnswersReader::open(&path).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(read.into_iter().map(|row| row.response).collect::<Vec<_>>(), [Some("a".to_owned()), None]);
}

#[test]
fn other_files_are_errors_in_words() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("file");
    let message = |columns: Vec<(&str, ArrayRef)>| {
        foreign(&path, columns);
        let rows = AnswersReader::open(&path).and_then(|answers| answers.collect::<Result<Vec<_>, _>>());
        rows.unwrap_err().message
    };
    let numbers = || -> ArrayRef { Arc::new(Int64Array::from(vec![1, -2])) };
    let two = || ids(&[Some("a"), Some("b")]);
    for (columns, words) in [
        (vec![("task_id", two())], "have no column `response`, only `task_id`"),
        (vec![("task_id", two()), ("response", numbers())], "have a column `response` of Int64, not of text"),
        (vec![("task_id", ids(&[Some("a"), None])), ("response", two())], "have no `task_id` in row 1"),
        (
            vec![("task_id", two()), ("response", two()), ("total_tokens", numbers())],
            "have the `total_tokens` -2 in row 1, which cannot be",
        ),
    ] {
        let message = message(columns);
        assert!(message.contains(words), "{message}");
    }
    std::fs::write(&path, "text").unwrap();
    assert!(AnswersReader::open(&path).err().unwrap().message.contains("are no readable Parquet file"));
}

#[test]
fn a_full_name_has_what_differs_from_the_usual() {
    let usual = PlayerSettings { context: Some("none".into()), examples: Some(1), given: Some("fen".into()), ..run() };
    assert_eq!(usual.full_name(), "oracle");
    let other =
        PlayerSettings { context: Some("pieces".into()), examples: Some(2), reasoning: Some("medium".into()), ..usual };
    assert_eq!(other.full_name(), "oracle[context=pieces,examples=2,reasoning=medium]");
}

#[test]
fn tallies_are_a_folder_that_is_read_as_written() {
    let folder = tempdir().unwrap();
    let graded = GradesDescription {
        runs: [("oracle".to_owned(), run())].into(),
        resamples: 1_000,
        ..GradesDescription::default()
    };
    let row = |task: Option<&str>| Tally {
        run: "oracle".into(),
        task: task.map(Into::into),
        cost: Some(0.5),
        ..Tally::default()
    };
    let tallies = Tallies {
        graded,
        overall: vec![row(None)],
        categories: vec![],
        tasks: vec![row(Some("motifs_pin")), row(Some("motifs_fork"))],
        pairs: vec![PairTally { other: "b".into(), difference: -0.5, ..PairTally::default() }],
        items: vec![ItemCount { chance: 0.2, items: 7, ..ItemCount::default() }],
        measures: vec![Measure { measure: "legal".into(), n: 7, value: 0.5, low: Some(0.25), ..Measure::default() }],
    };
    tallies.write(folder.path()).unwrap();
    assert_eq!(Tallies::read(folder.path()).unwrap(), tallies);
    std::fs::remove_file(folder.path().join("pairs.parquet")).unwrap();
    assert!(Tallies::read(folder.path()).is_err());
    assert_eq!(Tally::schema().field(5).name(), "accuracy");
}
